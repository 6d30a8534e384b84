"""Random rules of the Rams group, kept to the combinations that section 2.6 and 2.4 allow, and random play."""

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .rams_cards import cards_of_pack
from .rams_deal import ReferenceDeal
from .rams_money import divisor
from .rams_presets import PACKS
from .rams_table import DealSetup

CHOICES: dict[str, list[Any]] = {
    "ante_payer": ["dealer", "all"],
    "turn_up": ["before_deal", "mid_deal", "after_deal"],
    "turn_up_owner": ["nobody", "dealer", "dealer_swap"],
    "extra_hand": [False, True],
    "bidding": ["round", "circuits"],
    "max_circuits": [None, 1, 2, 6],
    "conditional_third": [False, True],
    "late_join": [False, True],
    "forced_deal": ["never", "after_no_bestia", "bare_ante"],
    "second_chance": [False, True],
    "exchange_when": ["declaring", "after"],
    "recycle": ["none", "folded", "folded_then_discards"],
    "last_player_wins": [False, True],
    "principal": ["none", "first_in", "knocker"],
    "principal_leads": [False, True],
    "must_head": [False, True],
    "ruff": ["any_trump", "overtrump_else_any_trump", "overtrump_else_any_card", "highest_trump"],
    "lead_top_trump": ["none", "ace", "ace_or_exposed_next", "highest_remaining"],
    "lead_top_trump_every_trick": [False, True],
    "lead_trump_after_first": [False, True],
    "quota": [(1, 1), (2, 1), (2, 2), (1, 2)],
    "principal_penalty": [(Fraction(a), Fraction(b)) for a in (1, 2, Fraction(3, 2)) for b in (1, Fraction(1, 2))],
    "pot_award": ["per_trick", "quota_split", "most_tricks"],
    "best_principal_half_ante": [False, True],
    "stakes": ["unlimited", "table"],
    "remainder": ["carry", "first_trick_winner"],
    "rake_bp": [0, 0, 500, 1000],
}


def rejected(rules: Mapping[str, Any]) -> str:
    """Why these values do not go together (rules: rams 2.4 and 2.6); empty where they do."""
    hand_size, cap = rules["hand_size"], rules["penalty_cap"]
    exchanges, when = rules["exchange_max"] > 0, rules["exchange_when"]
    forced, circuits = rules["forced_deal"] != "never", rules["bidding"] == "circuits"
    needed = rules["num_players"] * hand_size + (rules["turn_up_owner"] != "dealer")
    needed += hand_size if rules["extra_hand"] else 0
    no_circuits_with = rules["extra_hand"] or rules["second_chance"] or rules["turn_up_owner"] == "dealer_swap"
    table = rules["stakes"] == "table"
    d = 2 * hand_size if rules["best_principal_half_ante"] else divisor(rules)
    antes = rules["ante"] * (rules["num_players"] if rules["ante_payer"] == "all" else 1)
    three_halves = rules["principal"] != "none" and Fraction(3, 2) in rules["principal_penalty"]
    reasons = {
        "the pack is too small": needed > len(cards_of_pack(rules)),
        "forced deals with circuits": forced and circuits,
        "forced deals with exchanges while declaring": forced and when == "declaring",
        "thirds or a knocker without circuits": not circuits
        and (rules["conditional_third"] or rules["principal"] == "knocker"),
        "circuits without max_circuits": circuits and rules["max_circuits"] is None,
        "circuits with a thing of the round": circuits and (no_circuits_with or (exchanges and when == "after")),
        "late_join": rules["late_join"] and (rules["second_chance"] or rules["last_player_wins"]),
        "turn_up_owner dealer with second_chance": rules["turn_up_owner"] == "dealer" and rules["second_chance"],
        "last_player_wins with second_chance": rules["last_player_wins"] and rules["second_chance"],
        "extra_hand with exchange": rules["extra_hand"] and exchanges,
        "exchange_max 0": not exchanges and (rules["turn_up_owner"] == "dealer_swap" or when == "declaring"),
        "table stakes": table and (rules["stay_stake"] > 0 or max(rules["principal_penalty"]) > 1),
        "antes": not table and (rules["ante"] if rules["best_principal_half_ante"] else antes) % d != 0,
        "stay_stake": not table and rules["stay_stake"] % d != 0,
        "penalty_cap": not table and cap is not None and cap % d != 0,
        "penalty_cap at three halves": cap is not None and three_halves and cap % (2 * hand_size) != 0,
    }
    return "; ".join(reason for reason, applies in reasons.items() if applies)


def random_rules(rng: random.Random) -> dict[str, Any]:
    """Any combination of values that is not rejected."""
    while True:
        rules = {field: rng.choice(values) for field, values in CHOICES.items()}
        rules["num_players"] = rng.randint(2, 10)
        rules["hand_size"] = rng.randint(2, 5)
        rules["pack"] = rng.choice(list(PACKS.values()))
        rules["exchange_max"] = rng.choice([0, rng.randint(1, rules["hand_size"])])
        unit = math.lcm(divisor(rules), 2 * rules["hand_size"])
        rules["ante"] = unit * rng.randint(1, 3)
        rules["stay_stake"] = unit * rng.choice([0, 0, 1])
        rules["penalty_cap"] = rng.choice([None, unit, 5 * unit])
        if not rejected(rules):
            return rules


def random_setup(rules: Mapping[str, Any], rng: random.Random) -> DealSetup:
    """A random start of a deal."""
    seats = rules["num_players"]
    order = sorted(cards_of_pack(rules))
    rng.shuffle(order)

    def reshuffle(cards: set[str], number: int) -> list[str]:
        return random.Random(f"{number} {order}").sample(sorted(cards), len(cards))

    dealer = rng.randrange(seats)
    return DealSetup(
        rules=rules,
        dealer=dealer,
        carry=rng.choice([0, rng.randint(0, 400)]),
        order=order,
        forced=rules["forced_deal"] != "never" and rng.random() < 0.3,
        half_ante=rng.choice([None, rng.randrange(seats)]),
        credits=[rng.randint(1, 1000) for _ in range(seats)],
        entitled=[seat == dealer or rng.random() < 0.9 for seat in range(seats)],
        reshuffle=reshuffle,
    )


def random_action(deal: ReferenceDeal, rng: random.Random) -> str:
    """One of the legal actions, the verbs of a declaration equally likely."""
    legal = sorted(deal.legal())
    verb = rng.choice(sorted({text.split()[0] for text in legal}))
    return rng.choice([text for text in legal if text.split()[0] == verb])


def play_randomly(
    setup: DealSetup, rng: random.Random, after_each_step: Callable[[ReferenceDeal], None] | None = None
) -> ReferenceDeal:
    """Play a deal to its end with random actions."""
    deal = ReferenceDeal(setup)
    while True:
        if after_each_step is not None:
            after_each_step(deal)
        if deal.over:
            return deal
        deal.apply(random_action(deal, rng))
