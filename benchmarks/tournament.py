"""Agents against each other over duplicate deals: ``python -m benchmarks.tournament --help``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
import tyro
from tqdm import tqdm

from benchmarks import behaviour
from benchmarks.control import deal_covariates
from benchmarks.lineups import MIXED, Table, named_fields
from benchmarks.options import rules_of, session_of
from benchmarks.report import report
from benchmarks.sequential import UntilSeparated
from benchmarks.statistics import LEVEL, RESAMPLES
from benchmarks.store import BLOCKS, RunFolder, code_hash, session_values, source_hash
from benchmarks.summary import (
    Results,
    corrected,
    openskill,
    summarise,
    summarise_behaviour,
    summarise_failures,
    summarise_sessions,
    wanted_differences,
)
from benchmarks.tasks import Job, Setting
from benchmarks.workers import run_tasks
from bestia_env import BestiaError, __version__, make_policy
from bestia_env._rows import check_seed

if TYPE_CHECKING:
    from bestia_env.family import Rules

__all__ = ["Config", "Tournament", "main", "play"]

PART_BLOCKS = 2000  # blocks of one table that a killed run may lose
PART_SESSIONS = 100
OPENSKILL_BLOCKS = 2000
DESIGN = "hero-in-field 2"


@dataclass(frozen=True, kw_only=True)
class Config:
    """Plays a tournament: one hero against copies of a field, every agent in every field.

    A block is one deal played in all rotations of the seats, so the hero holds every hand once. All tables play the
    same deals. Results go to a folder: blocks.parquet (one row a block and table), behaviour.parquet (what the agents
    did), summary.json (means and intervals), manifest.json (version, revision, rules, session, seed, command). A run
    that was killed goes on when the same command is given again.

    Printed columns: "hero", "field": who played against whom. "score": the hero's equity score in pots per deal, mean
    over blocks and rotations; zero is what every seat gets among equals. "chips": his net chips per deal. "low" and
    "high": the ends of the 95 % interval to the left of them, by bootstrap over blocks. Differences are "first" minus
    "second", both against the same field on the same deals; an interval that holds zero decides nothing. "differ": in
    how many blocks the two scored differently. "gain": how many times fewer deals the paired blocks need than two runs
    on deals of their own.

    Args:
        variant: name of the game (bestia if neither this nor --rules is given).
        players: seats; the game's default if not given.
        changes: a field of the rules to change, such as penalty_cap=30; may be repeated.
        rules: the game as a text instead, such as "bestia(num_players=5, penalty_cap=30)".
        agents: who plays: names of agents, module:attribute, an SB3 model's .zip, or a folder with a card.
        fields: whom they play against: agents, named fields (thumbs, wild, all), or name=agent,agent,...; every one of
            the agents if not given.
        mixed: also tables at which all agents meet.
        deals: blocks of every table; with --until-separated the most.
        until_separated: stop when no difference between two heroes holds zero any more. Their intervals then hold at
            every look together (docs/statistics.md), and are wider.
        detect: a difference in pots per deal; told is how many blocks would find it four times of five. Let it follow
            a pilot of some hundred deals.
        luck_correction: also scores less what the hands dealt explain, which have the same mean and narrower intervals
            (docs/statistics.md); games with trumps.
        openskill: also OpenSkill ratings, from the first 2,000 blocks: a side column, no evidence.
        seed: of all deals and of the bootstrap.
        carry: chips in the pot before the ante: "typical" (drawn from the game's table), a number, or LOW-HIGH. If not
            given: typical where the game has a table, else 0.
        sessions: also play so many blocks of whole sessions from an empty pot, for bankroll and ruin.
        session_deals: deals a session.
        bankroll: antes a seat brings to a session; who is ever down by them is ruined.
        timeout: seconds one call of an agent, some thousand decisions, may take. An agent that takes longer, raises or
            plays illegally forfeits its game; that is counted and told.
        export_blocks: write the deals (records/) and the decisions (decisions/, Parquet) of so many first blocks.
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
    fields: tuple[str, ...] = ()
    mixed: bool = False
    deals: int = 20_000
    until_separated: bool = False
    detect: float | None = None
    luck_correction: bool = False
    openskill: bool = False
    seed: int = 7
    carry: str | None = None
    sessions: int = 0
    session_deals: int = 50
    bankroll: int = 100
    timeout: float = 600.0
    export_blocks: int = 0
    out: Path = Path("results/first")
    jobs: int = 1


@dataclass(frozen=True)
class Tournament:
    """What is played: every agent as hero in every field, and mixed tables.

    Agents and fields are in alphabetical order here and in every file, so that the order in which they are given
    changes nothing.
    """

    setting: Setting
    agents: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    deals: int
    mixed: bool = False
    sessions: int = 0
    until_separated: bool = False
    openskill: bool = False
    luck_correction: bool = False
    tables: tuple[Table, ...] = field(init=False)

    def __post_init__(self) -> None:
        tables = [Table(hero, name, members) for hero in self.agents for name, members in self.fields.items()]
        if self.mixed:
            tables.append(Table(None, MIXED, self.agents))
        object.__setattr__(self, "tables", tuple(tables))

    @property
    def rules(self) -> Rules:
        """The game."""
        return self.setting.rules

    @property
    def rule(self) -> UntilSeparated | None:
        """What stops it, if not the number of blocks."""
        return UntilSeparated(cap=self.deals) if self.until_separated else None

    def jobs(self) -> Iterator[Job]:
        """Every part: deals, then sessions."""
        for kind, blocks, size in (("", self.deals, PART_BLOCKS), ("s", self.sessions, PART_SESSIONS)):
            for number, table in enumerate(self.tables):
                for first in range(0, blocks, size):
                    name = f"{kind}{number:04d}-{first:09d}"
                    yield Job(self.setting, table, range(first, min(first + size, blocks)), name, bool(kind))

    def identity(self) -> dict[str, Any]:
        """What decides the numbers and files."""
        it = self.setting
        everybody = sorted({*self.agents, *(member for members in self.fields.values() for member in members)})
        told: dict[str, Any] = {
            "design": DESIGN,
            "version": __version__,
            "code": code_hash(),
            "rules": self.rules.full_text(),
            "session": session_values(it.session),
            "seed": it.seed,
            "blocks": self.deals,
            "rotations": self.rules.num_players,
            "agents": {name: _version_of(name, self.rules) for name in everybody},
            "heroes": self.agents,
            "fields": self.fields,
            "mixed": self.mixed,
            "timeout": it.timeout,
            "exported_blocks": it.export_blocks,
            "intervals": {"method": "BCa bootstrap over blocks", "level": LEVEL, "resamples": RESAMPLES},
        }
        if self.until_separated:
            told["stopping"] = {"rule": "until separated", "look": PART_BLOCKS, "cap": self.deals}
        if self.luck_correction:
            told["luck_correction"] = "classes of hands dealt"
        if self.openskill:
            told["openskill"] = OPENSKILL_BLOCKS
        if self.sessions:
            told["sessions"] = {"blocks": self.sessions, "deals": it.session_deals, "bankroll_chips": it.bankroll}
        return told


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

    return agent_version(name, rules)


def tournament_of(config: Config) -> tuple[Tournament, str]:
    """The tournament of a command line, and what to tell the user about its carry.

    Raises:
        BestiaError: something is unknown or out of range.
    """
    rules = rules_of(config.variant, config.players, config.changes, config.rules)
    session, note = session_of(rules, config.carry)
    if not config.agents or len(set(config.agents)) != len(config.agents):
        raise BestiaError(f"--agents {' '.join(config.agents)}; allowed are one or more names, each once")
    fewest = 2 * len(config.agents) if config.mixed else 2  # so that everybody meets two mixed tables or more
    for option, least in (
        ("deals", fewest), ("jobs", 1), ("sessions", 0), ("session_deals", 1), ("bankroll", 1), ("export_blocks", 0),
    ):  # fmt: skip
        if getattr(config, option) < least:
            word = option.replace("_", "-")
            raise BestiaError(f"--{word} {getattr(config, option)}; allowed are integers from {least}")
    if config.detect is not None and not config.detect > 0:
        raise BestiaError(f"--detect {config.detect}; allowed are pots per deal above 0")
    if config.sessions == 1:
        raise BestiaError("--sessions 1; allowed are 0, or integers from 2")
    if not config.timeout > 0:
        raise BestiaError(f"--timeout {config.timeout}; allowed are seconds above 0")
    agents = tuple(sorted(config.agents))
    setting = Setting(
        rules, session, check_seed(config.seed), config.timeout, config.export_blocks, config.session_deals,
        config.bankroll * max(getattr(rules, "ante", 1), 1),
    )  # fmt: skip
    fields = dict(named_fields(config.fields, agents))
    if config.luck_correction:
        deal_covariates(rules, session, config.seed, [0])  # refuses games without trumps
        if config.until_separated:
            raise BestiaError("--luck-correction with --until-separated; allowed is one of them")
    options = ("mixed", "sessions", "until_separated", "openskill", "luck_correction")
    chosen = {option: getattr(config, option) for option in options}
    return Tournament(setting, agents, fields, config.deals, **chosen), note


# --- playing ----------------------------------------------------------------------------------------------------------


def play(tournament: Tournament, folder: RunFolder, command: str, jobs: int = 1) -> dict[str, Any]:
    """Plays what is missing of a tournament and returns its summary; everything is on disk when it returns.

    Of a finished run nothing is played or written again.
    """
    folder.begin(command)
    if not folder.finished:
        parts = {job.name: job for job in tournament.jobs()}
        done = [name for name, job in parts.items() if folder.has_part(name, job.kind)]
        total = sum(job.deals for job in parts.values())
        kept = sum(parts[name].deals for name in done)
        with tqdm(total=total, initial=kept, unit="deal", unit_scale=True, desc="playing", mininterval=0.5) as bar:
            for look in _looks(tournament, parts):
                missing = {name: parts[name] for name in look if name not in done}
                for name, tables in run_tasks(Job.play, missing, jobs):
                    folder.write_part(name, tables)
                    bar.update(missing[name].deals)
                if tournament.rule is not None and _separated(tournament.rule, folder, list(parts)):
                    break
        _put_together(folder, [name for name in parts if folder.has_part(name, parts[name].kind)])
    else:
        folder.finish({})
    summary = folder.summary()
    if summary is None:
        summary = _summary(tournament, folder)
        folder.write_summary(summary)
    return summary


def _looks(tournament: Tournament, parts: Mapping[str, Job]) -> list[list[str]]:
    """The parts in the order of playing: all at once, or, where the run may stop early, look by look.

    Sessions have no part in stopping, so they come with the first look.
    """
    if tournament.rule is None:
        return [list(parts)]
    looks: dict[int, list[str]] = {}
    for name, job in parts.items():
        looks.setdefault(0 if job.as_sessions else job.blocks.start, []).append(name)
    return [looks[first] for first in sorted(looks)]


def _separated(rule: UntilSeparated, folder: RunFolder, names: list[str]) -> bool:
    """Whether the blocks so far tell every wanted difference from 0."""
    blocks = pa.concat_tables(folder.read_parts(names))
    return rule.stops(wanted_differences(Results(blocks))[1])


def _put_together(folder: RunFolder, names: list[str]) -> None:
    """The whole tables out of the parts; exports stay apart, one file a part."""
    for name in names:
        for records in folder.read_parts([name], "records"):
            for record in records.to_pylist():
                folder.write_text(f"records/{record['path']}", record["text"])
        folder.keep_part(name, "decisions")
    failures = [table for table in folder.read_parts(names, "failures") if len(table)]
    tables = {"behaviour": behaviour.total(folder.read_parts(names, "behaviour"))}
    if failures:
        tables["failures"] = pa.concat_tables(failures)
    if sessions := folder.read_parts(names, "sessions"):
        tables["sessions"] = pa.concat_tables(sessions)
    folder.finish(tables | {BLOCKS: pa.concat_tables(folder.read_parts(names))})


def _summary(tournament: Tournament, folder: RunFolder) -> dict[str, Any]:
    n, seed = tournament.rules.num_players, tournament.setting.seed
    blocks, done, sessions = (folder.table(kind) for kind in (BLOCKS, "behaviour", "sessions"))
    summary = summarise(blocks, n, seed, tournament.rule)
    if tournament.luck_correction:
        it = tournament.setting
        covariates = deal_covariates(it.rules, it.session, it.seed, range(tournament.deals))
        summary["corrected"] = corrected(blocks, covariates, seed)
    if tournament.openskill:
        summary["openskill"] = openskill(blocks, OPENSKILL_BLOCKS)
    summary["behaviour"] = summarise_behaviour(done)
    summary["failures"] = summarise_failures(folder.table("failures"))
    if sessions is not None:
        summary["sessions"] = summarise_sessions(sessions, seed)
    return summary


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    config = tyro.cli(Config, args=words, prog="python -m benchmarks.tournament")
    command = shlex.join(["python", "-m", "benchmarks.tournament", *words])
    try:
        tournament, note = tournament_of(config)
        folder = RunFolder(config.out, tournament.identity())
        print(f"{tournament.rules} · {tournament.deals:,} blocks of {tournament.rules.num_players} rotations a table")
        print(f"seed {tournament.setting.seed} · {note}", flush=True)
        summary = play(tournament, folder, command, config.jobs)
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from {config.out}", file=sys.stderr)
        return 130
    print(f"\n{report(summary, (*config.agents, *tournament.fields), config.detect)}\n\nresults in {config.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
