"""What the compiled rules of thumb must know of a game, as one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.cards import MAX_CARDS, SUITS
from bestia_env.family import record_dtype
from bestia_env.rams.state import Verb
from bestia_env.registry import family_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.rams.rules import RamsRules

__all__ = ["GAME", "game_record"]

GAME = record_dtype(
    [
        *(
            (name, "i8")
            for name in (
                "num_players num_ranks first_exchange first_card circuits second_chance late_join "
                "opener_is_principal knocker_is_principal quota_principal quota_others stay_stake"
            ).split()
        ),
        ("verb", "i8", len(Verb)),  # the action of a verb, -1: the game has it not
        ("suit_of", "i8", MAX_CARDS),  # the suit of a card
        ("suit_cards", "u8", len(SUITS)),  # the cards of a suit
    ]
)


def game_record(rules: RamsRules) -> NDArray[Any]:
    """The one-element record array of a game."""
    record = np.zeros(1, GAME)
    for name in ("num_players", "second_chance", "late_join", "stay_stake"):
        record[name] = getattr(rules, name)
    layout, pack = family_of(rules).layout(rules), rules.cards
    record["first_exchange"], record["first_card"] = layout.first_exchange, layout.first_card
    record["num_ranks"] = pack.num_ranks
    record["circuits"] = rules.bidding == "circuits"
    record["opener_is_principal"] = rules.principal == "first_in"
    record["knocker_is_principal"] = rules.principal == "knocker"
    record["quota_principal"], record["quota_others"] = rules.quota
    record["verb"] = -1
    for action, name in enumerate(layout.verbs):
        record["verb"][0, Verb[name.upper()]] = action
    record["suit_of"][0, : pack.num_cards] = np.arange(pack.num_cards) // pack.num_ranks
    suit = (1 << pack.num_ranks) - 1
    record["suit_cards"][0, : len(pack.suits)] = [suit << place * pack.num_ranks for place in range(len(pack.suits))]
    return record
