"""Which card to play: lead an unbeaten trump, take a trick cheaply, or lose it cheaply (docs/agents.md, card play)."""

from __future__ import annotations

from agents.rams import jit
from bestia_env._bits import EMPTY, above, bit, count, highest, lowest
from bestia_env.rams.codes import IN

ME = 0  # seats of a View are relative


@jit
def trumps_of(v, g, cards):
    """The trumps among ``cards``."""
    return cards & g.suit_cards[g.suit_of[v.turn_up]]


@jit
def worth(v, g, card):
    """How dear a card is: side cards by rank, then trumps by rank."""
    rank = card % g.num_ranks
    return rank + g.num_ranks if g.suit_of[card] == g.suit_of[v.turn_up] else rank


@jit
def cheapest(v, g, cards):
    """The card of a set that is not empty which is worth least; the lowest id among equals."""
    best = lowest(cards)
    cards &= ~bit(best)
    while cards != EMPTY:
        card = lowest(cards)
        cards &= ~bit(card)
        if worth(v, g, card) < worth(v, g, best):
            best = card
    return best


@jit
def dearest(v, g, cards):
    """The card of a set that is not empty which is worth most; the lowest id among equals."""
    best = lowest(cards)
    cards &= ~bit(best)
    while cards != EMPTY:
        card = lowest(cards)
        cards &= ~bit(card)
        if worth(v, g, card) > worth(v, g, best):
            best = card
    return best


@jit
def out_of_play(v, g):
    """Cards no other hand can hold, as far as the seat knows: own, laid off by it, played, an ownerless turn-up."""
    cards = v.hand | v.buried
    if v.turn_up_taken == 0:
        cards |= bit(v.turn_up)
    for trick in range(v.trick + 1):
        for seat in range(g.num_players):
            card = int(v.plays[trick, seat])
            if card >= 0:
                cards |= bit(card)
    return cards


@jit
def is_top(v, g, trump):
    """Whether no trump that another hand may hold beats this one."""
    return trumps_of(v, g, above(trump)) & ~out_of_play(v, g) == EMPTY


@jit
def winning_card(v, g):
    """The card that wins the trick so far; the leader has played."""
    best = int(v.plays[v.trick, v.leader])
    for step in range(1, g.num_players):
        seat = v.leader + step
        if seat >= g.num_players:
            seat -= g.num_players
        card = int(v.plays[v.trick, seat])
        if card < 0:
            continue
        if g.suit_of[card] == g.suit_of[best]:
            best = max(best, card)
        elif g.suit_of[card] == g.suit_of[v.turn_up]:
            best = card
    return best


@jit
def winners(v, g, cards):
    """Those of ``cards`` that would win the trick so far."""
    best = winning_card(v, g)
    same = cards & g.suit_cards[g.suit_of[best]] & above(best)
    if g.suit_of[best] == g.suit_of[v.turn_up]:
        return same
    return same | trumps_of(v, g, cards)


@jit
def lead(v, g, t, cards):
    """The card to open a trick with."""
    trumps = trumps_of(v, g, cards)
    side = cards & ~trumps
    if side == EMPTY:
        return highest(trumps)
    best = dearest(v, g, side)
    if t.saves_two_trumps != 0 and count(trumps) == 2 and best % g.num_ranks == g.num_ranks - 1:
        return best
    if trumps != EMPTY and is_top(v, g, highest(trumps)):
        return highest(trumps)
    return best


@jit
def is_last(v, g):
    """Whether nobody plays to this trick after the seat itself."""
    missing = 0
    for seat in range(1, g.num_players):
        missing += v.status[seat] == IN and v.plays[v.trick, seat] < 0
    return missing == 0


@jit
def follow(v, g, t, cards):
    """The card to add to a trick."""
    taking = winners(v, g, cards)
    if taking == EMPTY:
        return cheapest(v, g, cards)
    side = taking & ~trumps_of(v, g, taking)
    if t.high_side_cards != 0 and side != EMPTY and not is_last(v, g):
        return dearest(v, g, side)
    return cheapest(v, g, taking)


@jit
def legal_cards(v, g):
    """The cards of the hand that may be played."""
    cards = EMPTY
    hand = v.hand
    while hand != EMPTY:
        card = lowest(hand)
        hand &= ~bit(card)
        if v.legal[g.first_card + card] != 0:
            cards |= bit(card)
    return cards


@jit
def play(v, g, t):
    """The action of the card to play, -1 if none is legal."""
    cards = legal_cards(v, g)
    if cards == EMPTY:
        return -1
    return g.first_card + (lead(v, g, t, cards) if v.leader == ME else follow(v, g, t, cards))
