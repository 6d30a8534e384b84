"""Every value and combination of rules, packs and sessions that is refused, each with field, value and reason."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bestia_env.batch import GameBatch
from bestia_env.cards import PACKS, Pack, pack_named
from bestia_env.errors import BestiaError, RulesError
from bestia_env.rams.rules import CHOICES, RamsRules
from bestia_env.registry import make_rules
from bestia_env.session import SessionConfig
from tests.rams_play import ALL, VALUES
from tests.reference.rams_random import rejected

# --- what is refused ------------------------------------------------------------------------------------------------

NONSENSE: list[Any] = [
    None,
    True,
    1.0,
    3.0,
    -1,
    2**70,
    "x",
    "",
    (),
    (1,),
    (1, 1, 1),
    (None, 1),
    b"none",
    Fraction(1, 3),
]


@pytest.mark.parametrize("field", sorted(set(RamsRules.__dataclass_fields__) - {"variant"}))
def test_every_field_refuses_values_of_the_wrong_kind(field: str) -> None:
    """Each nonsense value is refused by name and value, unless it is an honest value of that very field."""
    honest: dict[str, list[Any]] = {
        "max_circuits": [None],
        "penalty_cap": [None],
    } | {name: [True] for name, spec in RamsRules.__dataclass_fields__.items() if spec.type == "bool"}
    for value in NONSENSE:
        if any(value is good for good in honest.get(field, [])):
            continue
        with pytest.raises(RulesError, match=rf"{field}.*{re.escape(repr(value))}.*(allowed|allows)"):
            RamsRules(**{field: value})


@pytest.mark.parametrize(
    "pair", [(True, 1), (1, False), (1.0, 1), ("1", 1), (1, None), (-1, 1), (11, 1), (1, Fraction(1, 101))]
)
def test_a_penalty_is_a_pair_of_fractions(pair: Any) -> None:
    with pytest.raises(RulesError, match=r"principal_penalty=.*; allowed is a pair of fractions"):
        make_rules("mauscheln", principal_penalty=pair)


@pytest.mark.parametrize("pair", [(True, 1), (0, 1), (1, 5), (1.0, 1), ("1", 1), (1, None), 1])
def test_a_quota_is_a_pair_of_tricks(pair: Any) -> None:
    with pytest.raises(RulesError, match=r"quota=.*; allowed is a pair"):
        make_rules("mauscheln", quota=pair)


CIRCUITS = {"bidding": "circuits", "max_circuits": 2, "second_chance": False}
DECLARING = {"exchange_max": 2, "exchange_when": "declaring"}
# Changes of three-card bestia that rules: rams 2.6 rejects, and the fields that the message must name.
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    (CIRCUITS | {"forced_deal": "after_no_bestia"}, "forced_deal bidding"),
    (CIRCUITS | {"forced_deal": "bare_ante"}, "forced_deal bidding"),
    (DECLARING | {"forced_deal": "after_no_bestia"}, "forced_deal exchange_when"),
    (DECLARING | {"forced_deal": "bare_ante"}, "forced_deal exchange_when"),
    ({"conditional_third": True}, "conditional_third bidding"),
    ({"principal": "knocker"}, "principal bidding"),
    (CIRCUITS | {"max_circuits": None}, "bidding max_circuits"),
    (CIRCUITS | {"extra_hand": True}, "bidding extra_hand"),
    (CIRCUITS | {"second_chance": True}, "bidding second_chance"),
    (CIRCUITS | {"exchange_max": 2}, "bidding exchange_when"),
    (CIRCUITS | DECLARING | {"turn_up_owner": "dealer_swap"}, "bidding turn_up_owner"),
    ({"late_join": True}, "late_join second_chance"),
    ({"late_join": True, "second_chance": False, "last_player_wins": True}, "late_join last_player_wins"),
    ({"turn_up_owner": "dealer"}, "turn_up_owner second_chance"),
    ({"last_player_wins": True}, "last_player_wins second_chance"),
    ({"extra_hand": True, "exchange_max": 1}, "extra_hand exchange"),
    ({"exchange_max": 0, "turn_up_owner": "dealer_swap", "second_chance": False}, "exchange_max turn_up_owner"),
    ({"exchange_max": 0, "exchange_when": "declaring"}, "exchange_max exchange_when"),
    ({"stakes": "table", "stay_stake": 3}, "stakes stay_stake"),
    (
        {"stakes": "table", "principal": "first_in", "principal_penalty": (Fraction(3, 2), 1)},
        "stakes principal_penalty",
    ),
    ({"stakes": "table", "principal": "first_in", "principal_penalty": (1, 2)}, "stakes principal_penalty"),
    (
        {"principal": "first_in", "principal_penalty": (Fraction(3, 2), 1), "penalty_cap": 3},
        "penalty_cap principal_penalty",
    ),
    ({"late_join": True, **CIRCUITS}, "late_join bidding"),
    ({"principal": "first_in", **CIRCUITS}, "principal bidding"),
    ({"principal_leads": True}, "principal principal_leads"),
    ({"best_principal_half_ante": True, "ante": 6}, "principal best_principal_half_ante"),
]


@pytest.mark.parametrize(("changes", "named"), CONTRADICTIONS, ids=str)
def test_contradictions_are_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(RulesError) as refused:
        make_rules("bestia", **changes)
    assert all(field in str(refused.value) for field in named.split()), refused.value


INDIVISIBLE: list[tuple[str, int, dict[str, Any], str, int]] = [
    ("bestia", 3, {"ante": 4}, "ante=4", 3),
    ("bestia", 5, {"penalty_cap": 31}, "penalty_cap=31", 3),
    ("bestia_strict", 5, {"stay_stake": 1}, "stay_stake=1", 3),
    ("bestia_buco", 4, {"ante": 1}, "ante=1", 3),
    ("bestia_five", 4, {"ante": 1}, "ante=1", 5),
    ("bestia_five", 6, {"penalty_cap": 12}, "penalty_cap=12", 5),
    ("bestia_roman", 5, {"ante": 5}, "ante=5", 10),
    ("bestia_roman", 5, {"stay_stake": 5}, "stay_stake=5", 10),
    ("bestia_roman", 5, {"penalty_cap": 35}, "penalty_cap=35", 10),
    ("julepe", 4, {"ante": 3}, "ante=3", 2),
    ("julepe", 4, {"penalty_cap": 31}, "penalty_cap=31", 2),
    ("julepe", 4, {"ante": 4, "quota": (1, 1)}, "ante=4", 60),
    ("mauscheln", 4, {"penalty_cap": 30}, "penalty_cap=30", 4),
    ("mauscheln", 4, {"principal_penalty": (Fraction(3, 2), 1), "penalty_cap": 28}, "penalty_cap=28", 8),
    ("tippen", 3, {"ante": 2}, "ante=2", 3),
]


@pytest.mark.parametrize(("variant", "players", "changes", "value", "step"), INDIVISIBLE)
def test_indivisible_amounts_are_refused_with_the_divisor(
    variant: str, players: int, changes: dict[str, Any], value: str, step: int
) -> None:
    with pytest.raises(RulesError, match=rf"^{value}.*multiples of {step}\b"):
        make_rules(variant, players, **changes)
    field = value.split("=")[0]
    doubled = {name: number * step if name == field else number for name, number in changes.items()}
    assert getattr(make_rules(variant, players, **doubled), field) == changes[field] * step


@pytest.mark.parametrize(
    ("variant", "players", "changes"),
    [
        ("bestia_five", 5, {"ante": 1}),  # five antes of one divide by five tricks
        ("bestia_buco", 6, {"ante": 1}),
        ("bestia_five_majority", 4, {"ante": 1, "penalty_cap": 7}),  # nothing is divided
        ("online3", 4, {"ante": 7, "penalty_cap": 11}),  # table stakes: the rest goes to the first trick's winner
        ("mauscheln", 4, {"penalty_cap": 28}),
        ("mauscheln", 4, {"penalty_cap": 32}),
        ("bestia_roman", 5, {"penalty_cap": 30}),
        ("julepe", 4, {"penalty_cap": 30}),
        ("bestia", 10, {"ante": 0}),
        ("bestia", 5, {"principal_penalty": (Fraction(3, 2), 1), "penalty_cap": 3}),  # no principal ever pays it
    ],
)
def test_amounts_that_divide_are_allowed(variant: str, players: int, changes: dict[str, Any]) -> None:
    rules = make_rules(variant, players, **changes)
    assert {field: getattr(rules, field) for field in changes} == changes


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({"num_players": 8, "hand_size": 5, "second_chance": False}, 41),
        ({"num_players": 10, "extra_hand": True, "second_chance": False, "pack": "piquet32"}, 34),
        ({"num_players": 3, "pack": Pack(suits="cd", ranks=tuple("AKQJ"))}, 10),
    ],
)
def test_a_pack_too_small_is_refused(changes: dict[str, Any], needed: int) -> None:
    with pytest.raises(RulesError, match=rf"^pack=.*at least {needed} cards"):
        RamsRules(**({"ante": 15} | changes))


def test_too_many_declarations_are_refused() -> None:
    with pytest.raises(RulesError, match=r"^max_circuits=9; allowed is at most 64 declarations"):
        make_rules("bestia_roman", 6, max_circuits=9)
    assert make_rules("bestia_roman", 6, max_circuits=8).num_players == 6


@pytest.mark.parametrize(
    ("suits", "ranks"),
    [
        ("", ("A", "K")),
        ("cc", ("A", "K")),
        ("cx", ("A", "K")),
        ("cdhs", ("A",)),
        ("cdhs", ("A", "A")),
        ("cdhs", ("A", "")),
        ("cdhs", tuple("ABCDEFGHIJKLMN")),
        ("cdhs", ("A B", "K")),  # a card's text must be one word
        ("cdhs", ('A"', "K")),
        ("cdhs", (1, 2)),
        ("cdhs", 5),
        (5, ("A", "K")),
    ],
    ids=str,
)
def test_packs_that_are_none(suits: Any, ranks: Any) -> None:
    with pytest.raises(RulesError, match=r"pack: (suits|ranks|\d+ cards)"):
        Pack(suits=suits, ranks=ranks)


@pytest.mark.parametrize("pack", [*PACKS.values(), Pack(suits="hs", ranks=("10", "1", "J"))])
def test_card_texts_are_inverses(pack: Pack) -> None:
    assert [pack.card(pack.text(card)) for card in range(pack.num_cards)] == list(range(pack.num_cards))
    assert len({pack.text(card) for card in range(pack.num_cards)}) == pack.num_cards
    for text in ("", "A", "8x", "Zh", "h", "AhKh"):
        with pytest.raises(RulesError, match=re.escape(repr(text))):
            pack.card(text)


# --- the same list of rejections as the second implementation -------------------------------------------------------

# What RamsRules refuses beyond the list of the rule book: the sources leave it undefined, or a record has no room.
EXTRA: dict[str, Callable[[dict[str, Any]], bool]] = {
    "circuits have no second stage": lambda r: r["bidding"] == "circuits" and r["late_join"],
    "the first who goes in may leave again": lambda r: r["bidding"] == "circuits" and r["principal"] == "first_in",
    "duties without a principal": lambda r: (
        r["principal"] == "none" and (r["principal_leads"] or r["best_principal_half_ante"])
    ),
    "the log of declarations is full": lambda r: (
        r["bidding"] == "circuits" and r["num_players"] * ((r["max_circuits"] or 0) + 2) > 64
    ),
    "both divisors hold": lambda r: r["best_principal_half_ante"] and r["pot_award"] == "quota_split",
}


def test_the_second_implementation_rejects_the_same_rules() -> None:
    rng, outcomes = random.Random(3), Counter[str]()
    for _ in range(20_000):
        values = rng.choice(ALL).values()
        for field in rng.sample(sorted(set(VALUES) - {"pack", "quota", "principal_penalty"}), rng.randint(1, 4)):
            values[field] = changed_value(field, rng)
        hand_size = int(str(values["hand_size"]))
        values["exchange_max"] = min(int(str(values["exchange_max"])), hand_size)
        values["quota"] = rng.choice([(1, 1), (2, 1), (2, 2)])
        cards = pack_named(str(values["pack"]))
        reason = rejected(values | {"pack": (cards.suits, list(cards.ranks))})
        refusal = refusal_of(values)
        extra = [why for why, applies in EXTRA.items() if applies(values)]
        assert refusal if reason else not refusal or extra, f"{values}: reference {reason!r}, engine {refusal!r}"
        outcomes["accepted" if not refusal else "refused" if reason else extra[0]] += 1
    assert len(outcomes) == 2 + len(EXTRA), outcomes
    assert min(outcomes["accepted"], outcomes["refused"]) > 1000


def refusal_of(values: dict[str, Any]) -> str:
    """Why the rules are refused, or nothing."""
    try:
        RamsRules(variant="rams", **values)
    except RulesError as error:
        return str(error)
    return ""


def changed_value(field: str, rng: random.Random) -> Any:
    """A value of one field, now and then one that goes with nothing."""
    numbers = {
        "num_players": list(range(2, 11)),
        "hand_size": [2, 3, 4, 5],
        "ante": [0, 1, 3, 4, 5, 6, 10, 12, 60],
        "stay_stake": [0, 0, 1, 10, 60],
        "penalty_cap": [None, 10, 15, 24, 30, 60],
        "max_circuits": [None, 1, 6, 20],
        "exchange_max": [0, 1, 5],
        "rake_bp": [0, 500],
    }
    words = [True, False] if field not in numbers and field not in CHOICES else CHOICES.get(field, ())
    return rng.choice(numbers.get(field, list(words)))


# --- sessions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("num_deals", [0, -1, True, 1.0, "2", None, 2**31]),
        ("play_on", [1, 0, None, "yes"]),
        ("carry", [-1, True, 3.0, "6", "Typical", None, 2**53 + 1, range(0), range(-1, 3), range(2**53, 2**53 + 2)]),
        ("forced", [1, None, "always", "Typical"]),
        ("dealer", [-1, 10, True, 1.0, "0"]),
        ("credits", [1.5, "12", [1.5], [None], True, [True], 2**53 + 1, [2**60]]),
    ],
)
def test_sessions_refuse_bad_values_by_name(field: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(RulesError, match=rf"^session {field}=.*; allowed"):
            SessionConfig(**{field: value})


def test_a_carry_is_drawn_from_all_of_a_range_or_the_range_is_refused() -> None:
    """A range as long as 2^40 is either drawn from evenly or refused at once."""
    try:
        session = SessionConfig(carry=range(2**40))
    except RulesError:
        return
    carries = GameBatch("bestia", 256, seed=1, session=session).states["carry"]
    assert 2**38 < np.median(carries) < 2**40 - 2**38


@pytest.mark.parametrize(
    ("variant", "session", "reason"),
    [
        ("bestia", {"dealer": 5}, "session dealer=5; allowed are seats 0 to 4"),
        ("bestia", {"carry": 2**53}, "session carry=9007199254740992; a pot of"),
        ("bestia", {"forced": True}, "session forced=True; rules with forced_deal=never"),
        ("tippen", {"forced": True}, "session forced=True; rules with forced_deal=bare_ante"),
        ("bestia", {"credits": [1, 2, 3]}, "session credits=.*; allowed are 5 numbers"),
        ("online3", {"credits": 0}, "session credits=0; allowed are 5 numbers of chips, above 0"),
        ("online3", {"credits": [5, 5, 5, 5, -1]}, "session credits=.*above 0 with table stakes"),
    ],
)
def test_sessions_that_do_not_fit_the_rules(variant: str, session: dict[str, Any], reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        GameBatch(variant, 2, num_players=5 if variant != "tippen" else 4, seed=1, session=SessionConfig(**session))


def test_a_batch_refuses_what_is_no_session_or_no_rules() -> None:
    with pytest.raises(BestiaError, match="session"):
        GameBatch("bestia", session={"num_deals": 2})  # type: ignore[arg-type]  # on purpose
    with pytest.raises(BestiaError, match="num_players"):
        GameBatch(make_rules("bestia"), num_players=4)
    with pytest.raises(BestiaError, match="penalty_cap"):
        GameBatch(make_rules("bestia"), penalty_cap=30)
    with pytest.raises(RulesError, match="rules=None"):
        GameBatch(None)  # type: ignore[arg-type]  # on purpose
