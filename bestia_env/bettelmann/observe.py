"""What one seat may know: the only door through which information leaves the state (design 6)."""

from __future__ import annotations

from bestia_env._bits import Int
from bestia_env._jit import jit_for
from bestia_env.bettelmann.state import NOBODY, Parameters, State, View

jit = jit_for("bettelmann")


@jit
def _relative(seat: Int, viewer: Int, num_players: Int) -> Int:
    """A seat as the viewer counts: 0 is the viewer, 1 the next seat; nobody stays nobody."""
    if seat < 0:
        return NOBODY
    return (seat - viewer + num_players) % num_players


@jit
def observe(s: State, p: Parameters, seat: Int, v: View) -> None:
    """Fills the View ``v`` with what ``seat`` knows: sizes of stacks and the pile, never what is in a stack."""
    n = p.num_players
    v.num_players = n
    v.phase = s.phase
    v.actor = _relative(s.actor, seat, n)
    v.owner = _relative(s.owner, seat, n)
    v.due = s.due
    v.cards = s.cards
    v.piles = s.piles
    v.pile_length = s.pile_length
    for other in range(n):
        place = _relative(other, seat, n)
        v.held[place] = s.held[other]
        v.out[place] = s.out[other]
    for place in range(len(v.pile)):
        v.pile[place] = s.pile[place] if place < s.pile_length else NOBODY
    v.legal[0] = s.actor == seat
