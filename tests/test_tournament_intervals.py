"""The tournament's intervals: those of the method, repeatable, and holding the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.runner import play_blocks
from benchmarks.statistics import LEVEL, block_intervals
from bestia_env import SessionConfig, make_rules


def test_intervals_agree_with_scipy():
    generator = np.random.default_rng(4)
    values = np.stack([generator.normal(2, 1, 150), generator.exponential(3, 150) ** 1.5], axis=1)
    for column, interval in zip(values.T, block_intervals(values, 1), strict=True):
        theirs = stats.bootstrap(
            (column,), np.mean, n_resamples=20_000, method="BCa", confidence_level=LEVEL, random_state=generator
        )
        width = theirs.confidence_interval.high - theirs.confidence_interval.low
        assert interval.mean == pytest.approx(column.mean())
        assert interval.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
        assert interval.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)


def test_intervals_of_columns_without_variation():
    values = np.zeros((30, 3))
    values[:, 1] = 0.1
    values[:, 2] = np.arange(30)
    exact, constant, varied = block_intervals(values, 1)
    assert exact == (0, 0, 0)
    assert constant == (0.1, 0.1, 0.1)
    assert varied.low < varied.mean < varied.high
    with pytest.raises(ValueError, match="two or more blocks"):
        block_intervals(values[:1], 1)


def test_intervals_are_repeatable_and_joint():
    values = np.random.default_rng(1).normal(size=(80, 2))
    assert block_intervals(values, 3) == block_intervals(values, 3)
    assert block_intervals(values, 3) != block_intervals(values, 4)
    shifted = np.stack([values[:, 0], values[:, 0] + 5], axis=1)
    paired = block_intervals(np.diff(shifted, axis=1), 3)[0]
    assert paired.high - paired.low < 1e-9


def test_intervals_cover_the_truth():
    """A hundred tournaments of 200 blocks: about 95 of the intervals hold the mean of all."""
    results = play_blocks(
        make_rules("bestia", 3), SessionConfig(carry=6), 1, range(20_000), ("tight", "medium", "medium")
    )
    block_scores = results.scores[:, :, 0].mean(axis=1)
    groups = block_scores.reshape(100, 200)
    intervals = [block_intervals(group[:, None], seed)[0] for seed, group in enumerate(groups)]
    covered = sum(interval.low <= block_scores.mean() <= interval.high for interval in intervals)
    assert 88 <= covered <= 100
