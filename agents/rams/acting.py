"""One action a View: the entry point from Python."""

from __future__ import annotations

from agents.rams import jit
from agents.rams.bidding import declare, exchange
from agents.rams.tricks import play
from bestia_env.rams.codes import DECLARE, EXCHANGE, PLAY, SECOND_CHANCE


@jit
def choose(v, g, t):
    """The action of the seat that looks, -1 if none is legal."""
    if v.phase == PLAY:
        return play(v, g, t)
    if v.phase == EXCHANGE:
        return exchange(v, g)
    if v.phase == DECLARE or v.phase == SECOND_CHANCE:
        return declare(v, g, t)
    return -1


@jit
def act(V, G, T, out):
    """Writes one action a View; returns the first row whose View offers none, or -1."""
    for row in range(len(V)):
        action = choose(V[row], G[0], T[0])
        if action < 0 or V[row].legal[action] == 0:
            return row
        out[row] = action
    return -1
