"""Plays with every index checked: ``python -m tests.boundscheck``; compiled code does not check them otherwise.

It compiles everything anew into a folder of its own (about two minutes), so it is no part of ``make test``.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time

import numba
import numpy as np

from bestia_env.batch import GameBatch
from bestia_env.rams.rules import RamsRules
from bestia_env.session import SessionConfig
from tests.crosscheck import any_rules, any_session
from tests.rams_play import ALL, encoded, random_deal, varied_actions, varied_session

RANDOM_RULES = 300


def play(rules: RamsRules, session: SessionConfig, seed: int, steps: int = 60) -> int:
    """Plays some games through every loop; returns how many decisions."""
    rng = np.random.default_rng(seed)
    batch = GameBatch(rules, 8, seed=seed, session=session)
    if rules.stakes != "table":
        batch.reset(rows=[0, 1], deals=[random_deal(rules, rng), {"carry": 10**9 * rules.divisor}])
    for step in range(steps):
        views = batch.view(int(rng.integers(rules.num_players)))
        if step % 6 == 0:
            encoded(batch, views, None if step % 12 else 10)
            other = batch.redeal(views, batch.keys())
            other.step(other.random_actions())
        actions = varied_actions(batch.legal(), batch.layout, rng)
        batch.step(actions if step % 2 else batch.random_actions())
    batch.forfeit(0)
    batch.family.loops.rollout(batch.states[1:], batch.family.parameters(rules, session), 20)
    return 8 * steps


def checked() -> None:
    """Plays every preset at every table size and random rules."""
    assert numba.config.BOUNDSCHECK
    started, rng = time.perf_counter(), random.Random(1)
    decisions = sum(play(rules, varied_session(rules), seed) for seed, rules in enumerate(ALL))
    for seed in range(RANDOM_RULES):
        rules = any_rules(rng)
        decisions += play(rules, any_session(rules, rng), seed)
    games = f"{len(ALL)} presets and {RANDOM_RULES} random rules"
    print(f"{games}: {decisions:,} decisions, every index in range, {time.perf_counter() - started:.0f} s")


def main() -> int:
    """Starts the process that checks."""
    if os.environ.get("NUMBA_BOUNDSCHECK") == "1":
        checked()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": folder}
        return subprocess.run([sys.executable, "-m", "tests.boundscheck"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
