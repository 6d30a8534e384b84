"""What the examples share: the task, the command line and the evaluation. Loads no trainer library."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
import tyro
from numpy.typing import NDArray

from bestia_env import SessionConfig

ENV_ID = "bestia_env:bestia/bestia-v0"
SEATS = 5
EVALUATION_SEEDS = 1 << 32
"""Evaluation begins here, far from the seeds of training: no deal is learned by heart."""

Choose = Callable[[NDArray[np.float32], NDArray[np.int8]], int]
"""One observation and its mask to one action."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Trains one seat of a table of five with a library, then measures it.

    Args:
        steps: decisions of the learner in training; a library rounds them up to whole batches.
        deals: deals of the evaluation, each played in all five seats.
        opponent: who sits on the other four seats, by name.
        seed: of training, networks and evaluation.
    """

    steps: int = 20_480
    deals: int = 400
    opponent: str = "random"
    seed: int = 7
    started: tyro.conf.Suppress[float] = field(default_factory=time.perf_counter)


def parse(library: str) -> Config:
    """Reads the command line of an example."""
    return tyro.cli(Config, prog=f"python -m training.interop.{library}")


def task(config: Config, seat: int | None = None) -> dict[str, Any]:
    """The keyword arguments of ``gymnasium.make``, the same for training and evaluation.

    An illegal action raises, in training too: a library that loses the mask anywhere cannot finish.
    """
    return {
        "num_players": SEATS,
        "opponents": [config.opponent] * (SEATS - 1),
        "seat": seat,
        "session": SessionConfig(carry="typical"),  # from an empty pot there is little to win or to fear
        "reward": "score",
        "illegal_action": "raise",
    }


def evaluate(choose: Choose, config: Config) -> tuple[NDArray[np.float64], int]:
    """Plays the same deals in every seat.

    Returns:
        (deals, seats) what the learner won, in pots, and the number of its decisions.
    """
    scores, decisions = np.zeros((config.deals, SEATS)), 0
    for seat in range(SEATS):
        env = gymnasium.make(ENV_ID, **task(config, seat))
        for deal in range(config.deals):
            observation, _ = env.reset(seed=EVALUATION_SEEDS + config.seed * config.deals + deal)
            over = False
            while not over:
                action = choose(observation["observation"], observation["action_mask"])
                observation, reward, terminated, truncated, _ = env.step(int(action))
                scores[deal, seat] += float(reward)
                decisions += 1
                over = terminated or truncated
        env.close()
    return scores, decisions


def report(library: str, choose: Choose, config: Config, mode: str) -> None:
    """Measures a trained policy and, on the same deals, a player that moves at random; prints a line of each.

    Args:
        library: the name of the distribution on PyPI.
        choose: the trained policy.
        config: the command line.
        mode: how ``choose`` picks: sampled or greedy.
    """
    trained = time.perf_counter() - config.started
    rng = np.random.default_rng(config.seed)
    learned, decisions = evaluate(choose, config)
    at_random, _ = evaluate(lambda _, mask: rng.choice(np.flatnonzero(mask)), config)
    name = f"{library} {version(library)}"
    print(f"{name}, {mode}: {interval(learned)} pots a deal; {decisions} decisions, all legal")
    print(f"{name}, by seat: {' '.join(f'{mean:+.2f}' for mean in learned.mean(axis=0))}")
    print(f"random on the same deals: {interval(at_random)}; difference {interval(learned - at_random)}")
    print(f"{name}: {config.steps} steps in {trained:.0f} s, all in {time.perf_counter() - config.started:.0f} s")


def interval(scores: NDArray[np.float64]) -> str:
    """Mean and half of a 95 % interval of (deals, seats). The seats of one deal are not independent, deals are."""
    blocks = scores.mean(axis=1)
    return f"{blocks.mean():+.3f} ± {1.96 * blocks.std(ddof=1) / len(blocks) ** 0.5:.3f}"
