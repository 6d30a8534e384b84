"""Rules and session as the record the compiled engine reads, and the action layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import RulesError
from bestia_env.family import ActionLayout
from bestia_env.rams.rules import CHOICES, RamsRules
from bestia_env.rams.state import MAX_ACTIONS, PARAMETERS, TABLE_SIZE, Verb
from bestia_env.rams.typical import typical_table
from bestia_env.session import MAX_CHIPS, SessionConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["action_layout", "parameters", "verbs_of"]

_PLAIN = (
    "num_players hand_size ante stay_stake extra_hand max_circuits conditional_third late_join second_chance "
    "exchange_max last_player_wins principal_leads must_head lead_top_trump_every_trick lead_trump_after_first "
    "best_principal_half_ante rake_bp divisor max_log pot_growth"
).split()


def verbs_of(rules: RamsRules) -> tuple[Verb, ...]:
    """The verbs a game needs, in the order of their actions (rules: rams 2.1)."""
    needed = {
        Verb.PASS: True,
        Verb.KNOCK: rules.bidding == "circuits" or not rules.exchanges_while_declaring,
        Verb.DRAW: rules.second_chance,
        Verb.BUCO: rules.extra_hand,
        Verb.THIRD: rules.conditional_third,
    }
    return tuple(verb for verb, wanted in needed.items() if wanted)


def action_layout(rules: RamsRules) -> ActionLayout:
    """Verbs, exchange subsets (over six cards where the dealer picks up the turn-up), cards."""
    exchange_hand = rules.hand_size + (rules.turn_up_owner == "dealer_swap") if rules.exchange_max else 0
    return ActionLayout(
        verbs=tuple(verb.name.lower() for verb in verbs_of(rules)), exchange_hand=exchange_hand, pack=rules.cards
    )


def parameters(rules: RamsRules, session: SessionConfig) -> NDArray[Any]:
    """The one-element parameter array of a game.

    Raises:
        RulesError: the session does not fit the rules.
    """
    record = np.zeros(1, PARAMETERS)
    for name in _PLAIN:
        record[name] = getattr(rules, name) or 0
    for name, words in CHOICES.items():
        record[name] = words.index(getattr(rules, name))
    if rules.bidding != "circuits":
        record["max_circuits"] = 0  # turns are counted in an int8
    pack = rules.cards
    record["num_cards"], record["num_ranks"] = pack.num_cards, pack.num_ranks
    record["suit_of"][0, : pack.num_cards] = np.arange(pack.num_cards) // pack.num_ranks
    record["suit_cards"][0, : len(pack.suits)] = [
        ((1 << pack.num_ranks) - 1) << s * pack.num_ranks for s in range(len(pack.suits))
    ]
    record["penalty_cap"] = -1 if rules.penalty_cap is None else rules.penalty_cap
    record["quota_principal"], record["quota_others"] = rules.quota
    for name, part in zip(("empty", "short"), rules.principal_penalty, strict=True):
        record[f"{name}_top"], record[f"{name}_bottom"] = part.numerator, part.denominator
    layout = action_layout(rules)
    assert layout.num_actions <= MAX_ACTIONS
    record["first_exchange"], record["first_card"] = layout.first_exchange, layout.first_card
    record["num_actions"] = layout.num_actions
    record["verb_action"] = -1
    for action, verb in enumerate(verbs_of(rules)):
        record["verb_action"][0, verb], record["action_verb"][0, action] = action, verb
    _put_session(record, rules, session)
    return record


def _put_session(record: NDArray[Any], rules: RamsRules, session: SessionConfig) -> None:
    n = rules.num_players
    record["num_deals"], record["play_on"] = session.num_deals, session.play_on
    if session.dealer is not None and session.dealer >= n:
        raise RulesError(f"session dealer={session.dealer}; allowed are seats 0 to {n - 1}")
    record["dealer"] = -1 if session.dealer is None else session.dealer
    record["credits"][0, :n] = _credits(rules, session)
    record["carry_step"] = record["carry_count"] = 1
    if session.carry == "typical" or session.forced == "typical":
        carries, forced = typical_table(rules)
        record["table_carry"], record["table_forced"] = carries, forced
        assert len(carries) == TABLE_SIZE
    most = _most_carry(record, session)
    antes = n if rules.ante_payer == "all" else 1
    if rules.pot_growth * (most + antes * rules.ante + n * rules.stay_stake) > MAX_CHIPS:
        raise RulesError(f"session carry={session.carry!r}; a pot of {most} chips could outgrow 2^53 in one deal")
    if session.forced is True and rules.forced_deal != "after_no_bestia":
        raise RulesError(f"session forced=True; rules with forced_deal={rules.forced_deal} have no forced first deal")
    record["forced_typical"] = session.forced == "typical"
    record["forced_first"] = session.forced is True


def _most_carry(record: NDArray[Any], session: SessionConfig) -> int:
    if isinstance(session.carry, str):
        record["carry_typical"] = 1
        return int(record["table_carry"].max())
    carry = session.carry if isinstance(session.carry, range) else range(session.carry, session.carry + 1)
    record["carry_low"], record["carry_step"], record["carry_count"] = carry.start, carry.step, len(carry)
    return max(carry[0], carry[-1])


def _credits(rules: RamsRules, session: SessionConfig) -> list[int]:
    n = rules.num_players
    given = session.credits
    if given is None:
        given = 20 * rules.ante if rules.stakes == "table" else 0
    credits = [given] * n if isinstance(given, int) else list(given)
    if len(credits) != n or (rules.stakes == "table" and min(credits) <= 0):
        raise RulesError(f"session credits={given!r}; allowed are {n} numbers of chips, above 0 with table stakes")
    return credits
