"""This library: the interfaces of ``benchmarks.throughput`` on one preset; ``python -m benchmarks.peers.ours``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.peers.timing import Interface, aec_game, chances, positive, run

if TYPE_CHECKING:
    import argparse

    from bestia_env.family import Rules

AEC = "aec last() + step()"
STEPS = 60


def interfaces(variant: str, players: int | None, games: int) -> Iterator[Interface]:
    """What is timed: the batches of ``benchmarks.throughput``, then the AEC loop that PettingZoo's games get too."""
    import bestia_env
    from benchmarks.throughput import Work, batch_work

    rules = bestia_env.make_rules(variant, players)
    label = f"{variant} ({rules.num_players})"
    a_game = decisions_a_game(rules)

    def counted(work: Work) -> int:
        work.call()
        return work.amount

    for interface, work in batch_work(rules, games, STEPS).items():
        yield Interface(interface, label, lambda work=work: counted(work), a_game)
    env, chance = bestia_env.aec_env(rules, seed=7), chances()
    yield Interface(AEC, label, lambda: aec_game(env, chance))


def decisions_a_game(rules: Rules) -> float:
    """Mean length of a game of random play, in decisions."""
    import bestia_env

    batch = bestia_env.GameBatch(rules, 1024, seed=7)
    games = 0
    for _ in range(500):  # many games a row, so that the one that is cut off at the end matters little
        batch.step(batch.random_actions())
        games += int(batch.done.sum())
    return 1024 * 500 / games


def options(parser: argparse.ArgumentParser) -> None:
    """What is played."""
    parser.add_argument("--variant", default="bestia", help="preset")
    parser.add_argument("--players", type=int, help="table size; default: the preset's own")
    parser.add_argument("--games", type=positive(int), default=4096, help="games a batch")


if __name__ == "__main__":
    run(("bestia-env", "numpy", "numba", "pettingzoo"), interfaces, options=options)
