"""Who plays, and with which cards: declaring, the second chance, exchanges (rules: rams 2.1, 2.3 and 4).

Each phase has one ``open_…`` that finds the next seat to be asked and what it may do (False: the phase has ended), and
one ``say_…`` / ``exchange`` that does it.
"""

from __future__ import annotations

from bestia_env._bits import EMPTY, Int, Mask, bit, count, subset
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    AWAY,
    CIRCUITS,
    DEALER_OWNS,
    DEALER_SWAPS,
    FIRST_IN,
    IN,
    KNOCKER,
    OUT,
    PASSED,
    SAY_BUCO,
    SAY_DRAW,
    SAY_EXCHANGE,
    SAY_KNOCK,
    SAY_PASS,
    SAY_THIRD,
    THIRD,
    UNSPOKEN,
    WHILE_DECLARING,
)
from bestia_env.rams.state import NOBODY, Parameters, State
from bestia_env.rams.stock import available, draw_cards, next_seat

jit = jit_for("rams")


@jit
def eldest(s: State, p: Parameters) -> Int:
    """The first entitled seat after the dealer."""
    seat = next_seat(s.dealer, p)
    while s.status[seat] == AWAY:
        seat = next_seat(seat, p)
    return seat


@jit
def seats_with(s: State, p: Parameters, status: Int) -> Int:
    """How many seats have a status."""
    total = 0
    for seat in range(p.num_players):
        total += s.status[seat] == status
    return total


@jit
def seats_left(s: State, p: Parameters) -> Int:
    """How many seats are not out of the deal."""
    return p.num_players - seats_with(s, p, OUT) - seats_with(s, p, AWAY)


@jit
def begin_round(s: State, p: Parameters, first: Int, turns: Int) -> None:
    """Seats are asked in order, ``turns`` turns at most."""
    s.turn = first
    s.turns_left = turns
    s.circuit = 0


@jit
def next_turn(s: State, p: Parameters) -> None:
    """The turn passes to the next seat; a circuit ends with the dealer."""
    if s.turn == s.dealer:
        s.circuit += 1
    s.turn = next_seat(s.turn, p)
    s.turns_left -= 1


@jit
def _log(s: State, seat: Int, verb: Int, cards: Int) -> None:
    s.log_seat[s.log_length] = seat
    s.log_verb[s.log_length] = verb
    s.log_count[s.log_length] = cards
    s.log_length += 1


@jit
def fold(s: State, p: Parameters, seat: Int) -> None:
    """A seat is finally out; a dealer who owns the turn-up leaves it on the table."""
    s.status[seat] = OUT
    if p.turn_up_owner == DEALER_OWNS and seat == s.dealer and s.hand[seat] & bit(s.turn_up) != EMPTY:
        s.hand[seat] &= ~bit(s.turn_up)
        s.turn_up_taken = 0


@jit
def go_in(s: State, p: Parameters, seat: Int) -> None:
    """A seat is bound to take tricks; the first one may be the principal."""
    s.status[seat] = IN
    if s.first_in == NOBODY:
        s.first_in = seat
        if p.principal == FIRST_IN:
            s.principal = seat


# --- declaring ------------------------------------------------------------------------------------------------------


@jit
def _is_asked(s: State, p: Parameters, seat: Int) -> bool:
    status = s.status[seat]
    if status == UNSPOKEN:
        return True
    if p.bidding == CIRCUITS:
        return status in (IN, THIRD)
    return status == PASSED and p.late_join != 0 and s.first_in != NOBODY


@jit
def open_declare(s: State, p: Parameters) -> bool:
    """Asks the next seat to declare."""
    while s.turns_left > 0:
        if p.last_player_wins != 0 and seats_left(s, p) == 1:
            return False
        if _is_asked(s, p, s.turn):
            _offer_declarations(s, p, s.turn)
            s.actor = s.turn
            return True
        next_turn(s, p)
    return False


@jit
def _offer_declarations(s: State, p: Parameters, seat: Int) -> None:
    s.may = 1 << SAY_PASS
    if s.status[seat] == THIRD and seats_with(s, p, IN) >= 3:
        return
    exchanges = p.exchange_max > 0 and p.exchange_when == WHILE_DECLARING
    last_circuit = p.bidding == CIRCUITS and s.circuit >= p.max_circuits
    if p.bidding == CIRCUITS or not exchanges:
        s.may |= 1 << SAY_KNOCK
    if s.extra_hand != EMPTY:
        s.may |= 1 << SAY_BUCO
    if p.conditional_third != 0 and s.status[seat] == UNSPOKEN and not last_circuit:
        s.may |= 1 << SAY_THIRD
    if exchanges and not last_circuit:
        offer_exchange(s, p, seat)


@jit
def say_declare(s: State, p: Parameters, verb: Int) -> None:
    """The actor passes, knocks, takes the buco or says "third"; an exchange is :func:`exchange`."""
    seat = s.actor
    _log(s, seat, verb, 0)
    if verb == SAY_PASS:
        returns = p.second_chance != 0 or (p.late_join != 0 and s.first_in == NOBODY)
        if returns:
            s.status[seat] = PASSED
        else:
            fold(s, p, seat)
    elif verb == SAY_THIRD:
        s.status[seat] = THIRD
    else:
        if verb == SAY_BUCO:
            _lay_off(s, seat, s.hand[seat])
            _take(s, seat, s.extra_hand)
            s.extra_hand = EMPTY
        go_in(s, p, seat)


