"""One lay after another: what a card does, who takes the pile, when the game ends (rules: bettelmann 3.2, decisions).

All functions work on one state record ``s`` and one parameter record ``p``. ``prepare``, ``shuffle`` and ``begin`` set
up a game, ``apply`` lays one card, ``advance`` moves on until a seat must lay or the game is over. A step is: lay, take
the pile if it is paid, win check, limit check, then seats found without cards are out.
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import Array, Int, Mask
from bestia_env._jit import jit_for
from bestia_env.bettelmann.state import (
    CAP,
    CLOSE,
    CYCLE,
    FORFEIT,
    IMMEDIATE,
    LAY,
    LIMIT,
    NEVER,
    NO_CYCLE,
    NOBODY,
    NOT_SOUGHT,
    OVER,
    RING,
    RUNNING,
    SCORE_BASE,
    STACKS_ONLY,
    STATE,
    WIN,
    Parameters,
    State,
)
from bestia_env.rng import PACK_ORDER, below, deal_key

jit = jit_for("bettelmann")


# --- a game begins ----------------------------------------------------------------------------------------------------


@jit
def prepare(s: State, p: Parameters) -> None:
    """Readies the record for its first and only deal."""
    s.deal = 0


@jit
def shuffle(s: State, p: Parameters) -> None:
    """A pack shuffled by the game's address is dealt one by one from seat 0, first card on top."""
    for card in range(p.num_cards):
        s.pile[card] = card
    mix_pile(s, p.num_cards, deal_key(s.key, s.deal, PACK_ORDER))
    for seat in range(len(s.held)):
        s.held[seat] = 0
    for place in range(p.num_cards):
        seat = place % p.num_players
        s.stack[seat, s.held[seat]] = s.pile[place]
        s.held[seat] += 1


@jit
def mix_pile(s: State, size: Int, key: Mask) -> None:
    """Shuffles the first ``size`` cards of the pile (Fisher and Yates)."""
    for place in range(size - 1):
        other = place + below(key, place, size - place)
        card = s.pile[other]
        s.pile[other] = s.pile[place]
        s.pile[place] = card


@jit
def begin(s: State, p: Parameters) -> None:
    """Begins the game whose stacks are set up, top cards at place 0; two seats or more hold cards."""
    clear_table(s, p)
    if p.elimination == IMMEDIATE:
        _put_out_empty(s, p)


@jit
def clear_table(s: State, p: Parameters) -> None:
    """Everything but address and stacks as it is before the first card."""
    s.decision = 0
    s.phase = LAY
    s.truncated = 0
    s.over = 0
    for seat in range(len(s.net)):
        s.net[seat] = 0.0
        s.score_top[seat] = 0
    s.score_base = SCORE_BASE
    s.turn = 0
    s.owner = NOBODY
    s.due = 0
    s.last_seat = NOBODY
    s.num_in = p.num_players
    s.cards = 0
    s.piles = 0
    s.cycle_piles = NOT_SOUGHT
    s.result = RUNNING
    s.pile_length = 0
    for place in range(len(s.pile)):
        s.pile[place] = NOBODY
    for seat in range(len(s.held)):
        s.out[seat] = 0
        s.won[seat] = 0
        s.head[seat] = 0
        for place in range(s.held[seat], RING):
            s.stack[seat, place] = NOBODY


# --- one lay ----------------------------------------------------------------------------------------------------------


@jit
def apply(s: State, p: Parameters, action: Int) -> None:
    """Lays the actor's top card: the one action there is. Before the first, the game is looked ahead for a cycle."""
    if s.cycle_piles == NOT_SOUGHT:
        s.cycle_piles = find_cycle(s, p)
    s.decision += 1
    lay(s, p)


@jit
def advance(s: State, p: Parameters) -> Int:
    """Moves on until a seat must lay or the game is over; returns how many deals ended."""
    result = move_on(s, p, p.limit, p.hard_cap)
    if result == RUNNING and s.pile_length == 0 and s.piles == s.cycle_piles:
        result = CYCLE
    if result == RUNNING:
        s.actor = s.turn
        return 0
    _end(s, p, result)
    return 1


