"""What one seat may know: the only door through which information leaves the state (design 6)."""

from __future__ import annotations

from bestia_env._bits import EMPTY, Int, count
from bestia_env._jit import jit_for
from bestia_env.rams.codes import TABLE_STAKES
from bestia_env.rams.engine import mask
from bestia_env.rams.state import NOBODY, Parameters, State, View

jit = jit_for("rams")


@jit
def relative(seat: Int, viewer: Int, num_players: Int) -> Int:
    """A seat as the viewer counts: 0 is the viewer, 1 the next seat; nobody stays nobody."""
    if seat < 0:
        return NOBODY
    return seat - viewer if seat >= viewer else seat - viewer + num_players


@jit
def observe(s: State, p: Parameters, seat: Int, v: View) -> None:
    """Fills the View ``v`` with what ``seat`` knows.

    Every place a game of these rules uses is written; what lies beyond its seats, tricks, log and actions is left as
    it is (zeros, where the View was made by this package).
    """
    n = p.num_players
    v.num_players = n
    v.phase = s.phase
    v.actor = relative(s.actor, seat, n)
    v.dealer = relative(s.dealer, seat, n)
    v.forced = s.forced
    v.principal = relative(s.principal, seat, n)
    v.first_in = relative(s.first_in, seat, n)
    v.turn_up = s.turn_up
    v.turn_up_taken = s.turn_up_taken
    v.extra_hand = s.extra_hand != EMPTY
    v.stock_left = s.stock_end - s.stock_next
    v.discards = count(s.discards)
    v.reshuffles = s.reshuffles
    v.turns_left = s.turns_left
    v.circuit = s.circuit
    _observe_money(s, p, v)
    _observe_own_cards(s, p, seat, v)
    _observe_table(s, p, seat, v)


@jit
def _observe_money(s: State, p: Parameters, v: View) -> None:
    v.carry = s.carry
    v.ante = s.ante
    v.pot_before = s.pot_before
    v.pot = s.pot
    v.risk = s.risk
    v.cap = p.penalty_cap


@jit
def _observe_own_cards(s: State, p: Parameters, seat: Int, v: View) -> None:
    v.hand = s.hand[seat]
    v.first_hand = s.first_hand[seat]
    v.owned = s.owned[seat]
    v.laid = s.laid[seat]
    v.buried = s.buried[seat]
    if s.actor == seat:
        v.exchange_cards = s.exchange_cards
        mask(s, p, v.legal)
    else:
        v.exchange_cards = EMPTY
        for action in range(p.num_actions):
            v.legal[action] = 0


@jit
def _observe_table(s: State, p: Parameters, seat: Int, v: View) -> None:
    n = p.num_players
    place = n - seat if seat > 0 else 0
    for other in range(n):
        if place == n:
            place = 0
        v.status[place] = s.status[other]
        v.tricks[place] = s.tricks[other]
        v.held[place] = count(s.hand[other])
        v.lying[place] = count(s.buried[other])
        v.antes[place] = s.antes[other]
        v.credits[place] = s.credits[other] if p.stakes == TABLE_STAKES else 0
        for trick in range(p.hand_size):
            v.plays[trick, place] = s.plays[trick, other]
        place += 1
    v.trick = s.trick
    v.leader = relative(s.leader, seat, n)
    for entry in range(s.log_length):
        v.log_verb[entry] = s.log_verb[entry]
        v.log_count[entry] = s.log_count[entry]
        v.log_seat[entry] = relative(s.log_seat[entry], seat, n)
    for entry in range(s.log_length, p.max_log):
        v.log_verb[entry] = 0
        v.log_count[entry] = 0
        v.log_seat[entry] = 0
    v.log_length = s.log_length
