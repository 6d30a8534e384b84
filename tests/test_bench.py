"""Bench v1: frozen, and one line a game."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import bench
from benchmarks.bench import BENCH, HOLD_OUT, load, main
from benchmarks.options import session_of
from benchmarks.runner import play_blocks
from benchmarks.statistics import block_intervals
from benchmarks.summary import Results
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
    game = short[0]
    assert main(["--agent", "tight", "--against", "medium", "julepe", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    rows = json.loads((tmp_path / "bench.json").read_text())["games"]
    assert [list(row["against"]) for row in rows] == [["medium"], ["medium", "julepe"]]
    assert "julepe" in rows[0]["refused_against"]["julepe"]
    assert rows[0]["refused_against"]["julepe"] in printed
    rules = parse_rules(game.rules)
    session, _ = session_of(rules, None)

    def blocks(agent, fields):
        """(blocks, fields) scores of an agent, played without the bench."""
        return np.stack([
            play_blocks(rules, session, game.seed, range(30), (agent, field, field)).scores[:, :, 0].mean(axis=1)
            for field in fields
        ], axis=1)  # fmt: skip

    copies = [name for name in game.fields if game.fields[name] == (name,)]
    own = {agent: Results(tables(tmp_path, agent, game.name)) for agent in ("tight", "medium")}
    scores = {}
    for agent, results in own.items():
        scores[agent] = {name: results.column((agent, name), "score") for name in game.fields}
        assert np.allclose(np.stack([scores[agent][name] for name in copies], axis=1), blocks(agent, copies))
    known = [name for name in game.fields if name != HOLD_OUT]
    lead = [np.mean([scores["tight"][name] - scores["medium"][name] for name in known], axis=0),
            scores["tight"][HOLD_OUT] - scores["medium"][HOLD_OUT]]  # fmt: skip
    for interval, key in zip(block_intervals(np.stack(lead, axis=1), game.seed), ("score", "hold_out"), strict=True):
        assert rows[0]["against"]["medium"][key] == pytest.approx(interval._asdict())
    assert f"{rows[0]['against']['medium']['score']['low']:+.4f}" in printed


def tables(folder, agent, game):
    """The block table of an agent or rival."""
    place = folder / game if agent == "tight" else folder / "against" / agent / game
    return pq.read_table(place / "blocks.parquet")


def test_the_lead_of_several_seeds_holds_their_luck(short, tmp_path):
    words = ["--against", "medium", "--games", "bestia-3", "--out"]
    parts = {}
    for agents in (["tight"], ["loose"], ["tight", "loose"]):
        assert main(["--agent", *agents, *words, str(tmp_path / "-".join(agents))]) == 0
        (row,) = json.loads((tmp_path / "-".join(agents) / "bench.json").read_text())["games"]
        parts["-".join(agents)] = row["against"]["medium"]["score"]
    both = parts.pop("tight-loose")
    assert both["mean"] == pytest.approx(np.mean([part["mean"] for part in parts.values()]))
    assert both["low"] < min(part["mean"] for part in parts.values())
    assert both["high"] > max(part["mean"] for part in parts.values())


def test_seeds_that_play_no_game_together_are_refused(tmp_path, capsys, monkeypatch):
    games = [replace(game, blocks=30) for game in load() if game.name in ("bestia-5", "julepe-5")]
    monkeypatch.setattr(bench, "load", lambda: games)
    assert main(["--agent", "dmc", "julepe", "--out", str(tmp_path / "none")]) == 2  # each plays the other game
    assert "error: agent " in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_refusals(short, tmp_path, capsys, monkeypatch):
    for words, message in (
        (["--agent", "shark"], "agent 'shark'"),
        (["--agent", "medium", "--games", "bridge-4"], "--games 'bridge-4'; allowed are bestia-3, julepe-5"),
        (["--agent", "roman"], "roman"),
        (["--agent", "medium", "--against", "meduim"], "agent 'meduim'"),
        (["--agent", "medium", "--against", "roman"], "agent 'roman' cannot play"),
        (["--agent", "medium", "--against", "medium"], "each name once"),
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