@jit
def lay(s: State, p: Parameters) -> None:
    """The top card of the seat whose turn it is, what it does to debt and pile, and whose turn is next."""
    seat = np.int64(s.turn)
    card = np.int64(s.stack[seat, s.head[seat]])
    s.head[seat] = (s.head[seat] + 1) % RING
    s.held[seat] -= 1
    s.pile[s.pile_length] = card
    s.pile_length += 1
    s.cards += 1
    s.last_seat = seat
    if p.penalty[card] > 0:
        s.owner = seat
        s.due = p.penalty[card]
        s.turn = _next_in(s, p, seat)
    elif s.due == 0:
        s.turn = _next_in(s, p, seat)
    else:
        s.due -= 1
        if s.due == 0 or (s.held[seat] == 0 and p.partial == CLOSE):
            _take_pile(s, np.int64(s.owner))
        elif s.held[seat] == 0:
            _turn_to_next(s, p, seat)
    if p.elimination == IMMEDIATE:
        _put_out_empty(s, p)


@jit
def move_on(s: State, p: Parameters, limit: Int, hard_cap: Int) -> Int:
    """Ends the game or finds the next seat that can lay; seats met without cards are out. Returns the result so far."""
    while True:
        if _winner(s, p) != NOBODY:
            return WIN
        if s.cards >= limit and (p.on_limit == STACKS_ONLY or s.pile_length == 0):
            return LIMIT
        if s.cards >= hard_cap:
            return CAP
        if s.held[s.turn] > 0:
            return RUNNING
        seat = np.int64(s.turn)
        s.num_in -= 1 - s.out[seat]
        s.out[seat] = 1
        _turn_to_next(s, p, seat)


@jit
def _next_in(s: State, p: Parameters, seat: Int) -> Int:
    """The next seat clockwise that is not out."""
    seat = (seat + 1) % p.num_players
    while s.out[seat] != 0:
        seat = (seat + 1) % p.num_players
    return seat


@jit
def _turn_to_next(s: State, p: Parameters, seat: Int) -> None:
    """The seat after ``seat`` owes what is due; a debt that has come round to its owner is settled."""
    s.turn = _next_in(s, p, seat)
    if s.turn == s.owner:
        _take_pile(s, np.int64(s.owner))


@jit
def _take_pile(s: State, seat: Int) -> None:
    """The pile goes unshuffled under the stack of ``seat``, first card laid first, and he opens the next."""
    for place in range(s.pile_length):
        s.stack[seat, (s.head[seat] + s.held[seat] + place) % RING] = s.pile[place]
    s.held[seat] += s.pile_length
    s.pile_length = 0
    s.piles += 1
    s.owner = NOBODY
    s.due = 0
    s.turn = seat


@jit
def _put_out_empty(s: State, p: Parameters) -> None:
    """With immediate elimination only the owner of the pending penalty stays in without cards."""
    for seat in range(p.num_players):
        if s.held[seat] == 0 and seat != s.owner and s.out[seat] == 0:
            s.out[seat] = 1
            s.num_in -= 1


# --- the end ----------------------------------------------------------------------------------------------------------


@jit
def _winner(s: State, p: Parameters) -> Int:
    """The seat that has won, or nobody."""
    holding = 0
    holder = NOBODY
    for seat in range(p.num_players):
        if s.held[seat] > 0:
            holding += 1
            holder = seat
    if holding == 0:
        return s.owner if s.owner != NOBODY else s.last_seat
    if holding == 1 and (s.pile_length == 0 or s.num_in == 1):
        return holder
    return NOBODY


@jit
def _end(s: State, p: Parameters, result: Int) -> None:
    """Whose game it is: the winner's, who takes what lies; at a limit the largest stacks'; else all that hold cards."""
    if result == WIN:
        seat = _winner(s, p)
        if s.pile_length > 0:
            _take_pile(s, seat)
        s.won[seat] = 1
    else:
        least = 1
        if result == LIMIT:
            for seat in range(p.num_players):
                least = max(least, s.held[seat])
        for seat in range(p.num_players):
            s.won[seat] = s.held[seat] >= least
    s.truncated = result == CAP
    _book(s, p, result)


@jit
def forfeit(s: State, p: Parameters, seat: Int) -> None:
    """The game ends because ``seat`` acted illegally: it loses, and the other seats not yet out share the win."""
    for other in range(p.num_players):
        s.won[other] = other != seat and s.out[other] == 0
    _book(s, p, FORFEIT)


