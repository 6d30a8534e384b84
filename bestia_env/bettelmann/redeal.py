"""States that a View allows: everything on the table stays, the cards not in the pile are dealt anew (design 6).

All arrangements of the unseen cards over the stacks are equally likely; what earlier piles showed is not used. Whether
a game goes in circles is sought anew, from the View on: the positions before it are not in it.
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import EMPTY, Mask, bit
from bestia_env._jit import jit_for
from bestia_env.bettelmann.engine import clear_table, mix_pile
from bestia_env.bettelmann.state import LAY, Parameters, State, View

jit = jit_for("bettelmann")


@jit
def redeal(v: View, p: Parameters, key: Mask, s: State) -> None:
    """Fills ``s`` with a state in which seat 0 has exactly the View ``v``; ``key`` decides the cards."""
    s.deal = 0
    _deal_unseen(v, p, key, s)
    clear_table(s, p)
    s.phase = v.phase
    s.over = v.phase != LAY
    s.actor = v.actor
    s.turn = max(v.actor, 0)
    s.owner = v.owner
    s.due = v.due
    s.cards = v.cards
    s.piles = v.piles
    s.pile_length = v.pile_length
    for place in range(v.pile_length):
        s.pile[place] = v.pile[place]
    for seat in range(p.num_players):
        s.out[seat] = v.out[seat]
        s.num_in -= v.out[seat]


@jit
def _deal_unseen(v: View, p: Parameters, key: Mask, s: State) -> None:
    seen = EMPTY
    for place in range(v.pile_length):
        seen |= bit(v.pile[place])
    unseen = np.int64(0)
    for card in range(p.num_cards):
        if seen & bit(card) == EMPTY:
            s.pile[unseen] = card
            unseen += 1
    mix_pile(s, unseen, key)
    for seat in range(len(s.held)):
        s.held[seat] = 0
    for seat in range(p.num_players):
        for place in range(v.held[seat]):
            unseen -= 1
            s.stack[seat, place] = s.pile[unseen]
        s.held[seat] = v.held[seat]
