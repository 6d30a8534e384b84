"""What a session is: how many deals, which carry, forced or not, whose deal, how much credit (rules: rams 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestia_env.errors import RulesError

__all__ = ["MAX_CHIPS", "SessionConfig"]

MAX_CHIPS = 2**53  # the largest pot: exact in float64


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """A number of deals with one pot that carries over and a dealer that rotates.

    Args:
        num_deals: deals of a session, at least 1.
        play_on: whether it continues until the carry is below the rules' divisor, at most 3 n deals more; the rest of
            the pot is then split equally.
        carry: chips in the pot before the first ante: a number, a ``range`` to draw from, or ``"typical"``: drawn
            from the table shipped with the preset.
        forced: whether the first deal is forced, where the rules have forced deals after one without a bestia;
            ``"typical"`` draws it from the same table.
        dealer: seat of the first dealer; None draws it.
        credits: chips before the first deal, one number or one a seat; None is 0, or 20 antes with table stakes.

    Raises:
        RulesError: a value out of range.
    """

    num_deals: int = 1
    play_on: bool = False
    carry: int | range | str = 0
    forced: bool | str = False
    dealer: int | None = None
    credits: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        self._need("num_deals", _whole(self.num_deals, 1, 2**31 - 1), "a positive integer")
        self._need("play_on", type(self.play_on) is bool, "True or False")
        if isinstance(self.carry, range):
            ends = (self.carry[0], self.carry[-1]) if self.carry else (-1,)
            ok = min(ends) >= 0 and max(ends) < MAX_CHIPS and len(self.carry) < 2**31
            self._need("carry", ok, "a range of 1 to 2^31 - 1 numbers of chips, from 0 to below 2^53")
        elif self.carry != "typical":
            self._need("carry", _whole(self.carry, 0, MAX_CHIPS), 'chips from 0 to 2^53, a range, or "typical"')
        self._need("forced", self.forced == "typical" or type(self.forced) is bool, 'True, False or "typical"')
        self._need("dealer", self.dealer is None or _whole(self.dealer, 0, 9), "None or a seat")
        if self.credits is not None and not isinstance(self.credits, int):
            listed = isinstance(self.credits, Sequence) and not isinstance(self.credits, str)
            self._need("credits", listed, "whole chips within 2^53, or a list of them")
            object.__setattr__(self, "credits", tuple(self.credits))
        given = (self.credits,) if isinstance(self.credits, int) else self.credits or ()
        self._need("credits", all(_whole(chips, -MAX_CHIPS, MAX_CHIPS) for chips in given), "whole chips within 2^53")

    def _need(self, field: str, ok: bool, allowed: str) -> None:
        if not ok:
            raise RulesError(f"session {field}={getattr(self, field)!r}; allowed is {allowed}")


def _whole(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high