@jit
def after_declaration(s: State, p: Parameters) -> None:
    """Passes the turn; a knock ends the circuits, the first to go in opens the joining."""
    seat = s.actor
    came_first = s.first_in == seat and s.log_verb[s.log_length - 1] != SAY_PASS
    next_turn(s, p)
    if p.bidding == CIRCUITS:
        if s.log_verb[s.log_length - 1] == SAY_KNOCK:
            _end_circuits(s, p, seat)
    elif p.late_join != 0 and came_first:
        s.turns_left = p.num_players - 1


@jit
def _end_circuits(s: State, p: Parameters, knocker: Int) -> None:
    """The knock: who has not spoken is in, thirds fill up to three in the order they spoke (rules: rams 4)."""
    s.turns_left = 0
    if p.principal == KNOCKER:
        s.principal = knocker
    for seat in range(p.num_players):
        if s.status[seat] == UNSPOKEN:
            s.status[seat] = IN
    for entry in range(s.log_length):
        seat = s.log_seat[entry]
        if s.log_verb[entry] == SAY_THIRD and s.status[seat] == THIRD:
            if seats_with(s, p, IN) < 3:
                s.status[seat] = IN
            else:
                fold(s, p, seat)


@jit
def close_declare(s: State, p: Parameters) -> None:
    """What the declaring leaves open: the last player, and passers who were not asked again."""
    last = p.last_player_wins != 0 and seats_left(s, p) == 1
    for seat in range(p.num_players):
        status = s.status[seat]
        if last and status != OUT and status != AWAY:
            s.status[seat] = IN
        elif status == PASSED and p.second_chance == 0:
            fold(s, p, seat)


# --- the second chance ----------------------------------------------------------------------------------------------


@jit
def open_second_chance(s: State, p: Parameters) -> bool:
    """Offers the next passer a new hand; a seat the stock cannot serve is out."""
    while s.turns_left > 0:
        seat = s.turn
        if s.status[seat] == PASSED:
            if available(s, p) >= p.hand_size:
                s.may = 1 << SAY_PASS | 1 << SAY_DRAW
                s.actor = seat
                return True
            fold(s, p, seat)
        next_turn(s, p)
    return False


@jit
def say_second_chance(s: State, p: Parameters, verb: Int) -> None:
    """The actor draws a whole new hand unseen, or stays out."""
    seat = s.actor
    _log(s, seat, verb, 0)
    if verb == SAY_PASS:
        fold(s, p, seat)
    else:
        drawn = draw_cards(s, p, p.hand_size)
        _lay_off(s, seat, s.hand[seat])
        _take(s, seat, drawn)
        go_in(s, p, seat)
    next_turn(s, p)


# --- exchanges ------------------------------------------------------------------------------------------------------


@jit
def _takes_turn_up(s: State, p: Parameters, seat: Int) -> bool:
    """Whether a dealer who exchanges picks up the turn-up (never in a forced deal)."""
    return p.turn_up_owner == DEALER_SWAPS and seat == s.dealer and s.turn_up_taken == 0 and s.forced == 0


@jit
def offer_exchange(s: State, p: Parameters, seat: Int) -> None:
    """Which cards may be laid off, and how many: the limit counts cards drawn (rules: rams 2.1)."""
    cards = s.hand[seat]
    room = min(p.exchange_max, available(s, p))
    least = 0
    if _takes_turn_up(s, p, seat):
        cards |= bit(s.turn_up)
        room += 1
        least = 1
    s.exchange_cards = cards
    s.exchange_least = least
    s.exchange_most = min(room, count(cards))


@jit
def open_exchange(s: State, p: Parameters) -> bool:
    """Asks the next participant to exchange."""
    while s.turns_left > 0:
        if s.status[s.turn] == IN:
            offer_exchange(s, p, s.turn)
            s.actor = s.turn
            return True
        next_turn(s, p)
    return False


@jit
def exchange(s: State, p: Parameters, chosen: Int) -> None:
    """The actor lays off the ``chosen`` cards (bits over his cards sorted by id) and draws as many."""
    seat = s.actor
    laid = subset(s.exchange_cards, chosen)
    size = count(laid)
    drawn = size
    if _takes_turn_up(s, p, seat):
        _take(s, seat, bit(s.turn_up))
        s.turn_up_taken = 1
        drawn -= 1
    new = draw_cards(s, p, drawn)
    _lay_off(s, seat, laid)
    _take(s, seat, new)
    _log(s, seat, SAY_EXCHANGE, size)


@jit
def _take(s: State, seat: Int, cards: Mask) -> None:
    s.hand[seat] |= cards
    s.owned[seat] |= cards


@jit
def _lay_off(s: State, seat: Int, cards: Mask) -> None:
    s.hand[seat] &= ~cards
    s.discards |= cards
    s.laid[seat] |= cards
    s.buried[seat] |= cards
