"""Bench v1: frozen, and one line a game."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import bench
from benchmarks.bench import BENCH, HOLD_OUT, load, main
from benchmarks.options import session_of
from benchmarks.runner import play_blocks
from bestia_env import BestiaError, parse_rules


def test_it_is_frozen():
    """A change makes Bench v2 in a file of its own: results of v1 are compared with results of last year."""
    digest = hashlib.sha256(BENCH.read_bytes()).hexdigest()
    assert digest == "a026555c489cb9d6d26c414fbdd83396fca24dcf81d86628027b32d6bbdd7394"


def test_its_games_are_played_as_they_were_frozen():
    games = load()
    assert len({game.name for game in games}) == len(games) == 15
    assert len({game.seed for game in games}) == 15
    for game in games:
        rules = parse_rules(game.rules)
        assert rules.full_text() == game.rules
        assert game.name == f"{rules.variant}-{rules.num_players}"
        assert set(game.fields) == {"loose", "medium", "tight", "thumbs", "wild", HOLD_OUT}
        known = {member for name, members in game.fields.items() if name != HOLD_OUT for member in members}
        assert not known & set(game.fields[HOLD_OUT])
        assert game.tournament("medium").deals == game.blocks


@pytest.fixture
def short(monkeypatch):
    games = [replace(game, blocks=30) for game in load() if game.name in ("bestia-3", "julepe-5")]
    monkeypatch.setattr(bench, "load", lambda: games)
    return games


def test_a_line_is_the_mean_over_the_fields(short, tmp_path, capsys):
    assert main(["--agent", "tight", "--out", str(tmp_path)]) == 0
    told = json.loads((tmp_path / "bench.json").read_text())
    assert [row["game"] for row in told["games"]] == ["bestia-3", "julepe-5"]
    row = told["games"][0]
    rules = parse_rules(short[0].rules)
    session, _ = session_of(rules, None)
    means = {}
    for field in ("loose", "medium", "tight"):
        results = play_blocks(rules, session, short[0].seed, range(30), ("tight", field, field))
        means[field] = results.scores[:, :, 0].mean()
        assert row["fields"][field]["mean"] == pytest.approx(means[field])
    assert row["fields"]["tight"] == {"mean": 0, "low": 0, "high": 0}
    assert row["score"]["mean"] == pytest.approx(np.mean([field["mean"] for field in row["fields"].values()]))
    printed = capsys.readouterr().out
    assert f"{row['score']['mean']:+.4f}" in printed
    assert f"{row['hold_out']['high']:+.4f}" in printed
    before = (tmp_path / "bestia-3" / "blocks.parquet").stat().st_mtime_ns
    assert main(["--agent", "tight", "--out", str(tmp_path)]) == 0  # answered from its files
    assert (tmp_path / "bestia-3" / "blocks.parquet").stat().st_mtime_ns == before
    assert capsys.readouterr().out == printed


def test_an_agent_of_one_game_has_one_line(short, tmp_path, capsys):
    assert main(["--agent", "julepe", "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "bench.json").read_text())["games"]
    assert "refused" in rows[0]
    assert rows[1]["score"]["mean"] > 0
    assert rows[0]["refused"] in capsys.readouterr().out


def test_several_training_seeds_of_one_method(short, tmp_path, capsys):
    assert main(["--agent", "tight", "loose", "--games", "bestia-3", "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "bench.json").read_text())["games"]
    means = {}
    for agent in ("tight", "loose"):
        assert (tmp_path / "bestia-3" / agent / "blocks.parquet").exists()
        assert main(["--agent", agent, "--games", "bestia-3", "--out", str(tmp_path / agent)]) == 0
        means[agent] = json.loads((tmp_path / agent / "bench.json").read_text())["games"][0]["score"]
    assert row["score"]["mean"] == pytest.approx((means["tight"]["mean"] + means["loose"]["mean"]) / 2)
    assert row["score"]["low"] < min(mean["low"] for mean in means.values())  # two seeds say little of a third
    assert "tight v1, loose v1" in capsys.readouterr().out


def test_a_lead_is_the_difference_deal_by_deal(short, tmp_path, capsys):
    words = ["--agent", "tight", "--against", "medium", "roman", "--out", str(tmp_path), "--games", "bestia-3"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "roman" in told.err  # cannot play this game
    (row,) = json.loads((tmp_path / "bench.json").read_text())["games"]
    assert list(row["against"]) == ["medium"]
    lead = row["against"]["medium"]["score"]
    assert main(["--agent", "medium", "--out", str(tmp_path / "medium"), "--games", "bestia-3"]) == 0
    medium = json.loads((tmp_path / "medium" / "bench.json").read_text())["games"][0]
    for key in ("score", "hold_out"):
        assert row["against"]["medium"][key]["mean"] == pytest.approx(row[key]["mean"] - medium[key]["mean"])
    printed = told.out
    assert f"  less medium{lead['mean']:+10.4f}" in printed
    assert main([*words[:2], "loose", *words[2:]]) == 0  # two seeds of a method against it
    (row,) = json.loads((tmp_path / "bench.json").read_text())["games"]
    assert row["against"]["medium"]["score"]["low"] < lead["mean"]
    assert main(["--agent", "tight", "--against", "tight", "--out", str(tmp_path)]) == 2
    assert "each name once" in capsys.readouterr().err


def test_refusals(short, tmp_path, capsys, monkeypatch):
    for words, message in (
        (["--agent", "shark"], "agent 'shark'"),
        (["--agent", "medium", "--games", "bridge-4"], "--games 'bridge-4'; allowed are bestia-3, julepe-5"),
        (["--agent", "roman"], "roman"),
    ):
        assert main([*words, "--out", str(tmp_path / "none")]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "none").exists()
    monkeypatch.undo()
    monkeypatch.setattr(bench, "agent_version", lambda agent: "v9")
    with pytest.raises(BestiaError, match=r"bench_v1.toml needs always v1; here it is v9"):
        load()
    monkeypatch.setattr(bench, "carries_hash", lambda rules: "other")
    with pytest.raises(BestiaError, match="the typical carries have changed"):
        short[0].tournament("medium")
