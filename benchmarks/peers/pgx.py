"""Pgx on one processor core, 4096 games; ``.venv-peers/pgx/bin/python -m benchmarks.peers.pgx``.

Leduc hold'em and Kuhn poker: ``bridge_bidding`` needs a data file that is downloaded apart. Every step makes the
observations of all games and deals the next game where one has ended. Compiling is not timed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.timing import Interface, run

CALLS = "jitted step, a call a step"
SCAN = "jitted loop of steps"
NUM_GAMES = 4096
STEPS = 60


def interfaces() -> Iterator[Interface]:
    """What is timed."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_compilation_cache_dir", str(Path(sys.prefix) / "compiled"))  # later rounds start faster
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    for name in ("leduc_holdem", "kuhn_poker"):
        yield from _game(name)


def _game(name: str) -> Iterator[Interface]:
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make(name)
    steps = jax.vmap(auto_reset(env.step, env.init))

    def one(states: Any, key: Any) -> tuple[Any, Any]:
        choose, deal = jax.random.split(key)
        actions = act_randomly(choose, states.legal_action_mask)
        states = steps(states, actions, jax.random.split(deal, NUM_GAMES))
        return states, states.terminated.sum()

    one_step = jax.jit(one)
    many_steps = jax.jit(lambda states, key: jax.lax.scan(one, states, jax.random.split(key, STEPS)))
    key, first = jax.random.split(jax.random.PRNGKey(7))
    states = jax.jit(jax.vmap(env.init))(jax.random.split(first, NUM_GAMES))
    states, ended = many_steps(states, key)
    a_game = NUM_GAMES * STEPS / int(ended.sum())

    def calls() -> int:
        nonlocal states, key
        for _ in range(STEPS):
            key, now = jax.random.split(key)
            states, _ = one_step(states, now)
        jax.block_until_ready(states)
        return NUM_GAMES * STEPS

    def scan() -> int:
        nonlocal states, key
        key, now = jax.random.split(key)
        states, _ = jax.block_until_ready(many_steps(states, now))
        return NUM_GAMES * STEPS

    yield Interface(CALLS, name, calls, a_game)
    yield Interface(SCAN, name, scan, a_game)


if __name__ == "__main__":
    run(("pgx", "jax", "jaxlib", "numpy"), interfaces)
