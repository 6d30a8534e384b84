"""Fields of several agents, mixed tables, stopping early, sessions, exports."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import tournament
from benchmarks.control import adjust, deal_covariates
from benchmarks.lineups import FIELDS, MIXED, Table, named_fields, windows
from benchmarks.power import blocks_needed
from benchmarks.runner import play_blocks
from benchmarks.tournament import main
from bestia_env import BestiaError, GameBatch, SessionConfig, load_record, make_policy, make_rules

# --- line-ups -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("members", "size"), [(2, 4), (3, 2), (5, 5), (7, 3), (4, 1)])
def test_windows_are_balanced(members, size):
    blocks = np.arange(6 * members)
    places = windows(members, size, blocks, seed=3)
    assert (np.bincount(places.ravel(), minlength=members) == 6 * size).all()
    if members >= size:
        assert all(len(set(row)) == size for row in places.tolist())
    forward = [tuple(row) for row in places[:members].tolist()]
    assert sorted(row[::-1] for row in forward) == sorted(tuple(row) for row in places[members : 2 * members].tolist())
    some = np.array([5 * members, 3, 0])
    assert (windows(members, size, some, seed=3) == places[some]).all()
    assert members < 3 or (windows(members, size, blocks, seed=4) != places).any()


def test_a_group_seats_everybody_beside_everybody_in_the_long_run():
    together = np.zeros((5, 5))
    for row in windows(5, 3, np.arange(2000), seed=1).tolist():
        for left, right in pairwise(row):
            together[left, right] += 1
    beside = together[~np.eye(5, dtype=bool)]
    assert beside.min() > 0.75 * beside.mean()


def test_tables_know_who_sits_where():
    table = Table("medium", "thumbs", FIELDS["thumbs"])
    assert table.agents == ("medium", "loose", "tight")
    places = table.places(np.arange(12), 4, seed=1)
    assert (places[:, 0] == 0).all()
    assert set(places[:, 1:].ravel().tolist()) == {0, 1, 2}
    mixed = Table(None, MIXED, ("a", "b", "c"))
    assert (np.bincount(mixed.places(np.arange(6), 5, seed=1).ravel()) == 10).all()
    assert Table("a", "a", ("a",)).is_self_play
    assert not table.is_self_play


def test_named_fields_are_those_of_the_docs():
    told = (Path(__file__).parents[1] / "docs" / "tournament.md").read_text(encoding="utf-8")
    for name, members in FIELDS.items():
        assert f"| `{name}` | {', '.join(f'`{member}`' for member in members)} |" in told


def test_fields_by_name():
    assert named_fields((), ("b", "a")) == {"a": ("a",), "b": ("b",)}
    assert named_fields(("thumbs", "odd=tight,always"), ()) == {
        "odd": ("always", "tight"),
        "thumbs": ("loose", "medium", "tight"),
    }
    for words in (("a", "a"), ("=a",), ("x=a,,b",), ("x=a,a",), (MIXED,)):
        with pytest.raises(BestiaError, match="field "):
            named_fields(words, ())


# --- one command ----------------------------------------------------------------------------------------------------


def run(out, *words):
    command = ["--variant", "bestia", "--players", "4", "--seed", "5", "--carry", "6", *words, "--out", str(out)]
    assert main(command) == 0
    return json.loads((out / "summary.json").read_text())


def mean_of(summary, hero, field):
    (row,) = [row for row in summary["tables"] if (row["hero"], row["field"]) == (hero, field)]
    return row["score"]["mean"]


def test_a_field_of_several_is_played_as_it_says(tmp_path):
    summary = run(tmp_path, "--agents", "medium", "always", "--fields", "odd=tight,random", "medium", "--deals", "40")
    assert {row["field"] for row in summary["tables"]} == {"odd", "medium"}
    rules, session = make_rules("bestia", 4), SessionConfig(carry=6)
    table = Table("always", "odd", ("random", "tight"))
    places = table.places(np.arange(40), 4, seed=5)
    scores = []
    for block, row in enumerate(places):
        results = play_blocks(rules, session, 5, [block], tuple(table.agents[place] for place in row))
        scores.append(results.scores[0, :, 0].mean())
    assert mean_of(summary, "always", "odd") == pytest.approx(np.mean(scores))


def test_mixed_tables_are_zero_sum(tmp_path):
    summary = run(tmp_path, "--agents", "medium", "always", "random", "--deals", "60", "--mixed")
    blocks = pq.read_table(tmp_path / "blocks.parquet")
    rows = [row for row in blocks.to_pylist() if row["field"] == MIXED]
    totals: dict[int, int] = {}
    for row in rows:
        totals[row["block"]] = totals.get(row["block"], 0) + row["score_top"]
    assert len(totals) == 60
    assert set(totals.values()) == {0}
    assert sum(row["seats"] for row in rows) == 4 * 60
    means = {row["hero"]: row["score"]["mean"] for row in summary["tables"] if row["field"] == MIXED}
    assert set(means) == {"medium", "always", "random"}
    assert means["medium"] > means["always"]


def test_invaders_and_residents_are_one_table_seen_from_two_sides(tmp_path):
    summary = run(tmp_path, "--agents", "medium", "always", "--deals", "500")
    (row,) = [row for row in summary["invaders"] if row["residents"] == "medium"]
    assert (row["best_invader"], row["verdict"]) == ("always", "held")
    results = play_blocks(make_rules("bestia", 4), SessionConfig(carry=6), 5, range(500), ("always", *["medium"] * 3))
    assert row["score"]["mean"] == pytest.approx(results.scores[:, :, 0].mean())
    assert row["residents_chips"] == pytest.approx(results.chips[:, :, 1:].mean())
    (wild,) = [row for row in summary["invaders"] if row["residents"] == "always"]
    assert (wild["best_invader"], wild["verdict"]) == ("medium", "invaded")


def test_behaviour_is_counted(tmp_path):
    run(tmp_path, "--agents", "always", "never", "--deals", "50")
    rows = pq.read_table(tmp_path / "behaviour.parquet").to_pylist()
    for row in rows:
        heroes = 1 if row["agent"] == row["hero"] else 3
        expected = 4 * 50 if row["hero"] == row["field"] else heroes * 50
        assert row["deals"] == expected
        verbs = row["knock"] + row["pass"] + row["draw"]
        assert row["decisions"] == verbs + row["play"]
        if row["agent"] == "always":
            assert row["took_part"] == row["deals"]
            assert row["knock"] == row["deals"]
    lonely = [row for row in rows if (row["hero"], row["agent"]) == ("always", "always") and row["field"] == "never"]
    assert [row["position"] for row in lonely] == [0, 1, 2, 3]
    assert sum(row["tricks"] for row in lonely) == 0  # a walk-over: nobody plays against it
    crowd = [row for row in rows if row["hero"] == row["field"] == "always"]
    assert sum(row["tricks"] for row in crowd) == 3 * 4 * 50
    results = play_blocks(make_rules("bestia", 4), SessionConfig(carry=6), 5, range(50), ("always",) * 4)
    paid = (results.chips < -make_rules("bestia", 4).ante).sum()
    assert sum(row["bestia"] for row in crowd) == paid > 0


def test_the_gain_of_pairing_is_told(tmp_path):
    summary = run(tmp_path, "--agents", "medium", "tight", "loose", "--deals", "400", "--fields", "medium")
    told = {(row["first"], row["second"]): row for row in summary["differences"]}
    row = told["medium", "tight"]
    rules, session = make_rules("bestia", 4), SessionConfig(carry=6)
    one, two = (
        play_blocks(rules, session, 5, range(400), (hero, *["medium"] * 3)).scores[:, :, 0]
        for hero in ("medium", "tight")
    )
    paired = (one - two).mean(axis=1).var() * 4
    assert row["gain"] == pytest.approx((one.var() + two.var()) / paired)
    assert row["differ"] == pytest.approx(((one - two).mean(axis=1) != 0).mean())
    assert row["gain"] > 2


def test_played_until_separated(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.tournament.PART_BLOCKS", 250)
    words = ["--agents", "medium", "always", "--deals", "5000", "--until-separated"]
    summary = run(tmp_path / "out", *words)
    blocks = len(pq.read_table(tmp_path / "out" / "blocks.parquet")) // 4
    assert blocks == 250  # these two are told apart at the first look
    first = next(row for row in summary["differences"] if row["field"] == "medium")
    fixed = run(tmp_path / "fixed", "--agents", "medium", "always", "--deals", "250")
    (same,) = [row for row in fixed["differences"] if row["field"] == "medium"]
    assert first["score"]["mean"] == pytest.approx(same["score"]["mean"])
    assert first["score"]["high"] - first["score"]["low"] > 1.3 * (same["score"]["high"] - same["score"]["low"])
    (tmp_path / "copycat.py").write_text("import agents\nCopycat = agents.make_agent('medium')\n")
    monkeypatch.syspath_prepend(tmp_path)
    alike = "--agents medium copycat:Copycat --fields medium --deals 500 --until-separated".split()
    summary = run(tmp_path / "alike", *alike)
    assert len(pq.read_table(tmp_path / "alike" / "blocks.parquet")) == 2 * 500  # never: up to the cap
    assert summary["differences"][0]["score"] == {"mean": 0, "low": 0, "high": 0}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["identity"]["stopping"]["cap"] == 5000


def test_stopping_early_is_the_same_after_a_kill(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.tournament.PART_BLOCKS", 250)
    words = ["--agents", "medium", "tight", "--fields", "medium", "--deals", "2500", "--until-separated"]
    whole = run(tmp_path / "whole", *words)
    calls = []
    separated = tournament._separated

    def killed(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return separated(*arguments)

    monkeypatch.setattr(tournament, "_separated", killed)
    command = ["--variant", "bestia", "--players", "4", "--seed", "5", "--carry", "6", *words]
    out = tmp_path / "killed"
    assert main([*command, "--out", str(out)]) == 130
    assert run(out, *words) == whole
    assert (out / "blocks.parquet").read_bytes() == (tmp_path / "whole" / "blocks.parquet").read_bytes()


def test_luck_of_the_deal_is_taken_out(tmp_path, capsys):
    summary = run(tmp_path / "out", "--agents", "medium", "always", "--deals", "400", "--luck-correction")
    told = {(row["hero"], row["field"]): row["score"] for row in summary["corrected"]}
    blocks = pq.read_table(tmp_path / "out" / "blocks.parquet").to_pylist()
    score = [row["score"] for row in blocks if (row["hero"], row["field"]) == ("always", "medium")]
    covariates = deal_covariates(make_rules("bestia", 4), SessionConfig(carry=6), 5, range(400))
    assert told["always", "medium"]["mean"] == pytest.approx(adjust(score, covariates).mean())
    assert told["medium", "medium"] == {"mean": 0, "low": 0, "high": 0}
    assert "luck of the deal taken out" in capsys.readouterr().out
    command = ["--variant", "bettelmann", "--agents", "random", "--luck-correction", "--out", str(tmp_path / "none")]
    assert main(command) == 2
    assert "which have trumps" in capsys.readouterr().err


def test_sample_sizes_rankings_and_ratings_are_told(tmp_path, capsys):
    words = ["--agents", "medium", "always", "tight", "--deals", "200", "--detect", "0.01", "--openskill"]
    summary = run(tmp_path, *words)
    told = capsys.readouterr().out
    (row,) = [
        r for r in summary["differences"] if (r["field"], r["first"], r["second"]) == ("always", "medium", "tight")
    ]
    assert f"{blocks_needed(row['deviation'], 0.01):,}" in told
    assert "(no evidence)" in told
    worst = {case["agent"]: case for case in summary["worst_cases"]}
    assert worst["always"]["mean"] == min(row["score"]["mean"] for row in summary["tables"] if row["hero"] == "always")
    assert [case["agent"] for case in summary["worst_cases"]][-1] == "always"
    assert summary["payoffs"]["agents"] == summary["payoffs"]["settings"] == ["always", "medium", "tight"]
    assert summary["payoffs"]["mean"][1][1] == 0
    assert set(summary["openskill"]) == {"always", "medium", "tight"}


# --- sessions -------------------------------------------------------------------------------------------------------


def test_sessions_are_told_beside_the_score(tmp_path, capsys):
    words = "--agents always never --deals 2 --sessions 12 --session-deals 9 --bankroll 12".split()
    summary = run(tmp_path, *words)
    told = {(row["hero"], row["field"]): row for row in summary["sessions"]}
    assert "a session" in capsys.readouterr().out
    assert told["always", "always"]["ruined"]["mean"] > 0.2
    assert told["never", "never"]["ruined"]["mean"] < told["always", "always"]["ruined"]["mean"]
    rows = pq.read_table(tmp_path / "sessions.parquet").to_pylist()
    assert len(rows) == 4 * 12
    row = next(row for row in rows if (row["hero"], row["field"], row["block"]) == ("never", "always", 7))
    chips = ruined = 0
    for rotation in range(4):  # the same sessions one by one
        session = SessionConfig(num_deals=9, play_on=True)
        batch = GameBatch("bestia", 1, num_players=4, seed=5, session=session, autoreset=False, rows=[7])
        policies = [make_policy("never" if seat == rotation else "always", batch.rules) for seat in range(4)]
        purse, lowest = 0, 0
        while batch.actor[0] >= 0:
            batch.step(policies[batch.actor[0]].act(batch.view(), batch.keys()))
            purse += batch.rewards[0, rotation]
            lowest = min(lowest, purse)
        chips, ruined = chips + purse, ruined + (lowest <= -12 * batch.rules.ante)
    assert (row["chips"], row["ruined"]) == (chips, ruined)


# --- exports --------------------------------------------------------------------------------------------------------


def test_deals_and_decisions_are_exported(tmp_path):
    summary = run(tmp_path, "--agents", "medium", "random", "--deals", "8", "--export-blocks", "3")
    records = sorted((tmp_path / "records").rglob("*.toml"))
    assert len(records) == 4 * 3 * 4
    record = load_record(tmp_path / "records" / "0001" / "000000002-1.toml").replay()
    results = play_blocks(make_rules("bestia", 4), SessionConfig(carry=6), 5, [2], ("medium", *["random"] * 3))
    assert np.roll(record.net, -1).tolist() == results.chips[0, 1].tolist()
    parts = sorted((tmp_path / "decisions").glob("*.parquet"))
    decisions = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert {row["block"] for row in decisions} == {0, 1, 2}
    batch = GameBatch("bestia", 4, num_players=4, seed=5, session=SessionConfig(carry=6), autoreset=False, rows=[0] * 4)
    first = next(row for row in decisions if (row["block"], row["decision"]) == (0, 0))
    assert np.array_equal(np.float32(first["observation"]), batch.encode(batch.view())[0])
    assert first["action_mask"] == batch.legal()[0].astype(int).tolist()
    assert all(row["action_mask"][row["action"]] for row in decisions)
    table = pq.read_table(parts[1]).to_pylist()  # medium among random agents
    own = {(row["block"], row["rotation"]): row["score"] for row in table if row["agent"] == "medium"}
    assert own[2, 1] == pytest.approx(results.scores[0, 1, 0])
    assert summary["tables"]
