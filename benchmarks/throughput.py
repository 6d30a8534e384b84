"""Decisions per second of every interface, as ratios to a fixed yardstick: ``python -m benchmarks.throughput``.

The yardstick is a small compiled loop that never changes (xorshift numbers sorted into 40 bins), timed in the same
process right before and after, so that figures from a busy or another machine can be compared. Every measurement is
the best of several, since what disturbs it only ever makes it slower. One thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import bestia_env

REPEATS = 7
YARDSTICK_ROUNDS = 2_000_000


def yardstick() -> Callable[[], float]:
    """A function that returns millions of yardstick rounds per second."""
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
    return lambda: rate(lambda: rounds(bins, YARDSTICK_ROUNDS, np.uint64(88172645463325252)), YARDSTICK_ROUNDS)


def rate(call: Callable[[], object], work: int, repeats: int = REPEATS) -> float:
    """Millions of units of work per second, the best of several calls after a first one that does not count."""
    call()
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return work / best / 1e6


def batch_rates(variant: str, num_players: int | None, num_games: int, steps: int) -> dict[str, float]:
    """Rates of one batch: fused random play, mask + random choice + step, and the same with View and tensor."""
    batch = bestia_env.GameBatch(variant, num_games=num_games, num_players=num_players, seed=7)
    for _ in range(50):  # leave the first decisions of the first deal behind
        batch.step(batch.random_actions())
    masks, views = batch.legal(), batch.view()
    tensors = batch.encode(views)
    loops, states, parameters = batch._loops, batch.states, batch._parameters

    def with_mask() -> None:
        for _ in range(steps):
            batch.legal(out=masks)
            batch.step(batch.random_actions())

    def with_tensor() -> None:
        for _ in range(steps):
            batch.legal(out=masks)
            batch.encode(batch.view(out=views), out=tensors)
            batch.step(batch.random_actions())

    decisions = num_games * steps
    return {
        "fused": rate(lambda: loops.rollout(states, parameters, steps), decisions),
        "mask + random + step": rate(with_mask, decisions),
        "mask + view + tensor + random + step": rate(with_tensor, decisions),
    }


def aec_rate(variant: str, num_players: int | None, decisions: int) -> float:
    """The AEC loop through ``last`` and ``step``, observation and mask included, random legal actions."""
    env = bestia_env.aec_env(variant, num_players=num_players)
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

    return rate(play, decisions, repeats=3)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", default=["bestia"], help="presets, or 'all'")
    parser.add_argument("--players", type=int, default=None, help="table size; default: each preset's own")
    parser.add_argument("--games", type=int, default=4096, help="batch size")
    parser.add_argument("--steps", type=int, default=60, help="steps a measurement")
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    chosen = list(bestia_env.variants()) if arguments.variants == ["all"] else arguments.variants
    measure = yardstick()
    rows = []
    print(f"{'variant':24}{'interface':40}{'M/s':>9}{'per yardstick round':>22}")
    for variant in chosen:
        before = measure()
        rates = batch_rates(variant, arguments.players, arguments.games, arguments.steps)
        rates["aec last() + step()"] = aec_rate(variant, arguments.players, 20_000)
        unit = max(before, measure())
        for interface, value in rates.items():
            rows.append({"variant": variant, "interface": interface, "rate": value, "yardstick": unit})
            print(f"{variant:24}{interface:40}{value:9.3f}{value / unit:22.4f}")
    print(f"yardstick: {max(row['yardstick'] for row in rows):.1f} M rounds/s, batch {arguments.games}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
