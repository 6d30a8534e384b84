"""Agents of a tournament that fail, and agents that live in files."""

from __future__ import annotations

import sys
import time

import pyarrow.parquet as pq
import pytest

from agents import agent_version, make_agent
from benchmarks.guard import Guard
from bestia_env import BestiaError, GameBatch, RandomPolicy, load_record, make_policy, make_rules
from tests.test_tournament_designs import mean_of, run

# --- agents that fail -----------------------------------------------------------------------------------------------

FAULTY = """
import time
import numpy as np
from bestia_env import RandomPolicy

class Raises(RandomPolicy):
    version = "v1"
    def act(self, views, keys):
        if (keys % 7 == 0).any():
            raise RuntimeError("lucky number")
        return super().act(views, keys)

class Illegal(RandomPolicy):
    version = "v1"
    def act(self, views, keys):
        actions = super().act(views, keys)
        actions[keys % 5 == 0] = 10**6
        return actions

class Slow(RandomPolicy):
    version = "v1"
    def act(self, views, keys):
        time.sleep(30)

class Odd(RandomPolicy):
    version = "v1"
    def act(self, views, keys):
        return super().act(views, keys).astype(float)
"""


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    (tmp_path / "faulty.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("faulty", None)
    return tmp_path / "out"


@pytest.mark.parametrize(("name", "kind"), [("Raises", "raised"), ("Illegal", "illegal"), ("Odd", "raised")])
def test_a_failing_agent_forfeits_and_is_told(faulty, capsys, name, kind):
    summary = run(faulty, "--agents", f"faulty:{name}", "medium", "--deals", "30")
    (row,) = summary["failures"]
    assert row["agent"] == f"faulty:{name}"
    assert row[kind] > 0
    assert sum(row[other] for other in ("raised", "timed_out", "illegal")) == row[kind]
    assert f"FAILED: faulty:{name}" in capsys.readouterr().out
    rows = pq.read_table(faulty / "blocks.parquet").to_pylist()
    assert len(rows) == 4 * 30
    mixed = [row for row in rows if (row["hero"], row["field"]) == (f"faulty:{name}", "medium")]
    assert sum(row["score"] for row in mixed) < 0
    behaviour = pq.read_table(faulty / "behaviour.parquet").to_pylist()
    assert sum(row["failed"] for row in behaviour) == summary["failures"][0][kind]


def test_a_forfeited_game_has_decisions_but_no_record(faulty):
    run(faulty, "--agents", "faulty:Illegal", "medium", "--deals", "20", "--export-blocks", "5")
    records = {path.relative_to(faulty / "records").as_posix() for path in (faulty / "records").rglob("*.toml")}
    assert 0 < len(records) < 4 * 5 * 4  # four tables of four rotations
    honest = {f"0003/{block:09d}-{rotation}.toml" for block in range(5) for rotation in range(4)}
    assert honest <= records  # medium among mediums
    for path in records:
        load_record(faulty / "records" / path).replay()
    assert len(pq.read_table(sorted((faulty / "decisions").glob("0000-*"))[0])) > 0


def test_a_bad_decision_costs_its_own_game_only(faulty):
    import faulty as module  # type: ignore[import-not-found]  # written by the fixture

    rules = make_rules("bestia", 4)
    batch = GameBatch(rules, 300, seed=2)
    agent = make_policy(module.Raises(), rules)
    guard = Guard(agent, batch.layout.num_actions)
    views, keys = batch.view(), batch.keys()
    actions, failed = guard.ask(views, keys)
    assert (failed == (keys % 7 == 0)).all()
    assert guard.failures["raised"] == failed.sum() > 0
    honest = RandomPolicy()
    honest.bind(rules)
    assert (actions[~failed] == honest.act(views, keys)[~failed]).all()
    assert guard.first == "raised: RuntimeError: lucky number"


def test_a_slow_agent_is_cut_off(faulty):
    began = time.monotonic()
    summary = run(faulty, "--agents", "faulty:Slow", "medium", "--deals", "3", "--timeout", "0.05")
    assert time.monotonic() - began < 25
    (row,) = summary["failures"]
    assert row["timed_out"] > 0
    assert "longer than 0.05 s" in row["first"]


# --- agents in files ------------------------------------------------------------------------------------------------

PLAYER = """
import json
from agents.thumb import ThumbPolicy, Thresholds

class Player(ThumbPolicy):
    def __init__(self, folder):
        top = json.loads((folder / "ranks.json").read_text())
        super().__init__("mine", Thresholds(top_ranks=tuple(top), unseen_against=1))
"""
MY_CARD = 'name = "mine"\nversion = "v3"\nkind = "python"\nfile = "player.py"\nattribute = "Player"\n'


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    (path / "card.toml").write_text(MY_CARD)
    (path / "player.py").write_text(PLAYER)
    (path / "ranks.json").write_text("[0, 5, 99, 99]")
    return path


def test_a_folder_with_a_card_plays(folder, tmp_path):
    summary = run(tmp_path / "out", "--agents", str(folder), "medium", "--deals", "30")
    assert mean_of(summary, str(folder), "medium") == 0  # it has the thresholds of medium
    before = agent_version(str(folder))
    assert before.startswith("v3, content ")
    (folder / "ranks.json").write_text("[0, 3, 99, 99]")
    assert agent_version(str(folder)) != before


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("name = ", "card.toml"),
        ('name = "mine"', "version=None; allowed is a text"),
        (MY_CARD.replace("python", "wasm"), "kind='wasm'; allowed are net, python, sb3"),
        (MY_CARD.replace("player.py", "../player.py"), "allowed is a file in the folder"),
        (MY_CARD + "format = 2\n", "format=2; allowed is 1"),
        (MY_CARD + "colour = 1\n", "key 'colour'; allowed are"),
        (MY_CARD.replace("Player", "Nobody"), "has no 'Nobody'"),
    ],
)
def test_bad_cards(folder, card, message):
    (folder / "card.toml").write_text(card)
    with pytest.raises(BestiaError) as error:
        make_agent(str(folder))
    assert message in str(error.value)


def test_no_such_file():
    for spec in ("no/such/folder", "missing.zip"):
        with pytest.raises(BestiaError, match="agent"):
            make_agent(spec)
    with pytest.raises(BestiaError, match="folder with a card"):
        make_agent("nobody")
