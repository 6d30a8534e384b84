"""Intervals for what a training method gives, over its training seeds and over deals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics import LEVEL, RESAMPLES, Interval, resampled_means
from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["two_level_intervals"]

_STREAM = 0x2EE15  # apart from the deals and from the resampling of blocks, which share the seed


def two_level_intervals(values: ArrayLike, groups: ArrayLike, seed: int) -> list[Interval]:
    """Means over training seeds and blocks, with 95 % intervals that hold the luck of both.

    The error of the mean has two parts, drawn 2,000 times each and added; the interval is the percentiles of the sum.

    * *Deals.* Blocks are resampled with replacement, the same ones for all training seeds, because these have played
      the same deals: what luck they share does not average out over them.
    * *Training seeds.* Five numbers cannot be resampled: their percentiles never leave the range of the five, and that
      range misses the mean of a normal population in 6 % of all cases. This part is therefore Student's, with S − 1
      degrees of freedom and the standard error s/√S of the S means.

    The second part holds what is left of the luck of deals in each mean, so the interval is on the safe side where
    training seeds hardly differ, by √2 in width at most.

    Args:
        values: (R, K), one row a training seed and block.
        groups: (R,) the training seed of each row, as any labels. All have equally many rows, and rows at equal places
            in their groups are the same deal. (If deals are different ones the interval is on the safe side.)
        seed: of the resampling.

    Returns:
        K intervals, around the mean of the S means.

    Raises:
        BestiaError: fewer than two training seeds or blocks, or groups of unequal size. One training seed tells
            nothing about others; :func:`~benchmarks.statistics.block_intervals` speaks of that one agent.
    """
    table, labels = np.asarray(values, np.float64), np.asarray(groups)
    if table.ndim != 2 or labels.shape != table.shape[:1]:
        raise BestiaError(f"values of shape {table.shape}, groups of {labels.shape}; allowed are (R, K) and (R,)")
    names, sizes = np.unique(labels, return_counts=True)
    if len(names) < 2 or sizes.min() < 2 or sizes.min() != sizes.max():
        raise BestiaError(
            f"groups {names.tolist()} with {sizes.tolist()} rows; allowed are two or more training seeds, each with "
            "the same two or more blocks"
        )
    by_seed = np.stack([table[labels == name] for name in names])  # (S, B, K)
    seed_means, blocks = by_seed.mean(axis=1), by_seed.mean(axis=0)
    means = seed_means.mean(axis=0)
    # one draw from each of 2,000 equal slices of the distribution, in random order: its tails are exact
    order = np.random.default_rng([seed, _STREAM]).permutation(RESAMPLES)
    student = stdtrit(len(names) - 1, (order + 0.5) / RESAMPLES)[:, None]
    errors = student * seed_means.std(axis=0, ddof=1) / np.sqrt(len(names)) + resampled_means(blocks, seed) - means
    low, high = means + np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [Interval(*map(float, ends)) for ends in zip(means, low, high, strict=True)]
