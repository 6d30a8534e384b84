"""The engine against the second implementation: what runs with every change (`make crosscheck` runs more)."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from bestia_env import SessionConfig, make_rules
from tests.crosscheck import any_rules, any_session, compare, presets, tasks

DEALS = 28_000
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_engine_and_reference_agree_move_by_move(part: int) -> None:
    deals = sum(compare(task)[1] for task in tasks(DEALS // PARTS, seed=100 + part))
    assert deals >= 2_500  # so that all parts together are 20,000 or more


def test_the_sample_holds_every_preset_at_every_table_size() -> None:
    sample = {str(task.rules) for task in tasks(DEALS // PARTS, seed=100) if task.rules}
    assert {str(rules) for rules in presets()} <= sample


def test_random_rules_reach_every_value_of_every_field() -> None:
    rng = random.Random(5)
    drawn = [any_rules(rng) for _ in range(400)]
    for field in (
        "turn_up_owner",
        "bidding",
        "forced_deal",
        "recycle",
        "principal",
        "ruff",
        "lead_top_trump",
        "pot_award",
    ):
        assert len({getattr(rules, field) for rules in drawn}) >= 2, field
    assert any(any_session(rules, rng).play_on for rules in drawn)


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import crosscheck

    task = next(iter(tasks(100, seed=3)))
    play = crosscheck.engine_games

    def with_one_wrong_chip(task):  # type: ignore[no-untyped-def]
        log, first, last = play(task)
        next(entry for entry in log[0] if entry["settled"])["settled"]["shares"][0] += 1
        return log, first, last

    monkeypatch.setattr(crosscheck, "engine_games", with_one_wrong_chip)
    with pytest.raises(crosscheck.Difference, match="shares"):
        compare(task)


def test_it_goes_on_with_tables_that_are_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests import crosscheck

    tables = [make_rules("bestia", 3), make_rules("tippen", 4)]
    first = crosscheck.Task(tables[0], SessionConfig(), 1, 20)
    monkeypatch.setattr(crosscheck, "presets", lambda: tables)
    monkeypatch.setattr(crosscheck, "tasks", lambda deals, seed: [first])
    monkeypatch.setattr(crosscheck, "ProcessPoolExecutor", ThreadPoolExecutor)  # patches are not seen in processes
    monkeypatch.setattr("sys.argv", ["crosscheck", "--deals", "20", "--least", "200"])
    assert crosscheck.main() == 0
    told = capsys.readouterr().out
    counts = {line.split(")")[0]: int(line.split()[-2].replace(",", "")) for line in told.splitlines()[:2]}
    assert set(counts) == {"bestia(num_players=3", "tippen(num_players=4"}
    assert min(counts.values()) >= 200
    assert f"at least {min(counts.values()):,} deals" in told
