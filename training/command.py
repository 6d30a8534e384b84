"""What the command lines of all learners share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch
import tyro

from bestia_env import BestiaError
from bestia_env.sb3 import BestiaVecEnv
from training.config import RunConfig
from training.selfplay import SelfPlayPool
from training.suits import RelativeSuitsVecEnv
from training.tables import ManyTables, table_seed, tables_of

if TYPE_CHECKING:
    from bestia_env import Policy, SessionConfig
    from bestia_env.family import Rules
    from training.runs import Run

__all__ = ["check_device", "command_line", "finite", "fresh_env", "renew_pools", "seat_pools"]

C = TypeVar("C", bound=RunConfig)


def check_device(name: str) -> None:
    """Raises BestiaError for a device that torch does not have here."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for some of them
        raise BestiaError(f"device={name!r}; allowed is a device that torch has here ({error})") from error


def finite(weights: Iterable[torch.Tensor]) -> bool:
    """Whether all weights are numbers."""
    return all(bool(torch.isfinite(part).all()) for part in weights)


def fresh_env(
    config: RunConfig, rules: Rules, session: SessionConfig, *, central: bool = False
) -> BestiaVecEnv | ManyTables:
    """The games of a run that begins; its opponents are seated when the learner's network is there."""
    games = [(rules, session), *config.more_games()]
    rows, more = divmod(config.envs, len(games))
    kind = RelativeSuitsVecEnv if config.relative_suits else BestiaVecEnv
    tables = [
        kind(
            table,
            rows + (place < more),
            opponents="random",
            session=carries,
            reward=config.reward,
            skip_forced=True,
            pad_players=config.pad_players,
            seed=table_seed(config.seed, place),
            central=central,
        )
        for place, (table, carries) in enumerate(games)
    ]
    return tables[0] if len(tables) == 1 else ManyTables(tables)


def seat_pools(
    config: RunConfig, env: BestiaVecEnv | ManyTables, weights: dict[str, float], net_of: Callable[[Rules], Policy]
) -> None:
    """Seats the pool at every table: a policy belongs to one game, so each has its own."""
    for table in tables_of(env):
        table.set_opponents(SelfPlayPool(weights, net_of(table.rules), config.snapshots, config.same_table))


def renew_pools(env: BestiaVecEnv | ManyTables, net_of: Callable[[Rules], Policy], *, snapshot: bool) -> None:
    """The learner has changed."""
    for table in tables_of(env):
        pool: SelfPlayPool = table.games.opponents  # type: ignore[assignment]  # see seat_pools
        net = net_of(table.rules)
        pool.update(net)
        if snapshot:
            pool.snapshot(net)


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
