"""The tournament: fair, repeatable, resumable, and honest about what it does not know."""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from agents import agent_names
from benchmarks import runner, store
from benchmarks.options import session_of
from benchmarks.runner import play_blocks
from benchmarks.tournament import main
from bestia_env import BestiaError, GameBatch, SessionConfig, make_policy, make_rules

ROOT = Path(__file__).resolve().parents[1]
FILES = {"behaviour.parquet", "blocks.parquet", "manifest.json", "summary.json"}


def words(out, **options):
    options = {"variant": "bestia", "players": 3, "agents": "random always medium", "deals": 40, "seed": 7} | options
    told = [word for name, value in options.items() if value is not None for word in (f"--{name}", *str(value).split())]
    return [*told, "--out", str(out)]


def run(out, **options):
    assert main(words(out, **options)) == 0
    assert {path.name for path in out.iterdir()} == FILES
    return contents(out)


def contents(out):
    """Every file of a folder but the time stamps; the block table byte by byte."""
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest.pop("time")["finished"]
    return {
        "manifest": manifest,
        "blocks": (out / "blocks.parquet").read_bytes(),
        "summary": json.loads((out / "summary.json").read_text()),
    }


def numbers(contents):
    return contents["blocks"], contents["summary"], contents["manifest"]["identity"]


# --- blocks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        (variant, name)
        for variant in ("bestia", "bestia_strict", "bestia_roman", "online4", "julepe", "mauscheln")
        for name in agent_names(make_rules(variant))
    ],
)
def test_an_agent_against_itself_scores_exactly_zero(variant, name):
    rules = make_rules(variant)
    session, _ = session_of(rules, None)
    results = play_blocks(rules, session, 3, range(60), (name,) * rules.num_players)
    assert (results.score_top.sum(axis=2) == 0).all()  # zero-sum on every deal
    assert (results.score_top.sum(axis=1) == 0).all()  # and for every position over the rotations


def test_rotations_play_the_same_deal_from_every_seat():
    rules = make_rules("bestia", 4)
    results = play_blocks(rules, SessionConfig(carry=9), 5, range(50), ("medium",) * 4)
    for rotation in range(4):
        for place in range(4):
            assert (results.chips[:, rotation, place] == results.chips[:, 0, (place + rotation) % 4]).all()
    lonely = GameBatch(rules, 1, seed=5, session=SessionConfig(carry=9), autoreset=False, rows=[17])
    policy = make_policy("medium", rules)
    while lonely.actor[0] >= 0:
        lonely.step(policy.act(lonely.view(), lonely.keys()))
    assert results.chips[17, 0].tolist() == lonely.states["net"][0, :4].tolist()


def test_blocks_do_not_depend_on_company(monkeypatch):
    rules = make_rules("bestia", 5)
    lineup = ("medium", "random", "always", "loose", "random")
    whole = play_blocks(rules, SessionConfig(), 5, range(300), lineup)
    monkeypatch.setattr(runner, "GAMES_AT_ONCE", 35)
    few = play_blocks(rules, SessionConfig(), 5, [250, 7, 8], lineup)
    assert (few.score_top == whole.score_top[[250, 7, 8]]).all()
    assert (few.chips == whole.chips[[250, 7, 8]]).all()
    assert (few.score_base == whole.score_base[[250, 7, 8]]).all()


def test_chips_add_up_to_what_the_pot_lost():
    rules = make_rules("bestia_buco", 5)
    lineup = ("medium", "random", "always", "loose", "never")
    results = play_blocks(rules, SessionConfig(carry=20), 5, range(200), lineup)
    pot = 20 + 5 * rules.ante
    assert (results.score_base == 5 * pot).all()
    # the score: chips without the ante that all paid, and an equal part of what the next pot gained, in pots
    left = 20 - results.chips.sum(axis=2)
    scores = (results.chips + rules.ante + (left - pot)[:, :, None] / 5) / pot
    assert np.allclose(scores, results.scores, atol=1e-12)
    assert np.abs(results.scores.sum(axis=2)).max() < 1e-12


def test_a_game_without_a_pot():
    rules = make_rules("camicia", 3)
    session, note = session_of(rules, None)
    assert "without a pot" in note
    results = play_blocks(rules, session, 3, range(6), ("random", "medium", "never"))
    assert (results.score_top.sum(axis=(1, 2)) == 0).all()


def test_bad_line_ups():
    rules = make_rules("bestia", 3)
    with pytest.raises(BestiaError, match="lineup of 2"):
        play_blocks(rules, SessionConfig(), 1, range(2), ("random", "medium"))
    with pytest.raises(BestiaError, match="a block is one deal"):
        play_blocks(rules, SessionConfig(num_deals=2), 1, range(2), ("random",) * 3)
    with pytest.raises(BestiaError, match="blocks is empty"):
        play_blocks(rules, SessionConfig(), 1, [], ("random",) * 3)
    with pytest.raises(BestiaError, match="'nobody'"):
        play_blocks(rules, SessionConfig(), 1, range(2), ("random", "nobody", "random"))


# --- one command ----------------------------------------------------------------------------------------------------


