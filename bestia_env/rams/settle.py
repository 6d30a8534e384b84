"""Antes, stakes, shares, penalties, and the score of a deal (rules: rams 2.4 and 5; design 8.3)."""

from __future__ import annotations

from bestia_env._bits import Array, Int
from bestia_env._jit import jit_for
from bestia_env.rams.bidding import seats_with
from bestia_env.rams.codes import (
    ALL_ANTE,
    AWARD_PER_TRICK,
    AWARD_QUOTA_SPLIT,
    AWAY,
    IN,
    REMAINDER_TO_WINNER,
    TABLE_STAKES,
)
from bestia_env.rams.state import NOBODY, Parameters, State

jit = jit_for("rams")


@jit
def pay(s: State, seat: Int, chips: Int) -> None:
    """A seat pays chips into the pot."""
    s.credits[seat] -= chips
    s.pot += chips


@jit
def collect_antes(s: State, p: Parameters) -> None:
    """The pot of the deal: carry and antes; with table stakes nobody antes or risks what he does not have."""
    s.pot = s.carry
    s.ante = p.ante
    if p.stakes == TABLE_STAKES:
        s.ante = min(p.ante, _least_credit(s, p))
    for seat in range(p.num_players):
        pays = s.status[seat] != AWAY if p.ante_payer == ALL_ANTE else seat == s.dealer
        s.antes[seat] = 0
        if pays:
            s.antes[seat] = s.ante // 2 if seat == s.half_ante else s.ante
            pay(s, seat, s.antes[seat])
    s.half_ante = NOBODY
    s.pot_before = s.pot
    s.risk = s.pot
    if p.stakes == TABLE_STAKES:
        s.risk = min(s.pot, _least_credit(s, p))


@jit
def _least_credit(s: State, p: Parameters) -> Int:
    least = s.credits[s.dealer]
    for seat in range(p.num_players):
        if s.status[seat] != AWAY:
            least = min(least, s.credits[seat])
    return least


@jit
def collect_stakes(s: State, p: Parameters) -> None:
    """Two or more participants pay to stay."""
    for seat in range(p.num_players):
        if s.status[seat] == IN and p.stay_stake > 0:
            pay(s, seat, p.stay_stake)
            s.risk = s.pot


@jit
def stake(s: State, p: Parameters, seat: Int) -> Int:
    """What a seat has paid to stay."""
    return p.stay_stake if s.status[seat] == IN and s.num_in > 1 else 0


@jit
def penalty_base(s: State, p: Parameters) -> Int:
    """What a simple bestia pays: the pot or the risk, up to the cap."""
    return min(s.risk, p.penalty_cap) if p.penalty_cap >= 0 else s.risk


@jit
def _quota(s: State, p: Parameters, seat: Int) -> Int:
    return p.quota_principal if seat == s.principal else p.quota_others


