"""One deal after another: what begins, what is asked, what an action does (rules: rams 2).

All functions work on one state record ``s`` and one parameter record ``p``. Once a game is prepared (``session.py``)
and its cards are shuffled or chosen by hand, ``begin`` begins it and ``apply`` plays one legal action; after each of
the two ``advance`` moves on until a seat must decide or the game is over. It leaves the open decision in the record
(``may``, ``exchange_…``, ``may_play``), so legality is worked out once a decision. The batch loops make that call,
because compiled code is optimised anew in every function that contains it.
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import EMPTY, ONE, Array, Int, Mask, bit, count, lowest, nth
from bestia_env._jit import jit_for
from bestia_env.rams.bidding import (
    after_declaration,
    begin_round,
    close_declare,
    eldest,
    exchange,
    go_in,
    next_turn,
    open_declare,
    open_exchange,
    open_second_chance,
    say_declare,
    say_second_chance,
    seats_with,
)
from bestia_env.rams.codes import (
    AWAY,
    DEALING,
    DECLARE,
    EXCHANGE,
    IN,
    OVER,
    PLAY,
    SECOND_CHANCE,
    SETTLE,
    STAKES_DUE,
    UNSPOKEN,
    WHILE_DECLARING,
)
from bestia_env.rams.session import after_deal, end_game
from bestia_env.rams.settle import clear_settlement, collect_antes, collect_stakes, settle
from bestia_env.rams.settle import forfeit as book_forfeit
from bestia_env.rams.state import NOBODY, Parameters, State
from bestia_env.rams.stock import deal_cards, next_seat
from bestia_env.rams.tricks import open_play, play_card, start_play
from bestia_env.rng import below

jit = jit_for("rams")


# --- a game begins --------------------------------------------------------------------------------------------------


@jit
def begin(s: State, p: Parameters) -> None:
    """Begins the game whose first deal is set up: pack order, dealer, carry, entitled seats."""
    s.over = 0
    s.truncated = 0
    s.net[:] = 0
    s.score_top[:] = 0
    s.score_base = 1
    clear_settlement(s)
    s.phase = DEALING


@jit
def _begin_deal(s: State, p: Parameters) -> None:
    """Antes and cards; then the declaring, or nobody is asked and all must play."""
    _clear_deal(s, p)
    collect_antes(s, p)
    deal_cards(s, p)
    if s.forced != 0:
        for seat in range(p.num_players):
            if s.status[seat] != AWAY:
                s.status[seat] = IN
        s.phase = STAKES_DUE
    else:
        s.phase = DECLARE
        begin_round(s, p, eldest(s, p), p.num_players * (p.max_circuits + 1))


@jit
def _clear_deal(s: State, p: Parameters) -> None:
    s.decision = 0
    s.hand[:] = EMPTY
    s.first_hand[:] = EMPTY
    s.owned[:] = EMPTY
    s.laid[:] = EMPTY
    s.buried[:] = EMPTY
    s.discards = EMPTY
    s.extra_hand = EMPTY
    s.played = EMPTY
    s.first_in = NOBODY
    s.principal = NOBODY
    for entry in range(s.log_length):
        s.log_verb[entry] = 0
        s.log_count[entry] = 0
        s.log_seat[entry] = 0
    s.log_length = 0
    s.num_in = 0
    s.turns_left = 0  # a forced deal begins no round: else its View would tell of the deal before
    s.circuit = 0
    for trick in range(len(s.plays)):
        s.winners[trick] = NOBODY
        for seat in range(p.num_players):
            s.plays[trick, seat] = -1
    s.tricks[:] = 0
    start_play(s, p, NOBODY)
    for seat in range(p.num_players):
        s.status[seat] = UNSPOKEN if s.entitled[seat] != 0 else AWAY


# --- from decision to decision --------------------------------------------------------------------------------------


@jit
def close_decision(s: State) -> None:
    """Nobody is asked."""
    s.actor = NOBODY
    s.may = 0
    s.exchange_least = 0
    s.exchange_most = -1
    s.exchange_cards = EMPTY
    s.may_play = EMPTY


@jit
def advance(s: State, p: Parameters) -> Int:
    """Moves on until a seat must decide or the game is over; returns how many deals ended."""
    settled = 0
    while s.phase != OVER:
        close_decision(s)
        if s.phase == DEALING:
            _begin_deal(s, p)
        elif s.phase == DECLARE:
            if open_declare(s, p):
                break
            close_declare(s, p)
            if p.second_chance != 0:
                s.phase = SECOND_CHANCE
                begin_round(s, p, eldest(s, p), p.num_players)
            else:
                s.phase = STAKES_DUE
        elif s.phase == SECOND_CHANCE:
            if open_second_chance(s, p):
                break
            s.phase = STAKES_DUE
        elif s.phase == STAKES_DUE:
            _after_bidding(s, p)
        elif s.phase == EXCHANGE:
            if open_exchange(s, p):
                break
            _begin_tricks(s, p)
        elif s.phase == PLAY:
            if open_play(s, p):
                break
            s.phase = SETTLE
        else:
            settle(s, p)
            settled += 1
            after_deal(s, p)
    return settled


@jit
def reopen(s: State, p: Parameters) -> None:
    """Works out the open decision of a record whose table was set up without it."""
    if s.phase == DECLARE:
        open_declare(s, p)
    elif s.phase == SECOND_CHANCE:
        open_second_chance(s, p)
    elif s.phase == EXCHANGE:
        open_exchange(s, p)
    else:
        open_play(s, p)


@jit
def _after_bidding(s: State, p: Parameters) -> None:
    """Who plays is known: the stakes, then exchanges or the first trick; nobody or one alone needs no play."""
    s.num_in = seats_with(s, p, IN)
    if s.num_in < 2:
        s.phase = SETTLE
        return
    collect_stakes(s, p)
    if p.exchange_max > 0 and p.exchange_when != WHILE_DECLARING:
        s.phase = EXCHANGE
        begin_round(s, p, s.principal if s.principal != NOBODY else eldest(s, p), p.num_players)
    else:
        _begin_tricks(s, p)


@jit
def _begin_tricks(s: State, p: Parameters) -> None:
    s.phase = PLAY
    leader = s.principal
    if p.principal_leads == 0 or leader == NOBODY:
        leader = eldest(s, p)
        while s.status[leader] != IN:
            leader = next_seat(leader, p)
    start_play(s, p, leader)


# --- actions --------------------------------------------------------------------------------------------------------


@jit
def apply(s: State, p: Parameters, action: Int) -> None:
    """Plays one legal action of the actor."""
    s.decision += 1
    if action >= p.first_card:
        play_card(s, p, action - p.first_card)
    elif action >= p.first_exchange:
        exchange(s, p, action - p.first_exchange)
        if s.phase == DECLARE:
            go_in(s, p, s.actor)
            after_declaration(s, p)
        else:
            next_turn(s, p)
    elif s.phase == DECLARE:
        say_declare(s, p, p.action_verb[action])
        after_declaration(s, p)
    else:
        say_second_chance(s, p, p.action_verb[action])


@jit
def forfeit(s: State, p: Parameters, seat: Int) -> None:
    """The game ends because ``seat`` acted illegally: booked as bestia, nobody else gains or pays (design 7)."""
    book_forfeit(s, p, seat)
    close_decision(s)
    end_game(s)


@jit
def is_legal(s: State, p: Parameters, action: Int) -> bool:
    """Whether the actor may take an action of the layout."""
    if s.actor < 0 or action < 0 or action >= p.num_actions:
        return False
    if action >= p.first_card:
        return s.may_play & bit(action - p.first_card) != EMPTY
    if action >= p.first_exchange:
        return _may_exchange(s, action - p.first_exchange)
    return s.may >> p.action_verb[action] & 1 != 0


@jit
def _may_exchange(s: State, chosen: Int) -> bool:
    if s.exchange_most < 0 or chosen >> count(s.exchange_cards) != 0:
        return False
    return s.exchange_least <= count(np.uint64(chosen)) <= s.exchange_most


@jit
def mask(s: State, p: Parameters, out: Array) -> None:
    """Writes 1 for every action the actor may take, else 0, to the first ``num_actions`` places."""
    for action in range(p.num_actions):
        out[action] = 0
    for verb in range(6):
        if s.may >> verb & 1:
            out[p.verb_action[verb]] = 1
    if s.exchange_most >= 0:
        for chosen in range(1 << count(s.exchange_cards)):
            if _may_exchange(s, chosen):
                out[p.first_exchange + chosen] = 1
    cards = s.may_play
    while cards != EMPTY:
        out[p.first_card + lowest(cards)] = 1
        cards &= cards - ONE


@jit
def pick(s: State, p: Parameters, key: Mask) -> Int:
    """A uniformly random legal action of the actor, from one random number."""
    verbs = count(np.uint64(s.may))
    cards = count(s.may_play)
    subsets: Int = 0
    all_subsets: Int = 0
    if s.exchange_most >= 0:
        size = count(s.exchange_cards)
        all_subsets = 1 << size
        subsets = all_subsets
        if s.exchange_least > 0 or s.exchange_most < size:
            subsets = 0
            for chosen in range(all_subsets):
                subsets += _may_exchange(s, chosen)
    choice = below(key, 0, verbs + subsets + cards)
    if choice < verbs:
        return p.verb_action[nth(np.uint64(s.may), choice)]
    choice -= verbs
    if choice >= subsets:
        return p.first_card + nth(s.may_play, choice - subsets)
    if subsets == all_subsets:
        return p.first_exchange + choice
    for chosen in range(all_subsets):
        if _may_exchange(s, chosen):
            if choice == 0:
                return p.first_exchange + chosen
            choice -= 1
    return p.first_exchange
