"""Decisions per second of this library and of others, measured in turn: ``python -m benchmarks.peers``.

Each library has an environment of its own, ``.venv-peers/<name>``; ``make peers`` makes them and runs this. A round
runs, for every peer, first ours and then theirs, each in a fresh process bound to one processor core, the next round on
the next core. What each row includes is told in docs/throughput.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.compare import COMPARED, Sample, compare, parse_lines, table
from benchmarks.store import git_revision
from bestia_env import BestiaError, make_rules

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-peers"
TIMEOUT = 900
"""Seconds until a script that hangs is given up; the first ones compile."""


def interpreter(peer: str, folder: Path = FOLDER) -> Path:
    """The Python of a peer's environment.

    Raises:
        BestiaError: it has not been made.
    """
    path = folder / peer / "bin" / "python"
    if not path.exists():
        raise BestiaError(f"--peers {peer}: {path} is missing; `make peers` makes it")
    return path


def run_script(python: Path | str, script: str, options: Sequence[str]) -> list[dict[str, Any]]:
    """Runs a script of this folder and returns the rows it printed.

    Raises:
        BestiaError: it failed, did not end, or printed something else.
    """
    command = [str(python), "-m", f"benchmarks.peers.{script}", *options]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise BestiaError(f"{' '.join(command)}: did not end within {TIMEOUT} s") from None
    if done.returncode:
        raise BestiaError(f"{' '.join(command)}: ended with {done.returncode}\n{done.stderr[-2000:]}")
    return parse_lines(done.stdout, script)


def play_round(turn: int, pythons: Mapping[str, Path], arguments: argparse.Namespace) -> dict[str, Sample]:
    """One round: for every peer ours and then theirs, on the processor core whose turn it is."""
    same = ["--seconds", str(arguments.seconds), "--repeats", str(arguments.repeats)]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if cores:
        same += ["--cpu", str(cores[turn % len(cores)])]
    ours = ["--variant", arguments.variant, "--games", str(arguments.games)]
    if arguments.players is not None:
        ours += ["--players", str(arguments.players)]
    samples = {}
    for peer, python in pythons.items():
        print(f"round {turn + 1} of {arguments.rounds}: {peer}", file=sys.stderr, flush=True)
        kinds = dict.fromkeys(comparison.ours for comparison in COMPARED[peer].values())
        mine = run_script(sys.executable, "ours", [*same, *ours, "--kinds", *kinds])
        samples[peer] = Sample(mine, run_script(python, peer, same))
    return samples


def machine() -> dict[str, Any]:
    """What was measured on."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "load": load}


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Reads and checks the command line.

    Raises:
        BestiaError: an option is out of range, or there is no such preset.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peers", nargs="+", choices=COMPARED, default=list(COMPARED), metavar="PEER", help=", ".join(COMPARED)
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds, ours and theirs in turn")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of one repeat in a round")
    parser.add_argument("--repeats", type=int, default=8, help="repeats in a round")
    parser.add_argument("--variant", default="bestia", help="our preset")
    parser.add_argument("--players", type=int, help="our table size; default: the preset's own")
    parser.add_argument("--games", type=int, default=4096, help="our games a batch")
    parser.add_argument("--out", type=Path, default=Path("results/peers"), help="folder for peers.json")
    arguments = parser.parse_args(words)
    for name, allowed in (
        ("rounds", "integers from 1"),
        ("repeats", "integers from 1"),
        ("games", "integers from 1"),
        ("seconds", "numbers above 0"),
    ):
        value = getattr(arguments, name)
        if not 0 < value < float("inf"):
            raise BestiaError(f"--{name} {value}; allowed are {allowed}")
    make_rules(arguments.variant, arguments.players)
    return arguments


def main(words: Sequence[str] | None = None) -> None:
    """Command line."""
    path, rows = None, []
    try:
        arguments = parse(words)
        pythons = {peer: interpreter(peer) for peer in arguments.peers}  # first, so that a missing one is told at once
        samples: dict[str, list[Sample]] = {peer: [] for peer in pythons}
        facts = {
            "command": sys.argv[1:] if words is None else list(words),
            "revision": git_revision(),
            "rules": str(make_rules(arguments.variant, arguments.players)),
            "games": arguments.games,
            "machine": machine(),
        }
        for turn in range(arguments.rounds):
            for peer, sample in play_round(turn, pythons, arguments).items():
                samples[peer].append(sample)
            rows = [row for peer, rounds in samples.items() for row in compare(peer, rounds)]
            path = write(arguments.out, facts, samples, rows)  # every round, so that a run that is stopped is not lost
    except BestiaError as error:
        raise SystemExit(f"error: {error}") from None
    print(f"ours: {facts['rules']}, {rows[0]['ours_decisions_a_game']:.1f} decisions a game\n\n{table(rows)}\n\n{path}")


def write(
    folder: Path, facts: Mapping[str, Any], samples: Mapping[str, list[Sample]], rows: Sequence[Mapping[str, Any]]
) -> Path:
    """Writes ``peers.json``: what was run on what, versions, the comparison, and every figure of every round."""
    versions = {peer: rounds[0].theirs[0]["versions"] for peer, rounds in samples.items()}
    versions["ours"] = next(iter(samples.values()))[0].ours[0]["versions"]
    raw = {peer: [sample._asdict() for sample in rounds] for peer, rounds in samples.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "peers.json"
    told = {**facts, "versions": versions, "rows": rows, "samples": raw}
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
