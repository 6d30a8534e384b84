"""Deals in a row: what a game begins with, and what follows a deal (rules: rams 2.5)."""

from __future__ import annotations

from bestia_env._bits import Int
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    ALL_ANTE,
    AWAY,
    DEALING,
    FORCED_AFTER_NO_BESTIA,
    FORCED_ON_BARE_ANTE,
    OVER,
    TABLE_STAKES,
)
from bestia_env.rams.state import NOBODY, TABLE_SIZE, Parameters, State
from bestia_env.rams.stock import next_seat, shuffle
from bestia_env.rng import FIRST_DEALER, START_CARRY, START_TYPICAL, below, deal_key
from bestia_env.session import MAX_CHIPS

jit = jit_for("rams")


@jit
def prepare(s: State, p: Parameters) -> None:
    """The session before its first deal: dealer, carry, forced or not, credits (rules: rams 2.5)."""
    s.deal = 0
    s.dealer = p.dealer
    if p.dealer < 0:
        s.dealer = below(deal_key(s.key, 0, FIRST_DEALER), 0, p.num_players)
    s.carry = p.carry_low
    s.forced = p.forced_first
    if p.carry_count > 1:
        s.carry += p.carry_step * below(deal_key(s.key, 0, START_CARRY), 0, p.carry_count)
    if p.carry_typical != 0 or p.forced_typical != 0:
        entry = below(deal_key(s.key, 0, START_TYPICAL), 0, TABLE_SIZE)
        if p.carry_typical != 0:
            s.carry = p.table_carry[entry]
        if p.forced_typical != 0:
            s.forced = p.table_forced[entry]
    if p.forced_deal == FORCED_ON_BARE_ANTE:
        s.forced = 1 if s.carry == 0 else 0
    s.half_ante = NOBODY
    s.without_bestia = 0
    s.rake_taken = 0
    for seat in range(p.num_players):
        s.credits[seat] = p.credits[seat]
        s.entitled[seat] = 1
    s.planned[:, 0] = -1


@jit
def after_deal(s: State, p: Parameters) -> None:
    """The next deal begins, or the session ends (rules: rams 2.5)."""
    played = s.deal + 1
    if played >= p.num_deals:
        if p.play_on == 0:
            end_game(s)
            return
        if s.carry < p.divisor or played >= p.num_deals + 3 * p.num_players:
            _split_pot(s, p)
            end_game(s)
            return
    if _entitle(s, p) < 2:
        _split_pot(s, p)
        end_game(s)
        return
    ante_payers = p.num_players if p.ante_payer == ALL_ANTE else 1
    if p.pot_growth * (s.carry + ante_payers * p.ante + p.num_players * p.stay_stake) > MAX_CHIPS:
        s.truncated = 1
        end_game(s)
        return
    s.deal = played
    s.dealer = next_seat(s.dealer, p)
    while s.entitled[s.dealer] == 0:
        s.dealer = next_seat(s.dealer, p)
    s.forced = 0
    if p.forced_deal == FORCED_AFTER_NO_BESTIA:
        s.forced = s.without_bestia
    elif p.forced_deal == FORCED_ON_BARE_ANTE:
        s.forced = 1 if s.carry == 0 else 0
    s.planned[:, 0] = -1
    shuffle(s, p)
    s.phase = DEALING


@jit
def _entitle(s: State, p: Parameters) -> Int:
    """Who may win the next pot: everybody once it is empty; with table stakes nobody without chips (rules: rams 5)."""
    seats = 0
    for seat in range(p.num_players):
        may = s.carry == 0 or s.entitled[seat] != 0
        broke = p.stakes == TABLE_STAKES and s.credits[seat] <= 0
        s.entitled[seat] = 1 if may and not broke else 0
        seats += s.entitled[seat]
    return seats


@jit
def _split_pot(s: State, p: Parameters) -> None:
    """What lies in the pot when a session ends is split equally, odd chips to the seats after the last dealer.

    It goes to the seats still entitled; if all were eliminated at once, to all that were in the deal.
    """
    sharing = 0
    for seat in range(p.num_players):
        sharing += s.entitled[seat]
    if sharing == 0:
        for seat in range(p.num_players):
            s.entitled[seat] = 1 if s.status[seat] != AWAY else 0
            sharing += s.entitled[seat]
    odd = s.carry % sharing
    after: Int = s.dealer
    for _ in range(p.num_players):
        after = next_seat(after, p)
        if s.entitled[after] != 0:
            s.split[after] = s.carry // sharing + (1 if odd > 0 else 0)
            odd -= 1
            s.credits[after] += s.split[after]
            s.net[after] += s.split[after]
    s.carry = 0


@jit
def end_game(s: State) -> None:
    """The game is over."""
    s.phase = OVER
    s.over = 1
    s.actor = NOBODY
