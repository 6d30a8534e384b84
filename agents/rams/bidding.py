"""Whether to go in, and how; which cards to lay off (docs/agents.md, "Going in" and "Exchanging")."""

from __future__ import annotations

from agents.rams import jit
from agents.rams.table import (
    costs_nothing,
    offers,
    others_in,
    others_to_come,
    others_unspoken,
    reaches,
    relief,
    rivals,
    spare_trumps,
)
from agents.rams.tricks import ME, cheapest, trumps_of
from bestia_env._bits import EMPTY, bit, count, lowest
from bestia_env.rams.codes import IN, SAY_BUCO, SAY_DRAW, SAY_KNOCK, SAY_PASS

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
    if not offers(v, g, SAY_DRAW) and not offers(v, g, SAY_KNOCK) and v.exchange_cards == EMPTY:
        return g.verb[SAY_PASS]
    if t.takes_what_is_free != 0 and costs_nothing(v, g):
        return go_in(v, g, t)
    if t.heeds_tips != 0:
        return by_tips(v, g, t)
    if t.reads_circuits != 0 and g.circuits != 0:
        return in_circuits(v, g, t)
    return by_table(v, g, t)


@jit
def by_table(v, g, t):
    """Goes in with trumps that are good enough against so many, or with a whole new hand."""
    if offers(v, g, SAY_DRAW):
        return go_in(v, g, t) if others_in(v, g) <= t.unseen_against + relief(v, t) else g.verb[SAY_PASS]
    if reaches(v, g, t.top_ranks[rivals(v, g, t)], v.hand | v.exchange_cards):
        return go_in(v, g, t)
    if offers(v, g, SAY_BUCO) and others_in(v, g) + others_to_come(v, g) <= t.unseen_against:
        return g.verb[SAY_BUCO]
    return g.verb[SAY_PASS]


@jit
def in_circuits(v, g, t):
    """Knocks to force others in with the cards they were dealt; else exchanges, looks, and knocks or leaves."""
    if v.status[ME] == IN or unwanted(v, g, v.hand) == EMPTY:
        knocks = reaches(v, g, t.knocks_after, v.hand)
    elif others_unspoken(v, g) >= 2:
        knocks = reaches(v, g, t.forces_in, v.hand)
    else:
        knocks = spare_trumps(v, g, v.hand) >= t.knocks_at_once
    if knocks:
        return g.verb[SAY_KNOCK]
    if v.exchange_cards != EMPTY and reaches(v, g, t.top_ranks[rivals(v, g, t)], v.hand):
        return exchange(v, g)
    return g.verb[SAY_PASS]


@jit
def is_dear(v):
    """Whether a bestia costs more than twice the antes of the deal: the pot is big."""
    cost = v.risk if v.cap < 0 else min(v.risk, v.cap)
    return cost > 2 * (v.pot_before - v.carry)


@jit
def by_tips(v, g, t):
    """The ace or the three of trumps goes in; else only late, where few are in and a bestia is cheap."""
    draws = offers(v, g, SAY_DRAW)
    cards = v.hand | v.exchange_cards
    if not draws and reaches(v, g, t.top_ranks[0], cards):
        return go_in(v, g, t)
    if is_dear(v) or others_unspoken(v, g) > 0 or others_in(v, g) > t.unseen_against:
        return g.verb[SAY_PASS]
    if draws or trumps_of(v, g, cards) != EMPTY:
        return go_in(v, g, t)
    return g.verb[SAY_BUCO] if offers(v, g, SAY_BUCO) else g.verb[SAY_PASS]
