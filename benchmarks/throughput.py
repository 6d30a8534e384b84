"""Decisions per second of every interface, as ratios to a fixed yardstick: ``python -m benchmarks.throughput``.

The yardstick is a small compiled loop that never changes (xorshift numbers sorted into 40 bins), timed in the same
process right before and after, so that figures from a busy or another machine can be compared. Every measurement is
the best of several, since what disturbs it only ever makes it slower; the median tells how much disturbed it. One
thread; nothing that is compiled or allocated once is counted.

The interfaces, from the barest: random play within one compiled loop ("fused"); a step a call with actions drawn from
the states; with actions drawn from the masks, as a policy would; the same with a tensor made of every View besides; and
the AEC environment. "times bestia" is how many times as long as in bestia a decision takes, yardstick for yardstick;
no game should need more than 2.5 times as long, fused or with masks.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import bestia_env
from bestia_env._loops import choose_uniform

if TYPE_CHECKING:
    from bestia_env.family import Rules

REPEATS = 7
YARDSTICK_ROUNDS = 2_000_000
BASE = "bestia"
FUSED = "fused"
WITH_MASK = "mask + choice + step"
WITH_TENSOR = "view + tensor + mask + choice + step"
MOST_TIMES_BASE = 2.5


class Work(NamedTuple):
    """A call to be timed, and how much it does."""

    call: Callable[[], object]
    amount: int
    repeats: int = REPEATS


class Rate(NamedTuple):
    """Millions of units of work per second."""

    best: float
    median: float


def yardstick() -> Work:
    """Yardstick rounds."""
    numba = import_module("numba")

    @numba.njit(nogil=True)
    def rounds(bins: Any, count: int, state: Any) -> Any:
        for _ in range(count):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            bins[state % np.uint64(40)] += 1
        return state

    bins = np.zeros(40, np.int64)
    return Work(lambda: rounds(bins, YARDSTICK_ROUNDS, np.uint64(88172645463325252)), YARDSTICK_ROUNDS)


def rate(work: Work) -> Rate:
    """Measures several calls, after a first one that does not count."""
    work.call()
    seconds = []
    for _ in range(work.repeats):
        started = time.perf_counter()
        work.call()
        seconds.append(time.perf_counter() - started)
    return Rate(work.amount / min(seconds) / 1e6, work.amount / float(np.median(seconds)) / 1e6)


def batch_work(rules: Rules, num_games: int, steps: int) -> dict[str, Work]:
    """What is measured of a batch, by interface."""
    batch = bestia_env.GameBatch(rules, num_games, seed=7)
    for _ in range(50):  # leave the first decisions of the first deal behind
        batch.step(batch.random_actions())
    masks, views = batch.legal(), batch.view()
    tensors = batch.encode(views)
    keys, actions = batch.keys(), np.zeros(num_games, np.int64)
    loops, states, parameters = batch._loops, batch.states, batch._parameters

    def with_states() -> None:
        for _ in range(steps):
            batch.step(batch.random_actions())

    def with_mask() -> None:
        for _ in range(steps):
            empty = choose_uniform(batch.legal(out=masks), batch.keys(out=keys), actions)
            assert empty < 0, "a row has stopped"
            batch.step(actions)

    def with_tensor() -> None:
        for _ in range(steps):
            batch.encode(batch.view(out=views), out=tensors)
            choose_uniform(batch.legal(out=masks), batch.keys(out=keys), actions)
            batch.step(actions)

    decisions = num_games * steps
    return {
        FUSED: Work(lambda: loops.rollout(states, parameters, steps), decisions),
        "random_actions + step": Work(with_states, decisions),
        WITH_MASK: Work(with_mask, decisions),
        WITH_TENSOR: Work(with_tensor, decisions),
    }


def aec_work(rules: Rules, decisions: int) -> Work:
    """The AEC loop through ``last`` and ``step``, observation and mask included, random legal actions."""
    env = bestia_env.aec_env(rules)
    chooser = np.random.default_rng(7).random(decisions).tolist()
    seeds = iter(range(10**9))

    def play() -> None:
        done = 0
        while done < decisions:
            env.reset(seed=next(seeds))
            for _agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(chooser[done % decisions] * len(legal))]))
                done += 1
                if done == decisions:
                    break

    return Work(play, decisions, repeats=3)


def measure_all(variants: list[str], num_players: int | None, num_games: int, steps: int) -> list[dict[str, Any]]:
    """Measures and prints every interface of every game, the one they are compared with first."""
    rounds = yardstick()
    print(f"{'variant (players)':26}{'interface':38}{'M/s':>9}{'median':>9}{'per yardstick':>15}{'times bestia':>14}")
    rows: list[dict[str, Any]] = []
    base: dict[str, float] = {}
    for variant in dict.fromkeys([BASE, *variants]):
        low, high = bestia_env.player_range(variant)
        possible = num_players is not None and low <= num_players <= high
        rules = bestia_env.make_rules(variant, num_players if possible else None)
        label = f"{variant} ({rules.num_players})"
        works = batch_work(rules, num_games, steps) | {"aec last() + step()": aec_work(rules, 10_000)}
        for interface, work in works.items():
            before = rate(rounds).best
            best, median = rate(work)
            unit = max(before, rate(rounds).best)
            times = base.setdefault(interface, best / unit) / (best / unit)
            measured = {"best": best, "median": median, "yardstick": unit, "times_bestia": times}
            rows.append({"variant": variant, "players": rules.num_players, "interface": interface} | measured)
            print(f"{label:26}{interface:38}{best:9.3f}{median:9.3f}{best / unit:15.4f}{times:14.2f}", flush=True)
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", default=[BASE], help=f"presets, or 'all'; {BASE} always comes first")
    parser.add_argument(
        "--players", type=int, default=None, help="table size; default, and where a preset has it not: its own"
    )
    parser.add_argument("--games", type=int, default=4096, help="batch size")
    parser.add_argument("--steps", type=int, default=60, help="steps a measurement")
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    chosen = list(bestia_env.variants()) if arguments.variants == ["all"] else arguments.variants
    rows = measure_all(chosen, arguments.players, arguments.games, arguments.steps)
    for interface in (FUSED, WITH_MASK):
        slowest = max((row for row in rows if row["interface"] == interface), key=lambda row: row["times_bestia"])
        print(
            f"{interface}: at most {slowest['times_bestia']:.2f} times as long as {BASE}, in {slowest['variant']} "
            f"(allowed: {MOST_TIMES_BASE})"
        )
    print(f"yardstick: {max(row['yardstick'] for row in rows):.1f} M rounds/s, batch {arguments.games}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
