"""Agents against each other over duplicate deals: ``python -m benchmarks.tournament --help``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
import tyro
from tqdm import tqdm

from benchmarks.options import rules_of, session_of
from benchmarks.runner import play_blocks
from benchmarks.statistics import LEVEL, RESAMPLES, Interval, block_intervals
from benchmarks.store import RunFolder, code_hash, session_values, source_hash
from benchmarks.workers import run_tasks
from bestia_env import BestiaError, __version__, make_policy
from bestia_env._rows import check_seed

if TYPE_CHECKING:
    from bestia_env import SessionConfig
    from bestia_env.family import Rules

__all__ = ["Config", "Tournament", "main", "play"]

PART_BLOCKS = 2000  # blocks of one table that a killed run may lose
DESIGN = "hero-in-field 1"


@dataclass(frozen=True, kw_only=True)
class Config:
    """Plays a tournament: one hero against copies of a field, every ordered pair of agents.

    A block is one deal played in all rotations of the seats, so the hero holds every hand once. All tables play the
    same deals. Results go to a folder: blocks.parquet (one row a block and table), summary.json (means and intervals),
    manifest.json (version, revision, rules, session, seed, command). A run that was killed goes on when the same
    command is given again.

    Printed columns: "hero", "field": who played against whom. "score": the hero's equity score in pots per deal, mean
    over blocks and rotations; zero is what every seat gets among equals. "chips": his net chips per deal. "low" and
    "high": the ends of the 95 % interval to the left of them, by bootstrap over blocks. Differences are "first" minus
    "second", both against the same field on the same deals; an interval that holds zero decides nothing.

    Args:
        variant: name of the game (bestia if neither this nor --rules is given).
        players: seats; the game's default if not given.
        changes: a field of the rules to change, such as penalty_cap=30; may be repeated.
        rules: the game as a text instead, such as "bestia(num_players=5, penalty_cap=30)".
        agents: who plays: names of agents, or module:attribute.
        deals: blocks of every table.
        seed: of all deals and of the bootstrap.
        carry: chips in the pot before the ante: "typical" (drawn from the game's table), a number, or LOW-HIGH. If not
            given: typical where the game has a table, else 0.
        out: the folder of the results.
        jobs: processes; the numbers do not depend on it.
    """

    variant: str | None = None
    players: int | None = None
    changes: Annotated[
        tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE"), tyro.conf.UseAppendAction
    ] = ()
    rules: str | None = None
    agents: tuple[str, ...] = ("random", "always", "medium")
    deals: int = 20_000
    seed: int = 7
    carry: str | None = None
    out: Path = Path("results/first")
    jobs: int = 1


@dataclass(frozen=True)
class Tournament:
    """What is played: hero-in-field tables of every ordered pair of agents.

    Agents are in alphabetical order here and in every file, so that the order in which they are given changes nothing.
    """

    rules: Rules
    session: SessionConfig
    seed: int
    agents: tuple[str, ...]
    deals: int

    @property
    def tables(self) -> list[tuple[str, str]]:
        """(hero, field) of every table."""
        return list(product(self.agents, self.agents))

    def tasks(self) -> Iterator[tuple[str, Task]]:
        """Every part: its name on disk and what it plays."""
        for number, (hero, field) in enumerate(self.tables):
            for first in range(0, self.deals, PART_BLOCKS):
                blocks = range(first, min(first + PART_BLOCKS, self.deals))
                yield f"{number:04d}-{first:09d}", Task(self, hero, field, blocks)

    def identity(self) -> dict[str, Any]:
        """What decides the numbers."""
        return {
            "design": DESIGN,
            "version": __version__,
            "code": code_hash(),
            "rules": self.rules.full_text(),
            "session": session_values(self.session),
            "seed": self.seed,
            "blocks": self.deals,
            "rotations": self.rules.num_players,
            "agents": {name: _version_of(name, self.rules) for name in self.agents},
            "intervals": {"method": "BCa bootstrap over blocks", "level": LEVEL, "resamples": RESAMPLES},
        }


@dataclass(frozen=True)
class Task:
    """Some blocks of one table."""

    tournament: Tournament
    hero: str
    field: str
    blocks: range

    @property
    def games(self) -> int:
        """Deals it plays."""
        return len(self.blocks) * self.tournament.rules.num_players

    def play(self) -> pa.Table:
        """The hero's results, one row a block; score and chips are sums over the rotations."""
        it = self.tournament
        n = it.rules.num_players
        results = play_blocks(it.rules, it.session, it.seed, self.blocks, (self.hero, *[self.field] * (n - 1)))
        top, base = results.score_top[:, :, 0].sum(axis=1), results.score_base
        if self.hero == self.field and top.any() and not getattr(it.rules, "rake_bp", 0):
            raise BestiaError(
                f"agent {self.hero!r} does not score 0 against itself in block {results.blocks[top != 0][0]}; "
                "allowed are agents whose decisions depend on View and key alone"
            )
        count = len(self.blocks)
        return pa.table(
            {
                "hero": pa.array([self.hero] * count),
                "field": pa.array([self.field] * count),
                "block": pa.array(results.blocks),
                "rotations": pa.array(np.full(count, n, np.int8)),
                "score_top": pa.array(top),
                "score_base": pa.array(base),
                "score": pa.array(top / (base * n)),
                "chips": pa.array(results.chips[:, :, 0].sum(axis=1)),
            }
        )


def _version_of(name: str, rules: Rules) -> str:
    """The version an agent states, for the manifest; also makes sure that it can play.

    The laboratory's own agents are part of the code hash. Of any other, the file of the module it was named by and the
    one of its class are hashed here, since nobody raises a version between two tries.
    """
    policy = make_policy(name, rules)
    if ":" in name:
        stated = getattr(policy, "version", "not stated")
        modules = dict.fromkeys((name.partition(":")[0], type(policy).__module__))
        return f"{stated}, source {source_hash(modules)}"
    from agents import agent_version

    return agent_version(name)


def tournament_of(config: Config) -> tuple[Tournament, str]:
    """The tournament of a command line, and what to tell the user about its carry.

    Raises:
        BestiaError: something is unknown or out of range.
    """
    rules = rules_of(config.variant, config.players, config.changes, config.rules)
    session, note = session_of(rules, config.carry)
    for option, least in (("deals", 2), ("jobs", 1)):
        if getattr(config, option) < least:
            raise BestiaError(f"--{option} {getattr(config, option)}; allowed are integers from {least}")
    if not config.agents or len(set(config.agents)) != len(config.agents):
        raise BestiaError(f"--agents {' '.join(config.agents)}; allowed are one or more names, each once")
    return Tournament(rules, session, check_seed(config.seed), tuple(sorted(config.agents)), config.deals), note


# --- playing ----------------------------------------------------------------------------------------------------------


def play(tournament: Tournament, folder: RunFolder, command: str, jobs: int = 1) -> dict[str, Any]:
    """Plays what is missing of a tournament and returns its summary; everything is on disk when it returns.

    Of a finished run nothing is played or written again.
    """
    folder.begin(command)
    if not folder.finished:
        tasks = dict(tournament.tasks())
        missing = {name: task for name, task in tasks.items() if not folder.has_part(name, len(task.blocks))}
        total = sum(task.games for task in tasks.values())
        done = total - sum(task.games for task in missing.values())
        with tqdm(total=total, initial=done, unit="deal", unit_scale=True, desc="playing", mininterval=0.5) as bar:
            for name, table in run_tasks(Task.play, missing, jobs):
                folder.write_part(name, table)
                bar.update(missing[name].games)
        folder.finish(list(tasks))
    else:
        folder.finish([])
    summary = folder.summary()
    if summary is None:
        summary = summarise(tournament, folder.blocks())
        folder.write_summary(summary)
    return summary


def summarise(tournament: Tournament, blocks: pa.Table) -> dict[str, Any]:
    """Means and intervals of every table and of every difference between two heroes in the same field."""
    tables, agents, n = tournament.tables, tournament.agents, tournament.rules.num_players
    shape = (len(tables), tournament.deals)
    score = dict(zip(tables, blocks["score"].to_numpy().reshape(shape), strict=True))
    chips = dict(zip(tables, (blocks["chips"].to_numpy() / n).reshape(shape), strict=True))
    pairs = [(field, first, second) for field in agents for first, second in combinations(agents, 2)]
    columns = [quantity[table] for table in tables for quantity in (score, chips)]
    columns += [
        quantity[first, field] - quantity[second, field]
        for field, first, second in pairs
        for quantity in (score, chips)
    ]
    intervals = iter(block_intervals(np.stack(columns, axis=1), tournament.seed))

    def both() -> dict[str, Any]:
        return {"score": next(intervals)._asdict(), "chips": next(intervals)._asdict()}

    return {
        "units": {"score": "pots per deal", "chips": "chips per deal"},
        "tables": [{"hero": hero, "field": field, **both()} for hero, field in tables],
        "differences": [{"field": field, "first": first, "second": second, **both()} for field, first, second in pairs],
    }


# --- telling ----------------------------------------------------------------------------------------------------------


def report(summary: dict[str, Any], order: Sequence[str]) -> str:
    """The summary as a text, agents in the order of the command line."""

    def place(row: dict[str, Any]) -> list[int]:
        return [order.index(row[key]) for key in ("field", "hero", "first", "second") if key in row]

    width = max(5, *map(len, order))
    lines = [f"{'field':{width}}  {'hero':{2 * width + 3}} {_header()}"]
    for row in sorted(summary["tables"], key=place):
        lines.append(f"{row['field']:{width}}  {row['hero']:{2 * width + 3}} {_numbers(row)}")
    if summary["differences"]:
        lines += ["", f"{'field':{width}}  {'first − second':{2 * width + 3}} {_header()}"]
    for row in sorted(summary["differences"], key=place):
        first, second, sign = row["first"], row["second"], 1
        if order.index(first) > order.index(second):
            first, second, sign = second, first, -1
        pair = f"{first} − {second}"
        lines.append(f"{row['field']:{width}}  {pair:{2 * width + 3}} {_numbers(row, sign)}")
    return "\n".join(lines)


def _header() -> str:
    return "".join(f"{title:>10}" for title in ("score", "low", "high", "chips", "low", "high"))


def _numbers(row: dict[str, Any], sign: int = 1) -> str:
    texts = []
    for quantity, digits in (("score", 4), ("chips", 2)):
        interval = Interval(**row[quantity])
        ends = (interval.low, interval.high) if sign > 0 else (-interval.high, -interval.low)
        texts += [_number(value, digits) for value in (sign * interval.mean, *ends)]
    return "".join(f"{text:>10}" for text in texts)


def _number(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    return f"{value:+z.{digits}f}" if abs(value) < 1e6 else f"{value:+.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    config = tyro.cli(Config, args=words, prog="python -m benchmarks.tournament")
    command = shlex.join(["python", "-m", "benchmarks.tournament", *words])
    try:
        tournament, note = tournament_of(config)
        folder = RunFolder(config.out, tournament.identity())
        print(f"{tournament.rules} · {tournament.deals:,} blocks of {tournament.rules.num_players} rotations a table")
        print(f"seed {tournament.seed} · {note}", flush=True)
        summary = play(tournament, folder, command, config.jobs)
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from {config.out}", file=sys.stderr)
        return 130
    print(f"\n{report(summary, config.agents)}\n\nresults in {config.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