@jit
def _penalty(s: State, p: Parameters, seat: Int) -> Int:
    """What a participant pays who missed his quota; fractions are rounded up."""
    base = penalty_base(s, p)
    if seat != s.principal:
        return base
    if s.tricks[seat] == 0:
        return -(-base * p.empty_top // p.empty_bottom)
    return -(-base * p.short_top // p.short_bottom)


@jit
def _share_per_trick(s: State, p: Parameters, pot: Int) -> None:
    for seat in range(p.num_players):
        s.shares[seat] = pot // p.hand_size * s.tricks[seat]


@jit
def _share_by_quota(s: State, p: Parameters, pot: Int) -> bool:
    """The participants with their quota share the pot equally; nobody has it: it stays."""
    winners = 0
    for seat in range(p.num_players):
        winners += s.status[seat] == IN and s.tricks[seat] >= _quota(s, p, seat)
    for seat in range(p.num_players):
        if s.status[seat] == IN and s.tricks[seat] >= _quota(s, p, seat):
            s.shares[seat] = pot // winners
    return winners > 0


@jit
def strictly_best(s: State, p: Parameters) -> Int:
    """The seat with more tricks than any other, or -1."""
    best = NOBODY
    most = 0
    for seat in range(p.num_players):
        if s.tricks[seat] > most:
            most = s.tricks[seat]
            best = seat
        elif s.tricks[seat] == most:
            best = NOBODY
    return best


@jit
def _share_pot(s: State, p: Parameters, pot: Int) -> bool:
    """Divides what the rake left among the seats that played, a lone participant takes all; False: nobody wins it."""
    if s.num_in == 1:
        for seat in range(p.num_players):
            if s.status[seat] == IN:
                s.shares[seat] = pot
    elif p.pot_award == AWARD_PER_TRICK:
        _share_per_trick(s, p, pot)
    elif p.pot_award == AWARD_QUOTA_SPLIT:
        return _share_by_quota(s, p, pot)
    else:
        best = strictly_best(s, p)
        if best == NOBODY:
            return False
        s.shares[best] = pot
    return True


@jit
def _total(chips: Array, num_players: Int) -> Int:
    total = 0
    for seat in range(num_players):
        total += chips[seat]
    return total


@jit
def settle(s: State, p: Parameters) -> None:
    """Shares and penalties of a deal that was played, walked over or passed out."""
    clear_settlement(s)
    awarded = s.num_in > 0 and _share_pot(s, p, s.pot)
    if awarded and p.rake_bp > 0:
        s.rake = s.pot * p.rake_bp // 10_000
        _share_pot(s, p, s.pot - s.rake)
    # A pot with fewer chips than shares is awarded too, all of it as remainder.
    left = s.pot - s.rake - _total(s.shares, p.num_players)
    if p.remainder == REMAINDER_TO_WINNER and awarded and left > 0:
        s.shares[s.winners[0]] += left
    s.without_bestia = 1
    if s.num_in > 1:
        for seat in range(p.num_players):
            if s.status[seat] == IN and s.tricks[seat] < _quota(s, p, seat):
                s.penalties[seat] = _penalty(s, p, seat)
                s.without_bestia = 0
    discount = 0
    if p.best_principal_half_ante != 0 and s.principal != NOBODY and strictly_best(s, p) == s.principal:
        s.half_ante = s.principal
        discount = p.ante - p.ante // 2  # credited also if it lapses because he does not ante
    _book(s, p, discount)


@jit
def forfeit(s: State, p: Parameters, offender: Int) -> None:
    """The game ends because a seat acted illegally: it pays a full bestia into the carry, nobody else gains or pays."""
    clear_settlement(s)
    s.penalties[offender] = penalty_base(s, p)
    _book(s, p, 0)


@jit
def clear_settlement(s: State) -> None:
    """Nothing is settled yet."""
    s.shares[:] = 0
    s.penalties[:] = 0
    s.split[:] = 0
    s.rake = 0
    s.settled_dealer = 0
    s.settled_forced = 0
    s.settled_principal = 0
    s.settled_tricks[:] = 0
    s.settled_in[:] = 0
    s.settled_carry = 0
    s.settled_pot = 0
    s.carry_after = 0


@jit
def _book(s: State, p: Parameters, discount: Int) -> None:
    """Chips move, the settlement is kept, net chips and score of the deal are booked once."""
    s.carry_after = s.pot - s.rake - _total(s.shares, p.num_players) + _total(s.penalties, p.num_players)
    s.rake_taken += s.rake
    s.settled_carry = s.carry
    s.settled_pot = s.pot
    s.settled_dealer = s.dealer
    s.settled_forced = s.forced
    s.settled_principal = s.principal
    entitled = p.num_players - seats_with(s, p, AWAY)
    s.score_base = entitled * s.pot_before
    for seat in range(p.num_players):
        won = s.shares[seat] - s.penalties[seat]
        s.credits[seat] += won
        s.net[seat] = won - s.antes[seat] - stake(s, p, seat)
        s.settled_tricks[seat] = s.tricks[seat]
        s.settled_in[seat] = s.status[seat] == IN
        s.score_top[seat] = 0
        if s.status[seat] != AWAY and s.pot_before > 0:
            credited = won - stake(s, p, seat) + (discount if seat == s.half_ante else 0)
            s.score_top[seat] = entitled * credited + s.carry_after - discount - s.pot_before
    if s.score_base == 0:
        s.score_base = 1
    s.carry = s.carry_after
    s.pot = 0
