"""Intervals over blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LEVEL", "RESAMPLES", "Interval", "block_intervals", "resampled_means"]

RESAMPLES = 2000
LEVEL = 0.95

_ROWS_AT_ONCE = 40  # resamples of one matrix of resampled blocks
_WEIGHTS_AT_ONCE = 4_000_000  # its numbers, 32 MB
_COUNTERS_AT_ONCE = 100_000  # of draws: they stay in the processor's cache
_PRODUCTS_AT_ONCE = 250_000  # OpenBLAS starts threads above 2^18, which on a busy machine cost far more than they save
_STREAM = 0xB0075  # apart from the deals, which share the seed


class Interval(NamedTuple):
    """A mean over blocks and the ends of its interval."""

    mean: float
    low: float
    high: float


def block_intervals(values: ArrayLike, seed: int) -> list[Interval]:
    """Means and their 95 % intervals by bootstrap over blocks, bias-corrected and accelerated (BCa).

    All columns are resampled together: a resample draws blocks, not numbers, so a column that is the difference of
    two agents on the same deals has the interval of that paired difference. Efron's BCa interval (1987) corrects the
    plain percentiles for skewness, which chips have plenty of; for a mean its acceleration has a closed form.

    Args:
        values: (B, K), one row a block.
        seed: of the resampling; the same values and seed give the same intervals.

    Returns:
        K intervals. A column without variation has an interval of width zero.

    Raises:
        ValueError: fewer than two blocks.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise ValueError(f"values of shape {table.shape}; allowed are two or more blocks and one column a quantity")
    means = table.mean(axis=0)
    resampled = resampled_means(table, seed)
    deviations = table - means
    squares = (deviations**2).sum(axis=0)
    intervals = []
    for column, mean in enumerate(means):
        if np.ptp(table[:, column]) == 0:
            value = float(table[0, column])
            intervals.append(Interval(value, value, value))
            continue
        acceleration = (deviations[:, column] ** 3).sum() / (6 * squares[column] ** 1.5)
        levels = _bca_levels(resampled[:, column], mean, acceleration)
        low, high = np.quantile(resampled[:, column], levels)
        intervals.append(Interval(float(mean), float(low), float(high)))
    return intervals


def resampled_means(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """(RESAMPLES, K) means of as many blocks as ``table`` (B, K) has, drawn with replacement."""
    size, columns = table.shape
    generator = np.random.default_rng([seed, _STREAM])
    step = min(_ROWS_AT_ONCE, max(1, _WEIGHTS_AT_ONCE // size))
    together = max(1, _COUNTERS_AT_ONCE // size)
    piece = max(16, _PRODUCTS_AT_ONCE // (step * columns))
    sums = np.zeros((RESAMPLES, columns))
    for first in range(0, RESAMPLES, step):
        weights = np.empty((min(step, RESAMPLES - first), size))  # floats: integers would be multiplied without BLAS
        for row in range(0, len(weights), together):
            few = weights[row : row + together]
            drawn = generator.integers(0, size, few.shape) + size * np.arange(len(few))[:, None]
            few[:] = np.bincount(drawn.ravel(), minlength=few.size).reshape(few.shape)
        for block in range(0, size, piece):
            sums[first : first + step] += weights[:, block : block + piece] @ table[block : block + piece]
    return sums / size


def _bca_levels(resampled: NDArray[np.float64], mean: float, acceleration: float) -> NDArray[Any]:
    """The two levels at which the resampled means are read off."""
    # means that are equal but for the order of their sums are equal: else rounding would decide
    tiny = 1e-9 * np.std(resampled)
    below = ((resampled < mean - tiny).sum() + (resampled <= mean + tiny).sum()) / (2 * len(resampled))
    bias = ndtri(np.clip(below, 0.5 / len(resampled), 1 - 0.5 / len(resampled)))
    shifted = bias + ndtri([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    levels: NDArray[Any] = ndtr(bias + shifted / (1 - acceleration * shifted))
    return levels
