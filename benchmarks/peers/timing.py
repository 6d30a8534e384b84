"""How every script of this folder measures; standard library only, since each runs in its library's own environment."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import Any, NamedTuple

PINNED_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Interface(NamedTuple):
    """One way of playing a game, ready to be timed."""

    kind: str
    """What is comparable: rows of one kind are compared with the same interface of ours."""

    game: str

    play: Callable[[], int]
    """Plays on for a while and returns the decisions made: choices of players, neither cards dealt nor resets."""

    decisions_a_game: float | None = None
    """For the reader. None: a call of ``play`` is a whole game, so it can be counted."""


def measure(interface: Interface, seconds: float, repeats: int) -> dict[str, Any]:
    """Times an interface, after a first call that does not count.

    The clock is the processor time of this process: everything here computes without a pause, so on an idle machine
    that is the time that passes, and on a busy one the turns of other processes are not in it.

    Args:
        interface: what to play.
        seconds: how long one repeat lasts, at least.
        repeats: how many times.

    Returns:
        ``kind``, ``game``; ``best`` and ``median`` of the repeats, in decisions per second of processor time;
        ``decisions_a_game``.
    """
    interface.play()
    rates, decisions, calls = [], 0, 0
    for _ in range(repeats):
        done, elapsed, started = 0, 0.0, time.process_time()
        while elapsed < seconds:
            done += interface.play()
            calls += 1
            elapsed = time.process_time() - started
        rates.append(done / elapsed)
        decisions += done
    a_game = decisions / calls if interface.decisions_a_game is None else interface.decisions_a_game
    return {
        "kind": interface.kind,
        "game": interface.game,
        "best": max(rates),
        "median": statistics.median(rates),
        "decisions_a_game": a_game,
    }


def chances() -> Iterator[float]:
    """Numbers in [0, 1), drawn beforehand: choosing shall cost little, and the same in every AEC loop."""
    generator = random.Random(7)
    return itertools.cycle([generator.random() for _ in range(9973)])  # prime: no game begins at the same place soon


def aec_game(env: Any, chance: Iterator[float]) -> int:
    """One episode of a PettingZoo environment through ``reset``, ``last`` and ``step``, uniformly random legal actions.

    Ours and PettingZoo's own are timed with this same loop. It fetches observation and mask at every decision; the
    steps with None that follow the end of an episode are played, and not counted.
    """
    env.reset()
    decisions = 0
    for _agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(next(chance) * len(legal))]))
        decisions += 1
    return decisions


def positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    """What reads an option that is a number above 0."""

    def number(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text}; allowed are numbers above 0")
        return value

    number.__name__ = kind.__name__  # argparse says it when the text is no number
    return number


def run(
    packages: Sequence[str],
    interfaces: Callable[..., Iterator[Interface]],
    arguments: Sequence[str] | None = None,
    options: Callable[[argparse.ArgumentParser], object] = lambda _parser: None,
) -> None:
    """The command line of a script: prints a JSON line for each interface, versions included.

    Args:
        packages: distributions whose versions are told; the first one is the library that is measured.
        interfaces: makes what is timed, and imports the library; it is called after threads are pinned, with the
            values of ``options`` by name.
        arguments: instead of the command line.
        options: adds options to the parser.

    Raises:
        SystemExit: an option is wrong, or the library is not installed in this interpreter.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--seconds", type=positive(float), default=0.1, help="length of one repeat")
    parser.add_argument("--repeats", type=positive(int), default=8, help="repeats of each interface")
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="measure only these kinds of interfaces")
    parser.add_argument("--cpu", type=int, help="run on this processor core alone, where the system can do that")
    options(parser)
    chosen = vars(parser.parse_args(arguments))
    seconds, repeats, kinds, cpu = (chosen.pop(name) for name in ("seconds", "repeats", "kinds", "cpu"))
    os.environ |= PINNED_THREADS
    if cpu is not None and hasattr(os, "sched_setaffinity"):  # Linux
        allowed = os.sched_getaffinity(0)
        if cpu not in allowed:
            parser.error(f"--cpu {cpu}; allowed are {', '.join(map(str, sorted(allowed)))}")
        os.sched_setaffinity(0, {cpu})
    try:
        for interface in interfaces(**chosen):
            if kinds is not None and interface.kind not in kinds:
                continue
            row = measure(interface, seconds, repeats)
            versions = {"python": sys.version.split()[0]} | {name: metadata.version(name) for name in packages}
            print(json.dumps(row | {"versions": versions}), flush=True)
    except ModuleNotFoundError as error:
        parser.exit(2, f"{packages[0]}: no module {error.name!r} in {sys.executable}; `make peers` installs it\n")
