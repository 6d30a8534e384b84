"""Antes, settlement and score of the Rams group as pure functions (rules: rams 2.4 and 5, design 8.3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

GUARD = 2**53


def divisor(rules: Mapping[str, Any]) -> int:
    """The d of section 2.4: what a pot must be a multiple of to be split without a rest."""
    if rules["pot_award"] == "per_trick":
        return int(rules["hand_size"])
    if rules["pot_award"] == "most_tricks":
        return 1
    principal_quota, others_quota = rules["quota"]
    quota = others_quota if rules["principal"] == "none" else min(principal_quota, others_quota)
    return math.lcm(*range(1, rules["hand_size"] // quota + 1))


def next_forced(rules: Mapping[str, Any], *, carry: int, first_deal: bool, previous_bestia: bool) -> bool:
    """Do the rules force everybody into the next deal (rules: rams 4, bestia_strict and tippen)?"""
    if rules["forced_deal"] == "after_no_bestia":
        return not first_deal and not previous_bestia
    if rules["forced_deal"] == "bare_ante":
        return carry == 0
    return False


def half_of(ante: int) -> int:
    """What the best principal of the last deal pays instead of the ante."""
    return ante // 2


def antes_of_deal(
    rules: Mapping[str, Any],
    *,
    dealer: int,
    half_ante: int | None,
    credits: Sequence[int],
    entitled: Sequence[bool],
) -> list[int]:
    """The ante of every seat; with table stakes nobody's is more than the poorest entitled seat has."""
    ante = rules["ante"]
    seated = [seat for seat in range(len(credits)) if entitled[seat]]
    if rules["stakes"] == "table" and seated:
        ante = min(ante, min(credits[seat] for seat in seated))
    antes = [0] * len(credits)
    for seat in seated:
        if rules["ante_payer"] == "all" or seat == dealer:
            antes[seat] = half_of(ante) if seat == half_ante else ante
    return antes


def risk_of_deal(pot: int, credits_after_ante: Sequence[int], entitled: Sequence[bool]) -> int:
    """What a bestia pays at table stakes (before a cap): never more than the poorest entitled seat still has."""
    return min([pot] + [credits_after_ante[seat] for seat in range(len(entitled)) if entitled[seat]])


@dataclass(frozen=True)
class Settlement:
    """What a deal pays; lists are by seat, in chips."""

    shares: list[int]
    penalties: list[int]
    rake: int
    carry_after: int
    bestie: list[int] = field(default_factory=list)
    best_principal: int | None = None


def quota_of(seat: int, principal: int | None, rules: Mapping[str, Any]) -> int:
    """How many tricks a participant needs so as not to go bestia."""
    principal_quota, others_quota = rules["quota"]
    return int(principal_quota if seat == principal else others_quota)


def settle(
    rules: Mapping[str, Any],
    *,
    pot: int,
    risk: int,
    tricks: Sequence[int],
    participants: Sequence[int],
    principal: int | None,
    first_winner: int | None,
) -> Settlement:
    """Settle a deal (rules: rams 2.4).

    Args:
        rules: the fields of section 3.
        pot: what lay on the table when the first card was led.
        risk: the base of a penalty before the cap: the pot, at table stakes the risk of section 5.
        tricks: tricks taken, by seat.
        participants: the seats that were in; one of them is a walk-over, none leaves the pot.
        principal: the seat with the principal's duties, if any.
        first_winner: who took the first trick.
    """
    seats = len(tricks)
    nothing = [0] * seats
    if not participants:
        return Settlement(shares=nothing, penalties=nothing, rake=0, carry_after=pot)
    rake = pot * rules["rake_bp"] // 10_000
    if len(participants) == 1:
        shares = [pot - rake if seat in participants else 0 for seat in range(seats)]
        return Settlement(shares=shares, penalties=nothing, rake=rake, carry_after=0)
    shares = award(rules, pot - rake, tricks, participants, principal, first_winner)
    if not any(shares):
        rake = 0
    bestie = [seat for seat in participants if tricks[seat] < quota_of(seat, principal, rules)]
    penalties = [penalty(rules, seat, risk, tricks, principal) if seat in bestie else 0 for seat in range(seats)]
    best_principal = None
    if rules["best_principal_half_ante"] and principal is not None:
        others = [tricks[seat] for seat in participants if seat != principal]
        if tricks[principal] > max(others):
            best_principal = principal
    carry_after = pot - rake - sum(shares) + sum(penalties)
    return Settlement(shares, penalties, rake, carry_after, bestie, best_principal)


def award(
    rules: Mapping[str, Any],
    prize: int,
    tricks: Sequence[int],
    participants: Sequence[int],
    principal: int | None,
    first_winner: int | None,
) -> list[int]:
    """Split the prize (the pot without the rake); what is not handed out stays in the pot."""
    shares = [0] * len(tricks)
    match rules["pot_award"]:
        case "per_trick":
            part = prize // rules["hand_size"]
            for seat in participants:
                shares[seat] = part * tricks[seat]
        case "quota_split":
            made_it = [seat for seat in participants if tricks[seat] >= quota_of(seat, principal, rules)]
            if not made_it:
                return shares
            for seat in made_it:
                shares[seat] = prize // len(made_it)
        case "most_tricks":
            most = max(tricks[seat] for seat in participants)
            best = [seat for seat in participants if tricks[seat] == most]
            if len(best) == 1:
                shares[best[0]] = prize
            return shares
        case _:
            raise ValueError(f"pot_award: {rules['pot_award']!r} is not a value of section 3")
    if rules["remainder"] == "first_trick_winner" and first_winner is not None:
        shares[first_winner] += prize - sum(shares)
    return shares


def penalty(rules: Mapping[str, Any], seat: int, risk: int, tricks: Sequence[int], principal: int | None) -> int:
    """What a seat that missed its quota pays: multiplier × min(base, cap), rounded up."""
    cap = rules["penalty_cap"]
    base = risk if cap is None else min(risk, cap)
    if seat != principal:
        return base
    no_trick, some_but_short = rules["principal_penalty"]
    return math.ceil(Fraction(no_trick if tricks[seat] == 0 else some_but_short) * base)


def equity_score(
    rules: Mapping[str, Any],
    *,
    pot0: int,
    shares: Sequence[int],
    penalties: Sequence[int],
    stakes_paid: Sequence[int],
    carry_after: int,
    entitled: Sequence[bool],
    half_ante_earner: int | None,
) -> list[Fraction]:
    """The score of design 8.3, exact: (Δ − stake + (P⁺ − P₀)/n) / P₀ for every entitled seat, 0 for the others."""
    seats = len(shares)
    if pot0 == 0:
        return [Fraction(0)] * seats
    won = [shares[seat] - penalties[seat] - stakes_paid[seat] for seat in range(seats)]
    pot_after = carry_after
    if half_ante_earner is not None:
        discount = rules["ante"] - half_of(rules["ante"])
        won[half_ante_earner] += discount
        pot_after -= discount
    part = Fraction(pot_after - pot0, sum(entitled)) if any(entitled) else Fraction(0)
    return [(won[seat] + part) / pot0 if entitled[seat] else Fraction(0) for seat in range(seats)]


def too_large(rules: Mapping[str, Any], carry: int) -> bool:
    """Might a deal that starts from this carry pass 2^53 (rules: rams 2.5)?"""
    seats = rules["num_players"]
    antes = rules["ante"] * (seats if rules["ante_payer"] == "all" else 1)
    stakes = rules["stay_stake"] * seats
    return bool((seats + 1) * (carry + antes + stakes) > GUARD)
