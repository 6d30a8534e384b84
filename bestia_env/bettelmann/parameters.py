"""Rules as the record the compiled engine reads, and the action layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.bettelmann.rules import CHOICES, BettelmannRules
from bestia_env.bettelmann.state import NEVER, PARAMETERS
from bestia_env.errors import RulesError
from bestia_env.family import ActionLayout
from bestia_env.session import SessionConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["action_layout", "parameters"]

_LAYOUT = ActionLayout(verbs=("lay",))


def action_layout(rules: BettelmannRules) -> ActionLayout:
    """Laying the top card is the only action."""
    return _LAYOUT


def parameters(rules: BettelmannRules, session: SessionConfig) -> NDArray[Any]:
    """The one-element parameter array of a game.

    Raises:
        RulesError: the session asks for what the game has not: several deals, a pot, credits, a choice of dealer.
    """
    _check_session(rules, session)
    record = np.zeros(1, PARAMETERS)
    pack = rules.cards
    record["num_players"], record["num_cards"], record["num_ranks"] = rules.num_players, pack.num_cards, pack.num_ranks
    for name, words in CHOICES.items():
        record[name] = words.index(getattr(rules, name))
    record["limit"] = NEVER if rules.limit_cards is None else rules.limit_cards
    record["detect_cycle"], record["hard_cap"] = rules.detect_cycle, rules.hard_cap
    for rank, cards in rules.penalties:
        for suit in pack.suits:
            record["penalty"][0, pack.card(rank + suit)] = cards
    return record


def _check_session(rules: BettelmannRules, session: SessionConfig) -> None:
    """One deal is one game, without a pot; seat 0 begins, so the last seat deals (rules: bettelmann 3.3j).

    The typical carry of a game without a pot is none, so ``"typical"`` may stand.
    """
    dealer = rules.num_players - 1
    for field, allowed in {
        "num_deals": (1,),
        "play_on": (False,),
        "carry": (0, "typical"),
        "forced": (False, "typical"),
        "dealer": (None, dealer),
        "credits": (None, 0),
    }.items():
        if getattr(session, field) not in allowed:
            raise RulesError(
                f"session {field}={getattr(session, field)!r}; {rules.variant} allows {' or '.join(map(repr, allowed))}"
            )
