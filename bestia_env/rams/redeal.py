"""States that a View allows: everything the seat has seen stays, everything hidden is dealt anew (design 6).

The first version keeps to the cards seen: all arrangements of the unseen cards over the hidden places (other hands,
discards, stock, buco) are equally likely, with the turn-up where the table knows it to be. What bidding and play let
one infer is not used. A card the seat laid off before the discards were reshuffled may lie in any hidden place.
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import ALL, EMPTY, ONE, Int, Mask, bit, count, lowest
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    AWAY,
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
    attempt = 0
    while not _deal_unseen(v, p, fold(key, attempt), s):
        attempt += 1
    _restore_memories(v, p, s)
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
    s.laid[:] = EMPTY
    s.buried[:] = EMPTY
    s.extra_hand = EMPTY
    s.hand[0] = v.hand
    s.first_hand[0] = v.first_hand
    s.laid[0] = v.laid
    s.buried[0] = v.buried
    s.discards = v.buried


@jit
def _dealer_has_exchanged(v: View) -> bool:
    for entry in range(v.log_length):
        if v.log_seat[entry] == v.dealer and v.log_verb[entry] == SAY_EXCHANGE and v.log_count[entry] > 0:
            return True
    return False


@jit
def _deal_unseen(v: View, p: Parameters, key: Mask, s: State) -> bool:
    """Deals the unseen cards; False if the turn-up fell where the table knows it is not."""
    seen = v.hand | v.buried | s.played
    where = bit(v.turn_up)
    hidden_turn_up = v.turn_up_taken != 0 and seen & where == EMPTY
    held_by_dealer = hidden_turn_up and v.dealer != 0 and not _dealer_has_exchanged(v)
    if held_by_dealer or v.turn_up_taken == 0:
        seen |= where
    unseen = (ALL >> np.uint64(64 - p.num_cards)) & ~seen
    size = count(unseen)
    for place in range(size):
        s.stock[place] = lowest(unseen)
        unseen &= unseen - ONE
    for place in range(size - 1):
        other = place + below(key, place, size - place)
        card = s.stock[other]
        s.stock[other] = s.stock[place]
        s.stock[place] = card
    s.discards = v.buried
    place = 0
    for seat in range(1, p.num_players):
        s.hand[seat] = where if held_by_dealer and seat == v.dealer else EMPTY
        for _ in range(v.held[seat] - count(s.hand[seat])):
            s.hand[seat] |= bit(np.int64(s.stock[place]))
            place += 1
    for _ in range(v.discards - count(v.buried)):
        s.discards |= bit(np.int64(s.stock[place]))
        place += 1
    s.extra_hand = EMPTY
    if v.extra_hand != 0:
        for _ in range(p.hand_size):
            s.extra_hand |= bit(np.int64(s.stock[place]))
            place += 1
    s.stock_next = place
    s.stock_end = size
    if not hidden_turn_up or held_by_dealer or v.reshuffles > 0:
        return True
    return (s.hand[v.dealer] | s.discards) & where != EMPTY


@jit
def _restore_memories(v: View, p: Parameters, s: State) -> None:
    """First hands and lay-offs of the others, made up to fit: hidden lay-offs are theirs in the order of the log."""
    hidden = s.discards & ~v.buried
    for entry in range(v.log_length):
        seat = v.log_seat[entry]
        verb = v.log_verb[entry]
        if seat == 0:
            continue
        size = 0
        if verb == SAY_EXCHANGE:
            size = v.log_count[entry]
        elif verb in (SAY_DRAW, SAY_BUCO):
            size = p.hand_size
        for _ in range(min(size, count(hidden))):
            card = bit(lowest(hidden))
            hidden &= ~card
            s.laid[seat] |= card
            s.buried[seat] |= card
    for seat in range(1, p.num_players):
        if v.status[seat] == AWAY:
            continue
        kept = s.hand[seat]
        for trick in range(p.hand_size):
            if v.plays[trick, seat] >= 0:
                kept |= bit(np.int64(v.plays[trick, seat]))
        s.first_hand[seat] = s.laid[seat]
        while kept != EMPTY and count(s.first_hand[seat]) < p.hand_size:
            s.first_hand[seat] |= bit(lowest(kept))
            kept &= kept - ONE