@jit
def _book(s: State, p: Parameters, result: Int) -> None:
    """A win of k seats is worth k - 1, a share in it as much less; every other seat pays 1."""
    sharing = 0
    for seat in range(p.num_players):
        sharing += s.won[seat]
    for seat in range(p.num_players):
        s.score_top[seat] = -SCORE_BASE
        if s.won[seat] != 0:
            s.score_top[seat] = SCORE_BASE * (p.num_players - sharing) // sharing
        s.net[seat] = s.score_top[seat] / SCORE_BASE
    s.result = result
    s.phase = OVER
    s.over = 1
    s.actor = NOBODY


# --- games that go in circles -----------------------------------------------------------------------------------------


@jit
def find_cycle(s: State, p: Parameters) -> Int:
    """The number of piles taken when a position at the start of a pile first comes back, or NO_CYCLE.

    The deal decides it, so it is found once, before play, and the record needs no memory of positions. Brent's
    algorithm ("An improved Monte Carlo factorization algorithm", BIT 20, 1980) plays the game on two spare records. It
    sees a repeat before three times as many piles as the first repeat takes, and a pile holds a card at least: later
    than three times the limit, a repeat would not be met in play.
    """
    if p.detect_cycle == 0:
        return NO_CYCLE
    spare = np.zeros(3, STATE)
    first, slow, fast = spare[0], spare[1], spare[2]
    _copy_table(s, first)
    if s.pile_length > 0 and not _next_pile(first, p):
        return NO_CYCLE
    last_pile = first.piles + 3 * min(p.limit, p.hard_cap)
    _copy_table(first, slow)
    _copy_table(first, fast)
    period = 0
    power = 1
    while period == 0 or not _same_position(slow, fast, p):
        if period == power:
            _copy_table(fast, slow)
            power *= 2
            period = 0
        if not _next_pile(fast, p) or fast.piles > last_pile:
            return NO_CYCLE
        period += 1
    _copy_table(first, slow)
    _copy_table(first, fast)
    for _ in range(period):
        _next_pile(fast, p)
    while not _same_position(slow, fast, p):
        _next_pile(slow, p)
        _next_pile(fast, p)
    return fast.piles


@jit
def _copy_table(s: State, t: State) -> None:
    """Copies what play depends on from ``s`` to ``t`` (assigning a whole record takes seconds to compile)."""
    t.turn = s.turn
    t.owner = s.owner
    t.due = s.due
    t.num_in = s.num_in
    t.cards = s.cards
    t.piles = s.piles
    t.pile_length = s.pile_length
    for place in range(s.pile_length):
        t.pile[place] = s.pile[place]
    for seat in range(len(s.held)):
        t.out[seat] = s.out[seat]
        t.held[seat] = s.held[seat]
        t.head[seat] = s.head[seat]
        for place in range(RING):
            t.stack[seat, place] = s.stack[seat, place]


@jit
def _next_pile(s: State, p: Parameters) -> bool:
    """Plays until the next pile begins; False if the game is won before."""
    piles = s.piles
    while s.piles == piles:
        lay(s, p)
        if move_on(s, p, NEVER, NEVER) != RUNNING:
            return False
    return True


@jit
def _same_position(s: State, t: State, p: Parameters) -> bool:
    """Whether the same seat leads and all stacks have the same penalty values in the same order."""
    if s.turn != t.turn:
        return False
    for seat in range(p.num_players):
        if s.held[seat] != t.held[seat]:
            return False
    for seat in range(p.num_players):
        for place in range(s.held[seat]):
            card = s.stack[seat, (s.head[seat] + place) % RING]
            other = t.stack[seat, (t.head[seat] + place) % RING]
            if p.penalty[card] != p.penalty[other]:
                return False
    return True


# --- what drivers ask -------------------------------------------------------------------------------------------------


@jit
def is_legal(s: State, p: Parameters, action: Int) -> bool:
    """Whether the actor may take an action: laying is the only one."""
    return s.actor >= 0 and action == 0


@jit
def mask(s: State, p: Parameters, out: Array) -> None:
    """Writes 1 if somebody must lay, else 0."""
    out[0] = s.actor >= 0


@jit
def pick(s: State, p: Parameters, key: Mask) -> Int:
    """The one legal action."""
    return np.int64(0)
