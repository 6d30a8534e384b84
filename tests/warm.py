"""Compiles every family once, before several test processes would each do it: ``python -m tests.warm``."""

from __future__ import annotations

import time

import numpy as np

import bestia_env


def main() -> None:
    """Calls every loop of every family once."""
    for variant in ("bestia", "bettelmann"):
        started = time.perf_counter()
        warm(variant)
        print(f"{variant}: every loop ready after {time.perf_counter() - started:.1f} s")


def warm(variant: str) -> None:
    """Compiles one family, or loads it from the cache."""
    batch = bestia_env.GameBatch(variant, num_games=2, seed=1)
    batch.legal()
    views = batch.view()
    batch.encode(views)
    batch.redeal(views, np.arange(2, dtype=np.uint64))
    batch.keys()
    batch.step(batch.random_actions())
    batch.reset()
    batch._loops.rollout(batch.states, batch._parameters, 1)
    batch.forfeit(0)
    env = bestia_env.aec_env(variant)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    for name in ("random", "medium"):
        policy = bestia_env.make_policy(name, batch.rules)
        policy.act(batch.view(rows=[1]), batch.keys([1]))


if __name__ == "__main__":
    main()
