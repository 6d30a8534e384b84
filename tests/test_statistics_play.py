"""Statistics on blocks that were played: luck of the deal, pay-offs, ratings, calibration."""

from __future__ import annotations

import json
from math import comb

import numpy as np
import pytest

from agents.thumb import STYLES, ThumbPolicy
from benchmarks.calibration import NO_LONE_JACK, main, narrow_change, null_comparisons
from benchmarks.control import adjust, class_probabilities, deal_covariates
from benchmarks.payoffs import agent_values, payoffs
from benchmarks.ratings import openskill_ratings, worst_cases
from benchmarks.runner import play_blocks
from bestia_env import BestiaError, GameBatch, SessionConfig, make_rules, player_range, variants
from bestia_env.cards import cards_of

BESTIA = make_rules("bestia", 5)
TYPICAL = SessionConfig(carry="typical")

# --- luck of the deal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [name for name in variants() if hasattr(make_rules(name), "turn_up_owner")])
def test_hands_are_dealt_as_often_as_counted_out(variant):
    rules = make_rules(variant, player_range(variant)[1])
    expected = class_probabilities(rules)
    pack, size = rules.cards, rules.hand_size
    owner = rules.turn_up_owner == "dealer"
    none = np.full(rules.num_players, comb(pack.num_cards - pack.num_ranks, size) / comb(pack.num_cards - 1, size))
    none[-1] *= not owner
    assert np.allclose(expected.sum(axis=1) + none, 1)
    deals = 3000
    surplus = deal_covariates(rules, SessionConfig(), 11, range(deals), by_position=True).mean(axis=0)
    likely = expected.ravel()[expected.ravel() > 0]
    errors = np.sqrt(likely * (1 - likely) / deals)
    common = likely * deals >= 9
    assert common.sum() > 20
    assert np.abs(surplus / errors)[common].max() < 5


