"""Intervals that hold however often one looks, and the rule that stops a tournament when they allow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import lambertw

from benchmarks.statistics import Interval
from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FIRST_LOOK", "UntilSeparated", "anytime_intervals", "sequence_radius"]

FIRST_LOOK = 200  # blocks before which nothing is decided: the sequence rests on a normal approximation


def sequence_radius(blocks: ArrayLike, *, tuned_to: int, alpha: float = 0.05) -> NDArray[np.float64]:
    """Half the width of the confidence sequence after some blocks, in standard deviations of a block.

    The normal-mixture boundary of Robbins (1970) with estimated variance, in the form of Waudby-Smith, Arbour, Sinha,
    Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics
    52 (2024), theorem 2.2: with r = ρ² N

        radius(N) = √( (r + 1)/r · (2/N) · log( √(r + 1) / α ) ).

    Setting the derivative to zero, r at N = ``tuned_to`` is best where r = log(r + 1) − 2 log α, so
    ρ² ``tuned_to`` = −W₋₁(−α²/e) − 1 with Lambert's W.

    Args:
        blocks: numbers of blocks, 1 or more, of any shape.
        tuned_to: the number of blocks at which the sequence is to be narrowest; fixed before the first look.
        alpha: probability of ever leaving the true mean outside.

    Returns:
        The radii, in the shape of ``blocks``.

    Raises:
        BestiaError: an argument out of range.
    """
    number = np.asarray(blocks, np.float64)
    if number.size and number.min() < 1:
        raise BestiaError(f"blocks={number.min():g}; allowed are integers from 1")
    _check(tuned_to, alpha)
    r = (-lambertw(-(alpha**2) / np.e, -1).real - 1) * number / tuned_to
    radius: NDArray[np.float64] = np.sqrt((r + 1) / r * 2 / number * (np.log1p(r) / 2 - np.log(alpha)))
    return radius


def anytime_intervals(
    values: ArrayLike, *, tuned_to: int, alpha: float = 0.05, differences: int | None = None
) -> list[Interval]:
    """Where the confidence sequences of some columns stand after the blocks played so far.

    Looked at after every part of a run, all of them hold the true means at all looks together with probability
    1 − ``alpha``, however the run is stopped. That is asymptotic: it needs blocks enough at the first look for a
    normal approximation (:data:`FIRST_LOOK`), and a variance.

    Args:
        values: (B, K), one row a block, in the order played.
        tuned_to: as for :func:`sequence_radius`; the same at every look.
        alpha: of all columns together.
        differences: how many columns share ``alpha`` (union bound): all K if not given. Less is right only if the
            others were never going to be looked at.

    Returns:
        K intervals. A column without variation has an interval of width zero.

    Raises:
        BestiaError: fewer than two blocks, or an argument out of range.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise BestiaError(f"values of shape {table.shape}; allowed are two or more blocks and one column a quantity")
    shared_by = table.shape[1] if differences is None else differences
    if shared_by < 1:
        raise BestiaError(f"differences={shared_by}; allowed are integers from 1")
    _check(tuned_to, alpha)
    radius = sequence_radius(len(table), tuned_to=tuned_to, alpha=alpha / shared_by)
    varies = np.ptp(table, axis=0) > 0  # else rounding would leave a width
    means = np.where(varies, table.mean(axis=0), table[0])
    radii = np.where(varies, radius * table.std(axis=0, ddof=1), 0.0)
    return [
        Interval(float(mean), float(mean - half), float(mean + half)) for mean, half in zip(means, radii, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class UntilSeparated:
    """Plays until every wanted difference is told from 0, or the cap is reached. A rule to be stated beside a result.

    Stopped so, only :meth:`intervals` may be reported: the ordinary interval at the moment of stopping is too narrow,
    because the moment was chosen for what it showed.

    Args:
        cap: blocks at which it stops in any case.
        tuned_to: blocks at which the sequences are to be narrowest; the cap if not given.
        alpha: probability that any wanted difference is ever separated wrongly.

    Raises:
        BestiaError: an argument out of range.
    """

    cap: int
    tuned_to: int | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.cap < 2:
            raise BestiaError(f"cap={self.cap}; allowed are integers from 2")
        _check(self.cap if self.tuned_to is None else self.tuned_to, self.alpha)

    def intervals(self, differences: ArrayLike) -> list[Interval]:
        """The sequences of (B, K) wanted differences after B blocks; K is the same at every look."""
        tuned_to = self.cap if self.tuned_to is None else self.tuned_to
        return anytime_intervals(differences, tuned_to=tuned_to, alpha=self.alpha)

    def stops(self, differences: ArrayLike) -> bool:
        """Whether (B, K) wanted differences are enough: at the cap, or when no interval holds 0."""
        table: NDArray[Any] = np.asarray(differences)
        if len(table) >= self.cap:
            return True
        if len(table) < FIRST_LOOK:
            return False
        return all(interval.low > 0 or interval.high < 0 for interval in self.intervals(table))


def _check(tuned_to: int, alpha: float) -> None:
    if tuned_to < 1:
        raise BestiaError(f"tuned_to={tuned_to}; allowed are integers from 1")
    if not 0 < alpha < 1:
        raise BestiaError(f"alpha={alpha}; allowed are numbers between 0 and 1")