def test_files_and_numbers(tmp_path, capsys):
    told = run(tmp_path / "out", carry="6")
    printed = capsys.readouterr().out
    assert "bestia(num_players=3) · 40 blocks of 3 rotations a table" in printed
    assert "carry 6" in printed
    manifest = told["manifest"]
    assert manifest["command"].startswith("python -m benchmarks.tournament --variant bestia")
    identity = manifest["identity"]
    assert identity["rules"] == make_rules("bestia", 3).full_text()
    assert identity["session"]["carry"] == 6
    assert identity["agents"] == {"always": "v1", "medium": "v1", "random": "v1"}
    assert {"version", "code", "seed", "blocks", "rotations"} <= set(identity)
    assert {"revision", "packages"} <= set(manifest)

    blocks = pq.read_table(tmp_path / "out" / "blocks.parquet").to_pydict()
    assert len(blocks["block"]) == 9 * 40
    direct = play_blocks(make_rules("bestia", 3), SessionConfig(carry=6), 7, range(40), ("medium", "random", "random"))
    rows = [i for i in range(360) if (blocks["hero"][i], blocks["field"][i]) == ("medium", "random")]
    assert [blocks["score_top"][i] for i in rows] == direct.score_top[:, :, 0].sum(axis=1).tolist()
    assert [blocks["chips"][i] for i in rows] == direct.chips[:, :, 0].sum(axis=1).tolist()
    assert {blocks["score_base"][i] for i in rows} == {3 * 9}
    for table in told["summary"]["tables"]:
        mine = [i for i in range(360) if (blocks["hero"][i], blocks["field"][i]) == (table["hero"], table["field"])]
        assert table["score"]["mean"] == pytest.approx(np.mean([blocks["score"][i] for i in mine]))
        assert table["chips"]["mean"] == pytest.approx(np.mean([blocks["chips"][i] for i in mine]) / 3)
        if table["hero"] == table["field"]:
            assert table["score"] == {"mean": 0, "low": 0, "high": 0}
    means = {(t["hero"], t["field"]): t["score"]["mean"] for t in told["summary"]["tables"]}
    assert len(told["summary"]["differences"]) == 9
    for difference in told["summary"]["differences"]:
        expected = means[difference["first"], difference["field"]] - means[difference["second"], difference["field"]]
        assert difference["score"]["mean"] == pytest.approx(expected)


def test_same_command_twice_other_order_two_processes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.tournament.PART_BLOCKS", 15)
    once = run(tmp_path / "once")
    with monkeypatch.context() as patch:  # nothing is played, computed or written again
        for name in ("summarise", "run_tasks"):
            patch.setattr(f"benchmarks.tournament.{name}", None)
        before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "once").iterdir()}
        told = capsys.readouterr().out
        run(tmp_path / "once")
        assert capsys.readouterr().out == told
        assert before == {
            path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "once").iterdir()
        }
    again = run(tmp_path / "again")
    once["manifest"].pop("command"), again["manifest"].pop("command")
    assert once == again
    capsys.readouterr()
    other = run(tmp_path / "other", agents="medium random always")
    assert numbers(once) == numbers(other)
    heroes = [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("always ")]
    assert heroes[:3] == ["medium", "random", "always"]
    assert numbers(once) == numbers(run(tmp_path / "two", jobs=2))


def test_killed_and_resumed(tmp_path):
    """Killed at three random moments while it plays, then run to the end: the files of a run that was left alone."""
    options = {"deals": 9000, "players": 3, "agents": "always medium"}
    whole = run(tmp_path / "whole", **options)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "benchmarks.tournament", *words(out, **options)]
    draw = random.Random(time.time_ns())
    unfinished = 0
    for _ in range(3):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (out / "manifest.json").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.wait()
        unfinished += not (out / "blocks.parquet").exists()
    assert unfinished
    resumed = run(out, **options)
    whole["manifest"].pop("command"), resumed["manifest"].pop("command")
    assert resumed == whole


