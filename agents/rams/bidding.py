"""Whether to go in, and how; which cards to lay off (docs/agents.md, "Going in" and "Exchanging")."""

from __future__ import annotations

from agents.rams import jit
from agents.rams.tricks import cheapest, trumps_of
from bestia_env._bits import EMPTY, bit, count, highest, lowest
from bestia_env.rams.codes import (
    DECLARE,
    IN,
    PASSED,
    SAY_BUCO,
    SAY_DRAW,
    SAY_KNOCK,
    SAY_PASS,
    UNSPOKEN,
)
from bestia_env.rams.state import NOBODY


@jit
def offers(v, g, verb):
    """Whether the seat may say a verb now."""
    return g.verb[verb] >= 0 and v.legal[g.verb[verb]] != 0


# --- the table ------------------------------------------------------------------------------------------------------


@jit
def others_in(v, g):
    """How many other seats are in."""
    total = 0
    for seat in range(1, g.num_players):
        total += v.status[seat] == IN
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


# --- the hand -------------------------------------------------------------------------------------------------------


@jit
def spare_trumps(v, g, cards):
    """Trumps beyond the quota of a seat that goes in now; below zero: too few."""
    principal = g.knocker_is_principal != 0 or (g.opener_is_principal != 0 and v.first_in == NOBODY)
    quota = g.quota_principal if principal else g.quota_others
    return count(trumps_of(v, g, cards)) - quota


@jit
def is_strong(v, g, t, cards):
    """Whether the best trump is among as many top ranks as the number of trumps asks for."""
    trumps = trumps_of(v, g, cards)
    place = g.num_ranks  # of the best trump in its suit: 0 is the highest rank
    if trumps != EMPTY:
        place = g.num_ranks - 1 - highest(trumps) % g.num_ranks
    spare = min(max(spare_trumps(v, g, cards), -1), 2)
    return place < t.top_ranks[spare + 1]


# --- exchanging -----------------------------------------------------------------------------------------------------


@jit
def unwanted(v, g, cards):
    """The cards to lay off: all but trumps and the highest card of each side suit."""
    chosen = EMPTY
    rest = cards & ~trumps_of(v, g, cards)
    while rest != EMPTY:
        card = lowest(rest)
        rest &= ~bit(card)
        if card % g.num_ranks != g.num_ranks - 1:
            chosen |= bit(card)
    return chosen


@jit
def subset_bits(cards, chosen):
    """The number of an exchange: bit i is the i-th smallest of ``cards``."""
    bits = 0
    place = 0
    while cards != EMPTY:
        card = lowest(cards)
        cards &= ~bit(card)
        if chosen & bit(card) != EMPTY:
            bits |= 1 << place
        place += 1
    return bits


@jit
def exchange(v, g):
    """The legal exchange whose size comes nearest to the unwanted cards, cheapest cards first; -1 if none is legal."""
    cards = v.exchange_cards
    wanted = count(unwanted(v, g, cards))
    chosen = EMPTY
    best = -1
    for size in range(count(cards) + 1):
        action = g.first_exchange + subset_bits(cards, chosen)
        if v.legal[action] != 0:
            best = action
        elif best >= 0:  # the limit is passed
            break
        if best >= 0 and size >= wanted:
            break
        rest = cards & ~chosen
        if rest != EMPTY:
            chosen |= bit(cheapest(v, g, rest))
    return best


# --- declaring ------------------------------------------------------------------------------------------------------


@jit
def go_in(v, g, t):
    """Draw, knock or exchange, whichever is how one goes in; in circuits knock once nothing is left to improve."""
    if offers(v, g, SAY_DRAW):
        return g.verb[SAY_DRAW]
    if v.exchange_cards == EMPTY:
        return g.verb[SAY_KNOCK]
    if offers(v, g, SAY_KNOCK):
        ready = v.laid != EMPTY or unwanted(v, g, v.exchange_cards) == EMPTY
        if ready or spare_trumps(v, g, v.hand) >= t.knocks_at_once:
            return g.verb[SAY_KNOCK]
    return exchange(v, g)


@jit
def declare(v, g, t):
    """The declaration of a seat: in the first round, in circuits, or at its second chance."""
    stay_out = g.verb[SAY_PASS]
    draws = offers(v, g, SAY_DRAW)
    if not draws and not offers(v, g, SAY_KNOCK) and v.exchange_cards == EMPTY:
        return stay_out
    if t.takes_what_is_free != 0 and costs_nothing(v, g):
        return go_in(v, g, t)
    if draws:
        return go_in(v, g, t) if others_in(v, g) <= t.unseen_against else stay_out
    if is_strong(v, g, t, v.hand | v.exchange_cards):
        return go_in(v, g, t)
    if offers(v, g, SAY_BUCO) and others_in(v, g) + others_to_come(v, g) <= t.unseen_against:
        return g.verb[SAY_BUCO]
    return stay_out
