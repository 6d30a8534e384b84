"""States that a View allows: everything the seat has seen stays, everything hidden is dealt anew (design 6).

The first version keeps to the cards seen: all arrangements of the unseen cards over the hidden places (other hands,
what each seat laid off, stock, buco) that the table's counts allow are equally likely. A turn-up that was taken is with
its owner or among what he laid off; a card that can only have come back by a reshuffle (the seat's own, or a turn-up
laid off) is in the stock or with seats that drew. Not used yet: when exactly such a seat drew, and whatever bidding and
play let one infer.
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import ALL, EMPTY, ONE, Int, Mask, bit, count, lowest, nth
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    AWAY,
    DEALER_SWAPS,
    EXCHANGE,
    IN,
    OVER,
    SAY_BUCO,
    SAY_DRAW,
    SAY_EXCHANGE,
    SETTLE,
    TABLE_STAKES,
)
from bestia_env.rams.engine import close_decision, reopen
from bestia_env.rams.state import NOBODY, Parameters, State, View
from bestia_env.rams.tricks import beats
from bestia_env.rng import below, fold

jit = jit_for("rams")


@jit
def redeal(v: View, p: Parameters, key: Mask, s: State) -> None:
    """Fills ``s`` with a state in which seat 0 has exactly the View ``v``; it draws further luck from ``key``."""
    s.deal = 0
    s.decision = 0
    s.truncated = 0
    s.over = 0
    s.half_ante = NOBODY
    s.without_bestia = 0
    s.rake_taken = 0
    s.planned[:, 0] = -1
    _restore_table(v, p, s)
    _restore_tricks(v, p, s)
    _restore_own_cards(v, s)
    _deal_unseen(v, p, key, s)
    _put_turn_up_right(v, p, key, s)
    _restore_memories(v, p, key, s)
    close_decision(s)
    if s.phase < SETTLE:
        reopen(s, p)
    s.over = 1 if s.phase == OVER else 0


@jit
def _restore_table(v: View, p: Parameters, s: State) -> None:
    s.phase = v.phase
    s.dealer = v.dealer
    s.forced = v.forced
    s.principal = v.principal
    s.first_in = v.first_in
    s.carry = v.carry
    s.ante = v.ante
    s.pot_before = v.pot_before
    s.pot = v.pot
    s.risk = v.risk
    s.turn_up = v.turn_up
    s.trump = p.suit_of[v.turn_up]
    s.turn_up_taken = v.turn_up_taken
    s.reshuffles = v.reshuffles
    s.turns_left = v.turns_left
    s.circuit = v.circuit
    s.turn = v.actor
    s.num_in = 0
    for seat in range(p.num_players):
        s.status[seat] = v.status[seat]
        s.entitled[seat] = v.status[seat] != AWAY
        s.num_in += v.status[seat] == IN
        s.credits[seat] = v.credits[seat] if p.stakes == TABLE_STAKES else 0
        s.antes[seat] = v.antes[seat]
    if v.phase < EXCHANGE:
        s.num_in = 0
    s.log_length = v.log_length
    for entry in range(len(v.log_verb)):
        s.log_verb[entry] = v.log_verb[entry]
        s.log_count[entry] = v.log_count[entry]
        s.log_seat[entry] = v.log_seat[entry]


@jit
def _restore_tricks(v: View, p: Parameters, s: State) -> None:
    """Cards played, who won which trick, and the best card of the trick that lies."""
    s.trick = v.trick
    s.leader = v.leader
    s.played = EMPTY
    s.cards_out = 0
    s.led_suit = NOBODY
    s.best_card = NOBODY
    s.best_seat = NOBODY
    s.winners[:] = NOBODY
    s.tricks[:] = 0
    for seat in range(p.num_players):
        s.tricks[seat] = v.tricks[seat]
        for trick in range(p.hand_size):
            s.plays[trick, seat] = v.plays[trick, seat]
            if v.plays[trick, seat] >= 0:
                s.played |= bit(np.int64(v.plays[trick, seat]))
    leader = _first_leader(v, p)
    for trick in range(min(v.trick + 1, p.hand_size)):
        if leader == NOBODY:
            break
        s.best_card = NOBODY
        s.cards_out = 0
        for step in range(p.num_players):
            seat = (leader + step) % p.num_players
            card = np.int64(v.plays[trick, seat])
            if card < 0:
                continue
            s.cards_out += 1
            if s.best_card == NOBODY:
                s.led_suit = p.suit_of[card]
            if s.best_card == NOBODY or beats(card, s.best_card, s.trump, p):
                s.best_card = card
                s.best_seat = seat
        if trick < v.trick:
            s.winners[trick] = s.best_seat
            leader = s.best_seat
            s.cards_out = 0


@jit
def _first_leader(v: View, p: Parameters) -> Int:
    """Who led to the first trick: the seat after which its cards must have come."""
    if v.leader == NOBODY:
        return NOBODY
    if v.trick == 0:
        return v.leader
    if p.principal_leads != 0 and v.principal != NOBODY:
        return v.principal
    for step in range(1, p.num_players + 1):
        seat = (v.dealer + step) % p.num_players
        if v.status[seat] == IN:
            return seat
    return NOBODY


@jit
def _restore_own_cards(v: View, s: State) -> None:
    s.hand[:] = EMPTY
    s.first_hand[:] = EMPTY
    s.owned[:] = EMPTY
    s.laid[:] = EMPTY
    s.buried[:] = EMPTY
    s.hand[0] = v.hand
    s.first_hand[0] = v.first_hand
    s.owned[0] = v.owned
    s.laid[0] = v.laid
    s.buried[0] = v.buried


# --- the unseen cards -------------------------------------------------------------------------------------------------


@jit
def _times_said(v: View, seat: Int, verb: Int) -> Int:
    """How often a seat drew, took the buco, or exchanged at least one card."""
    times = 0
    for entry in range(v.log_length):
        said = v.log_seat[entry] == seat and v.log_verb[entry] == verb
        times += said and (verb != SAY_EXCHANGE or v.log_count[entry] > 0)
    return times


@jit
def _cards_laid(v: View, p: Parameters, seat: Int) -> Int:
    """How many cards a seat has laid off in the deal, as the whole table counted them."""
    cards = 0
    for entry in range(v.log_length):
        if v.log_seat[entry] == seat:
            if v.log_verb[entry] in (SAY_DRAW, SAY_BUCO):
                cards += p.hand_size
            cards += v.log_count[entry]
    return cards


@jit
def _turn_up_stays(v: View, s: State) -> bool:
    """Whether a turn-up that was taken and is not seen must be in the dealer's hand: he has laid nothing off."""
    if v.turn_up_taken == 0 or v.dealer == 0 or (v.hand | v.buried | s.played) & bit(v.turn_up) != EMPTY:
        return False
    laid = _times_said(v, v.dealer, SAY_EXCHANGE) + _times_said(v, v.dealer, SAY_DRAW)
    return laid + _times_said(v, v.dealer, SAY_BUCO) == 0


