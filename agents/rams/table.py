"""What a seat sees of the others and of its own trumps before it goes in (docs/agents.md, "Words")."""

from __future__ import annotations

from agents.rams import jit
from agents.rams.tricks import trumps_of
from bestia_env._bits import EMPTY, count, highest
from bestia_env.rams.codes import DECLARE, IN, PASSED, UNSPOKEN
from bestia_env.rams.state import NOBODY

NO_TRUMP = 13  # its place: behind every rank


@jit
def offers(v, g, verb):
    """Whether the seat may say a verb now."""
    return g.verb[verb] >= 0 and v.legal[g.verb[verb]] != 0


# --- the others -----------------------------------------------------------------------------------------------------


@jit
def others_in(v, g):
    """How many other seats are in."""
    total = 0
    for seat in range(1, g.num_players):
        total += v.status[seat] == IN
    return total


@jit
def others_unspoken(v, g):
    """How many other seats have yet to say their first word."""
    total = 0
    for seat in range(1, g.num_players):
        total += v.status[seat] == UNSPOKEN
    return total


@jit
def others_to_come(v, g):
    """How many other seats are not in but may still go in by a declaration of their own."""
    total = 0
    for seat in range(1, g.num_players):
        if v.phase == DECLARE:
            asked_again = g.second_chance != 0 or g.late_join != 0
            total += v.status[seat] == UNSPOKEN or (v.status[seat] == PASSED and asked_again)
        else:
            total += v.status[seat] == PASSED and seat < v.turns_left
    return total


@jit
def costs_nothing(v, g):
    """Whether going in cannot lose: no penalty is possible, or nobody can be in besides."""
    if v.risk == 0 and g.stay_stake == 0:
        return True
    return g.circuits == 0 and others_in(v, g) == 0 and others_to_come(v, g) == 0


@jit
def relief(v, t):
    """The rivals that are not counted, because little can be lost: 1 or 0."""
    return 1 if t.light_risk != 0 and t.light_risk * v.risk <= v.pot else 0


@jit
def rivals(v, g, t):
    """Others in and half of those who have yet to speak, 3 at most: the row of a table of ranks."""
    expected = others_in(v, g) + others_unspoken(v, g) // 2 - relief(v, t)
    return min(max(expected, 0), 3)


# --- the hand -------------------------------------------------------------------------------------------------------


@jit
def spare_trumps(v, g, cards):
    """Trumps beyond the quota of a seat that goes in now; below zero: too few."""
    principal = g.knocker_is_principal != 0 or (g.opener_is_principal != 0 and v.first_in == NOBODY)
    quota = g.quota_principal if principal else g.quota_others
    return count(trumps_of(v, g, cards)) - quota


@jit
def best_place(v, g, cards):
    """The place of the best trump in its suit: 0 is the highest rank."""
    trumps = trumps_of(v, g, cards)
    return NO_TRUMP if trumps == EMPTY else g.num_ranks - 1 - highest(trumps) % g.num_ranks


@jit
def reaches(v, g, row, cards):
    """Whether the best trump is among as many top ranks as the row asks for with so many trumps."""
    spare = min(max(spare_trumps(v, g, cards), -1), 2)
    return best_place(v, g, cards) < row[spare + 1]
