"""The comparison with other libraries, without any of them: reading, reckoning, tables, command lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers import __main__ as command
from benchmarks.peers import openspiel, ours, timing
from benchmarks.peers.compare import COMPARED, Sample, compare, parse_lines, table
from benchmarks.throughput import FUSED, WITH_MASK, WITH_TENSOR, batch_work
from bestia_env import BestiaError, GameBatch, make_rules

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "peers"


def row(kind: str, game: str, best: float, median: float) -> dict[str, Any]:
    return {"kind": kind, "game": game, "best": best, "median": median, "decisions_a_game": 10.0, "versions": {}}


# --- measuring ------------------------------------------------------------------------------------------------------


def test_a_rate_is_decisions_over_the_time_of_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    spent = iter([9.0, 0.25, 0.25, 0.5, 1.0])  # the first call is not counted, then repeats of at least half a second

    def play() -> int:
        nonlocal now
        now += next(spent)
        return 5

    monkeypatch.setattr(timing.time, "process_time", lambda: now)
    told = timing.measure(timing.Interface("kind", "game", play), seconds=0.5, repeats=3)
    assert told == {"kind": "kind", "game": "game", "best": 20.0, "median": 10.0, "decisions_a_game": 5.0}


class Countdown:
    """A PettingZoo-like game of ``length`` decisions, after which two agents leave."""

    def __init__(self, length: int) -> None:
        self.length, self.steps = length, []

    def reset(self) -> None:
        self.steps = []

    def agent_iter(self) -> Any:
        while len(self.steps) < self.length + 2:
            yield "agent"

    def last(self) -> tuple[Any, ...]:
        mask = np.array([0, 1, 0, 1], np.int8)
        return {"action_mask": mask}, 0, len(self.steps) >= self.length, False, {}

    def step(self, action: int | None) -> None:
        self.steps.append(action)


def test_the_aec_loop_counts_decisions_only_and_chooses_among_the_legal() -> None:
    env, chance = Countdown(400), timing.chances()
    assert timing.aec_game(env, chance) == 400
    first = env.steps
    assert first[400:] == [None, None]
    assert {action: first.count(action) > 150 for action in set(first[:400])} == {1: True, 3: True}
    timing.aec_game(env, chance)
    assert env.steps != first, "the same choices in every game"


def test_the_length_of_a_game_of_ours() -> None:
    rules = make_rules("bestia")
    batch = GameBatch(rules, 500, seed=3, autoreset=False)
    decisions = 0
    while (batch.actor >= 0).any():
        decisions += int((batch.actor >= 0).sum())
        batch.step(batch.random_actions())
    assert ours.decisions_a_game(rules) == pytest.approx(decisions / 500, rel=0.05)


@pytest.mark.parametrize("script", list(COMPARED))
def test_a_script_says_what_is_missing(script: str) -> None:
    # no site-packages: nothing that a script could measure is there, whatever this environment has
    done = subprocess.run(
        [sys.executable, "-S", "-m", f"benchmarks.peers.{script}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.search(r"no module '\w+' in .*; `make peers` installs it\n$", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seconds", "0"], "--seconds: 0; allowed are numbers above 0"),
        (["--seconds", "inf"], "--seconds: inf; allowed are numbers above 0"),
        (["--repeats", "x"], "--repeats: invalid int value: 'x'"),
    ],
)
def test_options_of_a_script_are_checked(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        timing.run(("nothing",), lambda: iter(()), words)
    assert said in capsys.readouterr().err


def test_a_script_prints_rows_that_can_be_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing.os, "environ", {})
    both = [timing.Interface("a", "game", lambda: 3, 7.5), timing.Interface("b", "game", lambda: 3)]
    timing.run(("numpy",), lambda: iter(both), ["--seconds", "1e-9", "--repeats", "1", "--kinds", "a"])
    (read,) = parse_lines(capsys.readouterr().out, "script")
    assert (read["kind"], read["decisions_a_game"]) == ("a", 7.5)
    assert set(read["versions"]) == {"python", "numpy"}
    assert timing.os.environ["OMP_NUM_THREADS"] == "1"


# --- comparing ------------------------------------------------------------------------------------------------------


def test_reading_skips_what_a_library_says() -> None:
    good = row("kind", "game", 2, 1)
    assert parse_lines(f"Welcome to the library!\n{json.dumps(good)}\n\n", "script") == [good]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello\n", "script: printed no JSON line, but 'hello"),
        (json.dumps(row("kind", "game", 0, 1)), "script: best=0 in"),
        (json.dumps(row("kind", "game", 1, float("inf"))), "script: median=inf in"),
        (json.dumps({"best": 1, "median": 1, "kind": "a", "versions": {}}), "script: decisions_a_game, game missing"),
    ],
)
def test_reading_refuses(text: str, said: str) -> None:
    with pytest.raises(BestiaError, match=re.escape(said)):
        parse_lines(text, "script")


def samples() -> list[Sample]:
    """Two rounds, the second on a machine half as fast for ours and a fifth as fast for theirs."""
    fast = [row(openspiel.TENSOR, "list", 10, 8), row(openspiel.TENSOR, "NumPy", 20, 18)]
    slow = [row(openspiel.TENSOR, "list", 2, 2), row(openspiel.TENSOR, "NumPy", 4, 3)]
    mine = [row(FUSED, "bestia (5)", 9000, 9000), row(WITH_TENSOR, "bestia (5)", 200, 180)]
    return [Sample(mine, fast), Sample([row(WITH_TENSOR, "bestia (5)", 100, 90)], slow)]


def test_ratios_of_rounds() -> None:
    slower, faster = compare("openspiel", samples())
    assert [slower["game"], slower["counts"], faster["game"], faster["counts"]] == ["list", False, "NumPy", True]
    assert (faster["best"], faster["ours_best"], faster["times_best"]) == (20, 200, 10)
    assert (faster["median"], faster["ours_median"]) == (10.5, 135)
    assert faster["times_median"] == (180 / 18 + 90 / 3) / 2
    assert faster["ours"] == WITH_TENSOR
    assert faster["wanted"] == 8


def test_the_table_marks_what_counts() -> None:
    _, _, slower, faster = table(compare("openspiel", samples())).splitlines()
    assert slower.endswith(f"| 10.0 | {WITH_TENSOR} | 200 | 20.0 | 33.8 |  |")
    assert faster.endswith(f"| 20.0 | {WITH_TENSOR} | 200 | **10.0** | **20.0** | 8 |")


def test_what_is_compared_is_measured() -> None:
    measured = {*batch_work(make_rules("bestia"), 64, 1), ours.AEC}
    assert {comparison.ours for kinds in COMPARED.values() for comparison in kinds.values()} <= measured
    assert WITH_MASK in measured


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rounds", "0"], "--rounds 0; allowed are integers from 1"),
        (["--seconds", "nan"], "--seconds nan; allowed are numbers above 0"),
        (["--variant", "bridge"], "bridge"),
        (["--players", "99"], "99"),
    ],
)
def test_options_of_the_command_are_checked(words: list[str], said: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(said)):
        command.main(words)


def test_an_environment_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BestiaError, match=r"--peers pgx: .*python is missing; `make peers` makes it"):
        command.interpreter("pgx", tmp_path)


def test_the_command_plays_in_turn_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def run_script(_python: object, script: str, options: list[str]) -> list[dict[str, Any]]:
        calls.append(script)
        if script == "ours":
            return [row(kind, "bestia (5)", 900, 800) for kind in options[options.index("--kinds") + 1 :]]
        return [row(kind, "game", 9, 8) for kind in COMPARED[script]]

    monkeypatch.setattr(command, "run_script", run_script)
    monkeypatch.setattr(command, "interpreter", lambda peer: peer)
    command.main(["--peers", "rlcard", "pgx", "--rounds", "2", "--out", str(tmp_path / "new")])
    assert calls == ["ours", "rlcard", "ours", "pgx"] * 2
    written = json.loads((tmp_path / "new" / "peers.json").read_text())
    assert [told["times_best"] for told in written["rows"]] == [100, 100, 100]
    assert set(written["versions"]) == {"ours", "rlcard", "pgx"}
    assert "| **100** | **100** |" in capsys.readouterr().out


def test_a_script_that_fails_is_told() -> None:
    with pytest.raises(BestiaError, match=r"(?s)benchmarks\.peers\.ours --seconds 0: ended with 2\n.*allowed are"):
        command.run_script(sys.executable, "ours", ["--seconds", "0"])


def test_every_package_of_a_peer_is_pinned() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(COMPARED)
    for path in FOLDER.glob("*.txt"):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
        assert f"PEERS   ?= {' '.join(COMPARED)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
