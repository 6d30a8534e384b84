"""Sample sizes, confidence sequences and two-level intervals, where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from benchmarks.bootstrap import two_level_intervals
from benchmarks.calibration import wrongly_separated
from benchmarks.power import blocks_needed, detectable_difference, pairing_gain
from benchmarks.runner import play_blocks
from benchmarks.sequential import FIRST_LOOK, UntilSeparated, anytime_intervals, sequence_radius
from benchmarks.statistics import block_intervals
from bestia_env import BestiaError, SessionConfig, make_rules

# --- sample sizes -----------------------------------------------------------------------------------------------------


def test_blocks_needed_are_those_of_the_textbook():
    assert blocks_needed(0.068, 0.005) == blocks_needed(0.068, -0.005) == 1452  # 7.84888 σ²/δ²
    assert blocks_needed(1, 0.1, alpha=0.01, power=0.9) == 1488  # (2.57583 + 1.28155)² · 100
    assert blocks_needed(1, 0.1, comparisons=5) == blocks_needed(1, 0.1, alpha=0.01)
    assert blocks_needed(0, 1) == 2


def test_so_many_blocks_have_the_power_they_promise():
    blocks = blocks_needed(1, 0.2)
    values = np.random.default_rng(1).normal(0.2, 1, (4000, blocks))
    found = np.abs(values.mean(axis=1)) > 1.96 * values.std(axis=1, ddof=1) / np.sqrt(blocks)
    assert found.mean() == pytest.approx(0.8, abs=0.02)


def test_detectable_difference_is_the_reverse():
    difference = detectable_difference(0.1, 2000, alpha=0.1, power=0.9, comparisons=3)
    assert blocks_needed(0.1, difference * (1 + 1e-9), alpha=0.1, power=0.9, comparisons=3) == 2000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"difference": 0}, "difference=0"),
        ({"deviation": -1}, "deviation=-1"),
        ({"alpha": 1}, "alpha=1"),
        ({"power": 0.01}, "power=0.01"),
        ({"comparisons": 0}, "comparisons=0"),
    ],
)
def test_sample_sizes_out_of_range(changes, message):
    with pytest.raises(BestiaError, match=message):
        blocks_needed(**{"deviation": 1, "difference": 1} | changes)
    with pytest.raises(BestiaError, match="blocks=1"):
        detectable_difference(1, 1)


def test_gains_of_rotation_and_pairing():
    generator = np.random.default_rng(2)
    seat = generator.normal(0, 2, (1, 4))  # the seat's worth: rotation alone removes it from a block
    deal = generator.normal(0, 1, (20_000, 1))  # the deal's worth: pairing alone removes it
    one, other = (seat + deal + generator.normal(0, 0.5, (20_000, 4)) for _ in range(2))
    single = 2 * (seat.var() + 1 + 0.25)
    expected = (single / (4 * 2 * (1 + 0.25 / 4)), single / 0.5, single / (4 * 0.5 / 4))
    assert pairing_gain(one, other) == pytest.approx(expected, rel=0.05)
    assert pairing_gain(one, one)[1:] == (np.inf, np.inf)
    assert pairing_gain(one * 0, one * 0) == (1, 1, 1)
    with pytest.raises(BestiaError, match="equal shapes"):
        pairing_gain(one, other[1:])


# --- confidence sequences ---------------------------------------------------------------------------------------------


def test_at_the_radius_the_mixture_martingale_is_one_over_alpha():
    """Robbins: a normal mixture of likelihood ratios, for a walk of unit steps, whose sum has reached N × radius."""
    for alpha, tuned_to in ((0.05, 1000), (0.005, 77)):
        best = optimize.brentq(lambda r, alpha=alpha: r - np.log1p(r) + 2 * np.log(alpha), 1, 100)
        rho2 = best / tuned_to
        for blocks in (10, 1000, 50_000):
            walk = blocks * sequence_radius(blocks, tuned_to=tuned_to, alpha=alpha)
            spread = 1 + blocks * rho2
            mixture = np.exp(rho2 * walk**2 / (2 * spread)) / np.sqrt(spread)
            assert mixture == pytest.approx(1 / alpha)


def test_the_sequence_is_narrowest_where_it_is_tuned_to():
    at_1000 = [sequence_radius(1000, tuned_to=tuned_to) for tuned_to in (100, 500, 900, 1000, 1100, 2000, 10_000)]
    assert int(np.argmin(at_1000)) == 3
    assert at_1000[3] < 1.6 * 1.96 / np.sqrt(1000)


@pytest.mark.parametrize("quantity", ["score", "chips"])
def test_sequences_seldom_leave_the_truth_out_and_peeking_often_does(quantity):
    """A thousand runs of 2,000 blocks drawn from real ones of an uncapped game; looks from 200 on, every 50."""
    results = play_blocks(
        make_rules("bestia", 4), SessionConfig(carry="typical"), 5, range(4000), ("loose", "medium", "medium", "medium")
    )
    played = results.scores if quantity == "score" else results.chips
    values = played[:, :, 0].mean(axis=1)
    drawn = np.random.default_rng(3).choice(values - values.mean(), (2000, 1000))
    sequences, peeking = wrongly_separated(drawn)
    assert 0 < sequences <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert peeking > 0.15


def test_columns_share_alpha_unless_told_otherwise():
    values = np.random.default_rng(4).normal(size=(500, 10))
    one, ten = (anytime_intervals(values, tuned_to=500, differences=count)[0] for count in (1, 10))
    assert ten == anytime_intervals(values, tuned_to=500)[0]
    assert one.mean == ten.mean == pytest.approx(values[:, 0].mean())
    assert ten.high - ten.low > 1.2 * (one.high - one.low)
    half = sequence_radius(500, tuned_to=500, alpha=0.005) * values[:, 0].std(ddof=1)
    assert (ten.low, ten.high) == pytest.approx((ten.mean - half, ten.mean + half))
    constant = anytime_intervals(np.full((9, 1), 0.1), tuned_to=9)
    assert constant == [(0.1, 0.1, 0.1)]


def test_it_stops_when_all_are_separated_or_at_the_cap():
    rule = UntilSeparated(cap=3000)
    noise = np.random.default_rng(5).normal(size=(3000, 2))
    clear, unclear = noise + np.array([1, -1]), noise + np.array([1, 0])
    assert not rule.stops(clear[: FIRST_LOOK - 1] + 100)  # too early for a normal approximation
    assert rule.stops(clear[:500])
    assert not rule.stops(unclear[:2999])
    assert rule.stops(unclear)
    assert not rule.stops(np.zeros((500, 1)))  # equal play is never separated
    low, high = rule.intervals(clear[:500])[1][1:]
    assert low < -1 < high < 0
    late = UntilSeparated(cap=3000, tuned_to=100)
    assert late.intervals(clear[:100])[0].low > rule.intervals(clear[:100])[0].low


def test_sequences_out_of_range():
    for call, message in (
        (lambda: UntilSeparated(cap=1), "cap=1"),
        (lambda: UntilSeparated(cap=9, tuned_to=0), "tuned_to=0"),
        (lambda: UntilSeparated(cap=9, alpha=1), "alpha=1"),
        (lambda: sequence_radius(0, tuned_to=9), "blocks=0"),
        (lambda: anytime_intervals([[1.0]], tuned_to=9), "two or more blocks"),
        (lambda: anytime_intervals([[1.0], [2.0]], tuned_to=9, differences=0), "differences=0"),
    ):
        with pytest.raises(BestiaError, match=message):
            call()


# --- training seeds ---------------------------------------------------------------------------------------------------


def trained(seeds, blocks, columns, between, shared, own, generator):
    """(seeds × blocks, columns) values of true mean 0: luck of the training seed, of the deal, of both together."""
    values = between * generator.normal(size=(seeds, 1, columns)) + shared * generator.normal(size=(1, blocks, columns))
    values = values + own * generator.normal(size=(seeds, blocks, columns))
    return values.reshape(-1, columns), np.repeat(np.arange(seeds), blocks)


def covered(intervals, truth=0.0):
    return np.mean([interval.low <= truth <= interval.high for interval in intervals])


@pytest.mark.parametrize(("between", "shared"), [(1, 0), (1, 3), (0.2, 4)])
def test_two_levels_cover_and_one_level_does_not(between, shared):
    values, groups = trained(5, 60, 400, between, shared, 2, np.random.default_rng(6))
    assert 0.925 <= covered(two_level_intervals(values, groups, 1)) <= 0.98
    by_seed = values.reshape(5, 60, 400)
    if between == 1:
        assert covered(block_intervals(by_seed.mean(axis=0)[:, :200], 1)) < 0.8
    else:
        means = by_seed.mean(axis=1)
        low, high = stats.t.interval(0.95, 4, means.mean(axis=0), stats.sem(means))
        assert np.mean((low <= 0) & (high >= 0)) < 0.8


def test_without_luck_of_deals_it_is_students_interval():
    means = np.array([0.3, 0.1, 0.2, 0.7, 0.4])
    (interval,) = two_level_intervals(np.repeat(means, 10)[:, None], np.repeat(np.arange(5), 10), 1)
    low, high = stats.t.interval(0.95, 4, means.mean(), stats.sem(means))
    assert interval == pytest.approx((means.mean(), low, high), abs=0.005 * (high - low))


def test_equal_training_seeds_leave_the_luck_of_deals():
    blocks = np.random.default_rng(7).normal(1, 1, (400, 1))
    (two,) = two_level_intervals(np.tile(blocks, (3, 1)), np.repeat(["a", "b", "c"], 400), 1)
    (one,) = block_intervals(blocks, 1)
    assert two == pytest.approx(one, abs=0.05 * (one.high - one.low))


def test_rows_of_training_seeds_may_be_mixed():
    values, groups = trained(4, 50, 2, 1, 1, 1, np.random.default_rng(8))
    mixed = np.arange(200).reshape(4, 50).T.ravel()  # block by block
    assert two_level_intervals(values, groups, 3) == two_level_intervals(values[mixed], groups[mixed], 3)


def test_one_training_seed_says_nothing_of_others():
    with pytest.raises(BestiaError, match="two or more training seeds"):
        two_level_intervals(np.zeros((9, 1)), np.zeros(9), 1)
    with pytest.raises(BestiaError, match="two or more training seeds"):
        two_level_intervals(np.zeros((9, 1)), [0, 0, 0, 0, 1, 1, 1, 1, 1], 1)
    with pytest.raises(BestiaError, match="shape"):
        two_level_intervals(np.zeros((9, 1)), [0, 1], 1)