@jit
def _collect_unseen(v: View, p: Parameters, s: State) -> Int:
    """Lists the unseen cards in the stock, those last that can only have come back by a reshuffle; returns all, late.

    Late cards are the viewer's own that were shuffled back, and a turn-up that its owner laid off and that was.
    """
    seen = v.hand | v.buried | s.played
    late = v.owned & ~seen
    where = bit(v.turn_up)
    if v.turn_up_taken == 0 or _turn_up_stays(v, s):
        seen |= where
    elif seen & where == EMPTY and v.dealer != 0 and _cards_laid(v, p, v.dealer) > v.lying[v.dealer]:
        late |= where
    unseen = (ALL >> np.uint64(64 - p.num_cards)) & ~seen
    late &= unseen
    place = 0
    for part in (unseen & ~late, late):
        cards = part
        while cards != EMPTY:
            s.stock[place] = lowest(cards)
            cards &= cards - ONE
            place += 1
    s.stock_end = place
    return count(late)


@jit
def _shuffle_places(s: State, key: Mask, first: Int, end: Int) -> None:
    for place in range(first, end - 1):
        other = place + below(key, place, end - place)
        card = s.stock[other]
        s.stock[other] = s.stock[place]
        s.stock[place] = card


@jit
def _take_next(s: State, wanted: Int) -> Mask:
    cards = EMPTY
    for _ in range(wanted):
        cards |= bit(np.int64(s.stock[s.stock_next]))
        s.stock_next += 1
    return cards