def test_damaged_parts_are_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.tournament.PART_BLOCKS", 15)
    whole = run(tmp_path / "whole")
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(store.RunFolder, "finish", lambda self, names: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(words(out)) == 130
    parts = sorted((out / "parts").glob("*.blocks.parquet"))
    assert len(parts) == 27
    parts[3].write_bytes(parts[3].read_bytes()[:100])
    parts[5].unlink()
    (out / "parts" / "0000-000000000.blocks.parquet.tmp").write_bytes(b"half a fi")
    assert numbers(run(out)) == numbers(whole)


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "bridge"}, "variant='bridge'; allowed are bestia"),
        ({"players": 2}, "num_players=2; allowed is an integer from 3 to 10 (bestia)"),
        ({"agents": "medium shark"}, "agent 'shark'; allowed are random, always"),
        ({"agents": "medium medium"}, "each once"),
        ({"agents": "no.such:thing medium"}, "'no.such:thing'"),
        ({"deals": 1}, "--deals 1; allowed are integers from 2"),
        ({"jobs": 0}, "--jobs 0; allowed"),
        ({"seed": -1}, "seed=-1; allowed"),
        ({"carry": "much"}, "--carry 'much'; allowed"),
        ({"carry": 2**60}, "carry"),
        ({"set": "ante=4"}, "ante=4"),
        ({"set": "colour=red"}, "unknown field 'colour'"),
        ({"set": "penalty_cap"}, "allowed is field=value"),
        ({"rules": "bestia(num_players=5)"}, "one way to name the rules"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, capsys, options, message):
    assert main(words(tmp_path / "out", **options)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_folder_of_another_tournament_is_refused(tmp_path, capsys):
    out = tmp_path / "out"
    run(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for change, key in [
        ({"seed": 8}, "seed"), ({"deals": 41}, "blocks"), ({"players": 4}, "rotations"), ({"carry": 3}, "session"),
        ({"set": "penalty_cap=30"}, "rules"), ({"agents": "random always"}, "agents"),
    ]:  # fmt: skip
        assert main(words(out, **change)) == 2
        assert f"holds another run: its {key} is" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_folder_of_other_code_is_refused(tmp_path, capsys, monkeypatch):
    run(tmp_path / "out")
    monkeypatch.setattr("benchmarks.tournament.code_hash", lambda: "0123456789abcdef")
    assert main(words(tmp_path / "out")) == 2
    assert "its code is" in capsys.readouterr().err


@pytest.mark.parametrize(
    "edited",
    [
        "bestia_env/rng.py",
        "bestia_env/rams/typical.json",
        "agents/thumb.py",
        "agents/rams/tricks.py",
        "benchmarks/tournament.py",
        "benchmarks/options.py",
    ],
)
def test_code_hash_covers_what_decides(tmp_path, monkeypatch, edited):
    before = store.code_hash()
    for folder in ("bestia_env", "agents", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(store, "_ROOT", tmp_path)
    assert store.code_hash() == before
    (tmp_path / edited).write_text((tmp_path / edited).read_text() + "\n")
    assert store.code_hash() != before


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("edited", ["mine.py", "behind.py"])
def test_an_edited_agent_is_another_run(tmp_path, capsys, monkeypatch, edited, finished):
    """Its version is the same; neither an old table nor old parts may be taken for those of the new agent."""
    (tmp_path / "behind.py").write_text(
        "from bestia_env import RandomPolicy\nclass A(RandomPolicy):\n    version = 'v1'\n"
    )
    (tmp_path / "mine.py").write_text("from behind import A\n")
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "out"
    command = words(out, agents="mine:A never")

    def fresh():  # as in a new process
        for name in ("mine", "behind"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    fresh()
    with monkeypatch.context() as patch:
        if not finished:
            patch.setattr(store.RunFolder, "finish", lambda self, names: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(command) == (0 if finished else 130)
    fresh()
    (tmp_path / edited).write_text((tmp_path / edited).read_text() + "# a line that changes nothing\n")
    capsys.readouterr()
    assert main(command) == 2
    told = capsys.readouterr()
    assert "holds another run: its agents is {'mine:A': 'v1, source " in told.err
    assert "field" not in told.out
    fresh()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("notes.txt", "mine", "holds 'notes.txt'"), ("manifest.json", "{", "cannot be read")],
)
def test_folder_with_something_else_is_refused(tmp_path, capsys, name, content, message):
    (tmp_path / name).write_text(content)
    assert main(words(tmp_path)) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == content


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "out").write_text("mine")
    assert main(words(tmp_path / "out")) == 2
    assert "is a file" in capsys.readouterr().err


def test_an_agent_that_remembers_is_found_out(tmp_path, capsys, monkeypatch):
    (tmp_path / "forgetful.py").write_text(
        "import numpy as np\n"
        "from bestia_env import RandomPolicy\n"
        "class Own(RandomPolicy):\n"
        "    version = 'v7'\n"
        "class Moody(RandomPolicy):\n"
        "    def __init__(self):\n"
        "        self.rng = np.random.default_rng(1)\n"
        "    def act(self, views, keys):\n"
        "        return super().act(views, self.rng.integers(0, 2**63, len(keys), dtype=np.uint64))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main(words(tmp_path / "out", agents="forgetful:Moody medium")) == 2
    assert "'forgetful:Moody' does not score 0 against itself" in capsys.readouterr().err
    told = run(tmp_path / "own", agents="forgetful:Own random")
    source = store.source_hash(["forgetful"])
    assert told["manifest"]["identity"]["agents"] == {"forgetful:Own": f"v7, source {source}", "random": "v1"}
    assert all(table["score"]["mean"] == 0 for table in told["summary"]["tables"])


def test_rake_is_no_error(tmp_path):
    told = run(tmp_path / "out", variant="online3", set="rake_bp=500", agents="medium always")
    assert all(t["score"]["mean"] < 0 for t in told["summary"]["tables"] if t["hero"] == t["field"])


def test_help_defines_the_columns(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    for word in ('"score"', '"chips"', '"low"', '"high"', '"hero"', '"field"', "--set"):
        assert word in told


def test_nested_folders_are_made(tmp_path):
    out = tmp_path / "deep" / "er"
    run(out)
    assert os.listdir(tmp_path / "deep") == ["er"]