def test_classes_are_those_a_reader_would_count():
    rules = make_rules("julepe", 4)
    states = GameBatch(rules, 40, seed=3, session=TYPICAL, autoreset=False).states
    ranks, blocks = rules.cards.num_ranks, [5, 0, 39, 17]
    rows = []
    for state in states[blocks]:
        counts = np.zeros((3, ranks))
        for seat in range(4):
            trumps = [card % ranks for card in cards_of(state["first_hand"][seat]) if card // ranks == state["trump"]]
            if trumps:
                counts[min(len(trumps), 3) - 1, max(trumps)] += 1
        rows.append(counts.ravel())
    expected = class_probabilities(rules).sum(axis=0)
    rows = (np.array(rows) - expected)[:, expected > 0]
    assert np.allclose(deal_covariates(rules, TYPICAL, 3, blocks), rows)


@pytest.fixture(scope="module")
def medium_among_loose():
    """(20,000 block scores, their covariates)."""
    results = play_blocks(BESTIA, TYPICAL, 21, range(20_000), ("medium", *["loose"] * 4))
    return results.scores[:, :, 0].mean(axis=1), deal_covariates(BESTIA, TYPICAL, 21, range(20_000))


def test_adjusting_saves_blocks_and_leaves_the_mean(medium_among_loose):
    scores, covariates = medium_among_loose
    adjusted = adjust(scores, covariates)
    assert scores.var() / adjusted.var() > 1.1
    moved = scores - adjusted
    assert abs(moved.mean()) < 3 * moved.std() / np.sqrt(len(moved))
    assert moved.std() > 0


def test_adjusting_is_unbiased_in_small_samples(medium_among_loose):
    """A hundred tournaments of 200 blocks: their adjusted means average to the mean of all, and scatter less."""
    scores, covariates = (values.reshape(100, 200, *values.shape[1:]) for values in medium_among_loose)
    plain = scores.mean(axis=1)
    estimates = np.array([adjust(*group).mean() for group in zip(scores, covariates, strict=True)])
    truth = adjust(*medium_among_loose).mean()
    assert abs(estimates.mean() - truth) < 3 * estimates.std() / np.sqrt(100)
    assert abs((estimates - plain).mean()) < 3 * (estimates - plain).std() / np.sqrt(100)


def test_a_wrong_covariate_does_not_move_the_mean_and_one_of_another_mean_would(medium_among_loose):
    scores, covariates = medium_among_loose
    generator = np.random.default_rng(1)
    wrong = generator.standard_t(3, (len(scores), 4))
    error = scores.std() / np.sqrt(len(scores))
    assert abs(adjust(scores, wrong).mean() - scores.mean()) < 0.1 * error
    assert adjust(scores, wrong).var() < 1.01 * scores.var()
    assert abs(adjust(scores, covariates + 1).mean() - scores.mean()) > 3 * error


def test_adjusting_is_linear_and_leaves_zero(medium_among_loose):
    scores, covariates = medium_among_loose
    columns = np.stack([scores, scores**2, scores - scores**2, np.zeros_like(scores)], axis=1)[:500]
    adjusted = adjust(columns, covariates[:500])
    assert np.allclose(adjusted[:, 0] - adjusted[:, 1], adjusted[:, 2])
    assert (adjusted[:, 3] == 0).all()
    assert np.allclose(adjusted[:, 0], adjust(scores[:500], covariates[:500]))


def test_a_block_is_corrected_without_itself():
    covariates = np.random.default_rng(2).normal(size=(50, 1))
    values = covariates[:, 0].copy()
    before = adjust(values, covariates)
    values[7] += 1000
    assert adjust(values, covariates)[[2, 7, 12]] == pytest.approx(before[[2, 7, 12]] + [0, 1000, 0])


def test_covariates_refused(medium_among_loose):
    scores, covariates = medium_among_loose
    for call, message in (
        (lambda: adjust(scores[:60], covariates[:60]), "27 covariates"),
        (lambda: adjust(scores[:60], covariates[:61]), "shape"),
        (lambda: adjust(scores, covariates, folds=1), "folds=1"),
        (lambda: deal_covariates(make_rules("camicia"), SessionConfig(), 1, range(2)), "have trumps"),
        (lambda: deal_covariates(BESTIA, TYPICAL, 1, []), "blocks is empty"),
    ):
        with pytest.raises(BestiaError, match=message):
            call()


# --- pay-offs and ratings ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables():
    """Hero-in-field block scores; one agent is there under two names."""
    rules = make_rules("bestia", 4)
    agents = {name: name for name in ("loose", "medium", "tight")}
    agents["again"] = ThumbPolicy("again", STYLES["loose"])
    played = {
        (hero, field): play_blocks(rules, TYPICAL, 31, range(500), (agents[hero], *[agents[field]] * 3))
        for hero in agents
        for field in agents
    }
    return {table: results.scores[:, :, 0].mean(axis=1) for table, results in played.items()}


def without_clone(tables):
    return {table: values for table, values in tables.items() if "again" not in table}


def duels(tables):
    return {table: np.stack([v, -v], axis=1) for table, v in tables.items() if table[0] != table[1]}


def test_an_agent_under_two_names_changes_nothing_for_the_others(tables):
    whole, alone = payoffs(tables, 1), payoffs(without_clone(tables), 1)
    assert whole.agents == ("again", "loose", "medium", "tight")
    assert np.allclose(whole.values[1:, 1:], alone.values, rtol=0, atol=1e-12)
    assert np.allclose(whole.values[0], whole.values[1], rtol=0, atol=1e-12)
    ranking = [case for case in worst_cases(whole) if case.agent != "again"]
    expected = worst_cases(alone)
    assert [case.agent for case in ranking] == [case.agent for case in expected]
    for case, other in zip(ranking, expected, strict=True):
        assert case[2:] == pytest.approx(other[2:], abs=1e-12)
    # what a mean over fields or a rating would not keep
    assert not np.allclose(whole.mean[1:].mean(axis=1), alone.mean.mean(axis=1), rtol=0, atol=1e-3)
    ratings, fewer = openskill_ratings(duels(tables)), openskill_ratings(duels(without_clone(tables)))
    assert max(abs(ratings[name].mu - fewer[name].mu) for name in fewer) > 0.1


def test_worst_cases_by_hand():
    generator = np.random.default_rng(3)
    means = {("a", "x"): 0.5, ("a", "y"): -0.2, ("b", "x"): 0.1, ("b", "y"): 0.3}
    tensor = payoffs({table: generator.normal(mean, 0.1, 200) for table, mean in means.items()}, 1)
    best, second = worst_cases(tensor)
    assert (best.agent, best.setting, second.agent, second.setting) == ("b", "x", "a", "y")
    assert best.mean == tensor.mean[1, 0]
    assert (best.low, best.high) == (tensor.low[1, 0], tensor.high[1, 0])
    assert best.low < 0.1 < best.high


def test_mixed_line_ups_leave_gaps_in_the_tensor():
    rules = make_rules("bestia", 4)
    lineups = [("loose", "tight", "loose", "medium"), ("tight", "tight", "tight", "random")]
    tables = {}
    for lineup in lineups:
        results = play_blocks(rules, TYPICAL, 5, range(100), lineup)
        values = agent_values(results, lineup)
        held = sum(values[name] * lineup.count(name) for name in values)
        assert np.abs(held).max() < 1e-12  # the scores of a table sum to zero
        assert (values["medium" if "medium" in values else "random"] == results.scores[:, :, 3].mean(axis=1)).all()
        tables |= {(name, " ".join(lineup)): column for name, column in values.items()}
    tensor = payoffs(tables, 1)
    assert np.isnan(tensor.mean).sum() == 3
    told = json.loads(json.dumps(tensor.as_dict(), allow_nan=False))
    assert told["settings"] == [" ".join(lineup) for lineup in lineups]
    assert told["mean"][0][1] is None
    assert told["low"][2][1] == tensor.low[2, 1]
    with pytest.raises(BestiaError, match="'loose' did not play in 'tight tight tight random'"):
        worst_cases(tensor)
    with pytest.raises(BestiaError, match="lineup of 3"):
        agent_values(results, ("tight",) * 3)
    with pytest.raises(BestiaError, match="tables of"):
        payoffs({}, 1)


def test_openskill_sees_order_and_not_size():
    values = np.array([[1.0, -1.0]] * 30 + [[-1.0, 1.0]] * 20)
    ratings = openskill_ratings({("a", "b"): values})
    assert ratings == openskill_ratings({("a", "b"): values * [[9.0, 9.0]]})
    assert ratings != openskill_ratings({("a", "b"): values[::-1]})  # the same results in another order
    assert openskill_ratings({("a", "b"): values[:30]})["a"].mu > openskill_ratings({("a", "b"): values[:30]})["b"].mu
    drawn = openskill_ratings({("a", "b"): np.zeros((30, 2))})
    assert drawn["a"] == pytest.approx(drawn["b"])
    with pytest.raises(BestiaError, match="different names"):
        openskill_ratings({("a", "a"): values})
    with pytest.raises(BestiaError, match="unequal"):
        openskill_ratings({("a", "b"): values, ("a", "c"): values[1:]})


# --- calibration ------------------------------------------------------------------------------------------------------


def test_a_narrow_change_needs_a_tenth_of_the_deals():
    change = narrow_change(BESTIA, TYPICAL, 1, range(4000), ("medium", NO_LONE_JACK), "medium")
    assert 0 < change.decisions < change.deals < 0.05
    assert change.gain.both >= 10
    same = narrow_change(BESTIA, TYPICAL, 1, range(200), ("medium", "medium"), "loose")
    assert same[:4] == (0, 0, 0, 0)
    assert same.gain.both == np.inf


def test_decisions_are_counted_where_the_other_acts_otherwise():
    change = narrow_change(make_rules("bestia", 3), SessionConfig(), 1, range(300), ("always", "never"), "never")
    assert 0 < change.decisions <= 1
    assert change.deals == 1


def test_null_comparisons_hold_what_they_should():
    nulls = null_comparisons(make_rules("bestia", 3), TYPICAL, 2, "tight", "loose", 100, 200)
    for null in nulls.values():
        assert 0.88 <= null.difference <= 1
        assert 0.86 <= null.mean <= 1
        assert null.separated <= null.peeking


def test_the_command_tells_and_refuses(capsys):
    few = ["--players", "3", "--comparisons", "5", "--blocks", "200", "--gain-blocks", "300"]
    assert main(few) == 0
    told = capsys.readouterr().out
    for words in ("bestia(num_players=3) · seed 1", "holds 0", "narrow change", "hands dealt: 27 covariates"):
        assert words in told
    assert main([*few, "--comparisons", "0"]) == 2
    assert "comparisons=0; allowed are integers from 1" in capsys.readouterr().err