@jit
def _deal_unseen(v: View, p: Parameters, key: Mask, s: State) -> None:
    """Deals the unseen cards.

    Places that were filled before any reshuffle come first and take none of the late cards: hands of seats that never
    drew, what a seat laid off the first time, the buco. All arrangements that leaves are equally likely.
    """
    late = _collect_unseen(v, p, s)
    _shuffle_places(s, key, 0, s.stock_end - late)
    s.stock_next = 0
    stays = _turn_up_stays(v, s)
    for seat in range(1, p.num_players):
        s.hand[seat] = bit(v.turn_up) if stays and seat == v.dealer else EMPTY
        s.buried[seat] = EMPTY
        exchanges = _times_said(v, seat, SAY_EXCHANGE)
        if exchanges + _times_said(v, seat, SAY_DRAW) == 0:
            s.hand[seat] |= _take_next(s, v.held[seat] - count(s.hand[seat]))
        if exchanges < 2:
            s.buried[seat] = _take_next(s, v.lying[seat])
    s.extra_hand = _take_next(s, p.hand_size if v.extra_hand != 0 else 0)
    _shuffle_places(s, fold(key, late), s.stock_next, s.stock_end)
    s.discards = v.buried
    for seat in range(1, p.num_players):
        s.hand[seat] |= _take_next(s, v.held[seat] - count(s.hand[seat]))
        s.buried[seat] |= _take_next(s, v.lying[seat] - count(s.buried[seat]))
        s.discards |= s.buried[seat]


@jit
def _put_turn_up_right(v: View, p: Parameters, key: Mask, s: State) -> None:
    """A taken turn-up that fell where its owner cannot have it changes places with a card that lies where he can.

    The card is drawn evenly, so all arrangements stay equally likely; a late card stays where it is.
    """
    where = bit(v.turn_up)
    known = (v.hand | v.buried | s.played) & where != EMPTY
    if v.turn_up_taken == 0 or v.dealer == 0 or known or _cards_laid(v, p, v.dealer) > v.lying[v.dealer]:
        return
    places = s.buried[v.dealer]
    if _times_said(v, v.dealer, SAY_BUCO) == 0:
        places |= s.hand[v.dealer]
    free = places & ~v.owned
    if places & where != EMPTY or free == EMPTY:
        return
    card = nth(free, below(fold(key, 64), 0, count(free)))
    both = where | bit(card)
    for seat in range(1, p.num_players):
        s.hand[seat] = _swapped(s.hand[seat], both)
        s.buried[seat] = _swapped(s.buried[seat], both)
    s.extra_hand = _swapped(s.extra_hand, both)
    s.discards = _swapped(s.discards, both)
    for place in range(s.stock_next, s.stock_end):
        if s.stock[place] == v.turn_up:
            s.stock[place] = card
        elif s.stock[place] == card:
            s.stock[place] = v.turn_up


@jit
def _swapped(cards: Mask, both: Mask) -> Mask:
    """A set in which two cards have changed places with the rest."""
    return cards ^ both if count(cards & both) == 1 else cards


@jit
def _restore_memories(v: View, p: Parameters, key: Mask, s: State) -> None:
    """What the others have held, made up to fit: lay-offs that lie there, kept cards at random."""
    where = bit(v.turn_up)
    for seat in range(1, p.num_players):
        if v.status[seat] == AWAY:
            continue
        kept = s.hand[seat]
        for trick in range(p.hand_size):
            if v.plays[trick, seat] >= 0:
                kept |= bit(np.int64(v.plays[trick, seat]))
        s.laid[seat] = s.buried[seat]
        s.owned[seat] = kept | s.laid[seat]
        mine = seat == v.dealer and v.turn_up_taken != 0
        first = s.laid[seat]
        if mine and p.turn_up_owner == DEALER_SWAPS:
            first &= ~where
            kept &= ~where
        elif mine:
            first |= where & kept
        kept &= ~first
        draws = _times_said(v, seat, SAY_DRAW) + _times_said(v, seat, SAY_BUCO)
        index = 0
        while draws == 0 and kept != EMPTY and count(first) < p.hand_size:
            card = bit(nth(kept, below(fold(key, seat), index, count(kept))))
            first |= card
            kept &= ~card
            index += 1
        s.first_hand[seat] = first
