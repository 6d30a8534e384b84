"""The pack: dealing, drawing, and what is shuffled into a new stock when it runs out (rules: rams 2.3 and 2.6)."""

from __future__ import annotations

import numpy as np

from bestia_env._bits import EMPTY, Int, Mask, bit, count
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    AWAY,
    DEALER_OWNS,
    OUT,
    RECYCLE_DISCARDS,
    RECYCLE_NONE,
    TURN_BEFORE,
    TURN_MIDWAY,
)
from bestia_env.rams.state import MAX_PLANNED, NOBODY, Parameters, State
from bestia_env.rng import PACK_ORDER, RESHUFFLE, below, deal_key, draw, fold

jit = jit_for("rams")


@jit
def next_seat(seat: Int, p: Parameters) -> Int:
    """The seat after a seat, in the order of play."""
    return seat + 1 if seat + 1 < p.num_players else 0


@jit
def shuffle(s: State, p: Parameters) -> None:
    """The pack order of a deal, from its address alone (Fisher and Yates)."""
    key = deal_key(s.key, s.deal, PACK_ORDER)
    size = p.num_cards
    for card in range(size):
        s.stock[card] = card
    for place in range(size - 1):
        other = place + below(key, place, size - place)
        card = s.stock[other]
        s.stock[other] = s.stock[place]
        s.stock[place] = card


@jit
def _next_card(s: State) -> Int:
    card = np.int64(s.stock[s.stock_next])
    s.stock_next += 1
    return card


@jit
def _batch(s: State, p: Parameters, cards: Int, full_hand: Int) -> None:
    """Deals ``cards`` to every entitled seat from eldest; a dealer who owns the turn-up never fills his hand."""
    seat = s.dealer
    for _ in range(p.num_players):
        seat = next_seat(seat, p)
        if s.status[seat] == AWAY:
            continue
        wanted = cards
        if p.turn_up_owner == DEALER_OWNS and seat == s.dealer:
            wanted = min(cards, full_hand - 1 - count(s.hand[seat] & ~_own_turn_up(s)))
        for _ in range(wanted):
            s.hand[seat] |= bit(_next_card(s))


@jit
def _own_turn_up(s: State) -> Mask:
    return bit(s.turn_up) if s.turn_up >= 0 else EMPTY


@jit
def _turn(s: State, p: Parameters) -> None:
    s.turn_up = _next_card(s)
    s.trump = p.suit_of[s.turn_up]
    if p.turn_up_owner == DEALER_OWNS:
        s.hand[s.dealer] |= bit(s.turn_up)
        s.turn_up_taken = 1
    if p.extra_hand != 0:
        for _ in range(p.hand_size):
            s.extra_hand |= bit(_next_card(s))


@jit
def deal_cards(s: State, p: Parameters) -> None:
    """Hands, turn-up and extra hand off the pack order (rules: rams 2.6); the rest is the stock."""
    s.stock_next = 0
    s.stock_end = p.num_cards
    s.reshuffles = 0
    s.turn_up = NOBODY
    s.turn_up_taken = 0
    size = p.hand_size
    if p.turn_up == TURN_BEFORE:
        _turn(s, p)
        _batch(s, p, size, size)
    elif p.turn_up == TURN_MIDWAY:
        first = min(2, size)
        _batch(s, p, first, size)
        _turn(s, p)
        _batch(s, p, size - first, size)
    else:
        _batch(s, p, size, size)
        _turn(s, p)
    for seat in range(p.num_players):
        s.first_hand[seat] = s.hand[seat]
        s.owned[seat] = s.hand[seat]


@jit
def folded_cards(s: State, p: Parameters) -> Mask:
    """The hands of all seats that are finally out."""
    cards = EMPTY
    for seat in range(p.num_players):
        if s.status[seat] == OUT:
            cards |= s.hand[seat]
    return cards


@jit
def available(s: State, p: Parameters) -> Int:
    """How many cards the stock can serve, reshuffles included."""
    cards = s.stock_end - s.stock_next
    if p.recycle != RECYCLE_NONE:
        cards += count(folded_cards(s, p))
    if p.recycle == RECYCLE_DISCARDS:
        cards += count(s.discards)
    return cards


@jit
def _reshuffle(s: State, p: Parameters) -> None:
    """A new stock: the folded hands, or when there are none the discards (rules: rams 2.3).

    Cards go by a priority of their own, so that a slightly different set of cards moves little.
    """
    cards = folded_cards(s, p)
    if cards != EMPTY:
        for seat in range(p.num_players):
            if s.status[seat] == OUT:
                s.hand[seat] = EMPTY
    else:
        cards = s.discards
        s.discards = EMPTY
        s.buried[:] = EMPTY
    s.stock_next = 0
    s.stock_end = count(cards)
    if s.reshuffles < MAX_PLANNED and _plan_holds(s, cards):
        for place in range(s.stock_end):
            s.stock[place] = s.planned[s.reshuffles, place]
    else:
        key = fold(deal_key(s.key, s.deal, RESHUFFLE), s.reshuffles)
        _sort_by_priority(s, cards, key, p.num_cards)
    s.reshuffles += 1


@jit
def _plan_holds(s: State, cards: Mask) -> bool:
    """Whether a stock was planned for this reshuffle and holds exactly the cards that are shuffled."""
    planned = EMPTY
    for place in range(s.stock_end):
        card = np.int64(s.planned[s.reshuffles, place])
        if card < 0:
            return False
        planned |= bit(card)
    return planned == cards and (s.stock_end == len(s.stock) or s.planned[s.reshuffles, s.stock_end] < 0)


@jit
def _sort_by_priority(s: State, cards: Mask, key: Mask, num_cards: Int) -> None:
    size = 0
    for card in range(num_cards):
        if cards & bit(card) == EMPTY:
            continue
        place = size
        priority = draw(key, card)
        while place > 0 and draw(key, np.int64(s.stock[place - 1])) > priority:
            s.stock[place] = s.stock[place - 1]
            place -= 1
        s.stock[place] = card
        size += 1


@jit
def draw_cards(s: State, p: Parameters, wanted: Int) -> Mask:
    """The next ``wanted`` cards; the caller has seen to it that they are available."""
    cards = EMPTY
    for _ in range(wanted):
        if s.stock_next == s.stock_end:
            _reshuffle(s, p)
        cards |= bit(_next_card(s))
    return cards
