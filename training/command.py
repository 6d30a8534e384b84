"""What the command lines of all learners share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import tyro

from bestia_env import BestiaError
from bestia_env.sb3 import BestiaVecEnv
from training.config import RunConfig
from training.suits import RelativeSuitsVecEnv

if TYPE_CHECKING:
    from bestia_env import SessionConfig
    from bestia_env.family import Rules
    from training.runs import Run

__all__ = ["command_line", "fresh_env"]

C = TypeVar("C", bound=RunConfig)


def fresh_env(config: RunConfig, rules: Rules, session: SessionConfig, *, central: bool = False) -> BestiaVecEnv:
    """The games of a run that begins; its opponents are seated when the learner's network is there."""
    kind = RelativeSuitsVecEnv if config.relative_suits else BestiaVecEnv
    return kind(
        rules,
        config.envs,
        opponents="random",
        session=session,
        reward=config.reward,
        skip_forced=True,
        pad_players=config.pad_players,
        seed=config.seed,
        central=central,
    )


def command_line(kind: type[C], train: Callable[[C], Run], module: str, arguments: Sequence[str] | None) -> int:
    """Trains as the words say and prints the evaluations; returns the exit code."""
    config = tyro.cli(kind, args=arguments, prog=f"python -m {module}")
    try:
        run = train(config)
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    print("\n".join(run.lines()))
    return 0
