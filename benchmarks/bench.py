"""A benchmark one can cite: ``python -m benchmarks.bench --agent medium``.

One agent plays frozen games against frozen fields over frozen deals, and each game gives one line: the mean score over
the fields with its interval, and the score against a field kept back. docs/bench.md tells what is frozen and why.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from agents import agent_version
from benchmarks.bootstrap import two_level_intervals
from benchmarks.options import session_of
from benchmarks.statistics import Interval, block_intervals
from benchmarks.store import BLOCKS, RunFolder
from benchmarks.summary import Results
from benchmarks.tasks import Setting
from benchmarks.tournament import Tournament, play
from bestia_env import BestiaError, family_of, parse_rules
from bestia_env.rams.typical import typical_table

__all__ = ["BENCH", "Config", "Game", "bench", "load", "main"]

BENCH = Path(__file__).with_name("bench_v1.toml")
HOLD_OUT = "hold-out"


@dataclass(frozen=True, kw_only=True)
class Config:
    """Plays Bench v1: one line a game, the mean score over its fields in pots per deal with a 95 % interval.

    Blocks, seeds, rules and opponents are frozen in bench_v1.toml. "hold-out" is a field that is not part of the mean:
    agents should not be tuned against it. A run that was killed goes on when the same command is given again.

    Args:
        agent: who is measured: a name, module:attribute, an SB3 model's .zip, or a folder with a card. Several are one
            method with several training seeds: the intervals then also hold the luck of training (docs/statistics.md).
        games: names out of the bench; all if not given. An agent that cannot play a game is told so and skipped.
        out: the folder of the results; results/bench-v1-AGENT if not given.
        jobs: processes; the numbers do not depend on it.
    """

    agent: tuple[str, ...]
    games: tuple[str, ...] = ()
    out: Path | None = None
    jobs: int = 1


@dataclass(frozen=True)
class Game:
    """One line of the bench.

    Attributes:
        name: what it is called.
        rules: full rules text.
        blocks: of every field.
        seed: of its deals.
        typical: a hash of the carries its deals begin with; "" where there are none.
        fields: members by name; the hold-out field is one of them.
    """

    name: str
    rules: str
    blocks: int
    seed: int
    typical: str
    fields: Mapping[str, tuple[str, ...]]

    def tournament(self, agent: str) -> Tournament:
        """What is played.

        Raises:
            BestiaError: the carries of today are not those of the bench.
        """
        rules = parse_rules(self.rules)
        session, _ = session_of(rules, None)
        if carries_hash(rules) != self.typical:
            raise BestiaError(
                f"bench game {self.name}: the typical carries have changed; allowed are those it was frozen with"
            )
        fields = {name: self.fields[name] for name in sorted(self.fields)}
        return Tournament(Setting(rules, session, self.seed, timeout=600.0), (agent,), fields, self.blocks)


def carries_hash(rules: Any) -> str:
    """A hash of the table of typical carries of a game; "" in families without a pot."""
    if family_of(rules).name != "rams":
        return ""
    carry, forced = typical_table(rules)
    return hashlib.sha256(json.dumps([carry.tolist(), forced.tolist()]).encode()).hexdigest()[:16]


def load(path: Path = BENCH) -> list[Game]:
    """The games of a bench.

    Raises:
        BestiaError: an opponent is not of the version the bench was frozen with.
    """
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    for agent, version in told["agents"].items():
        if agent_version(agent) != version:
            raise BestiaError(f"{path.name} needs {agent} {version}; here it is {agent_version(agent)}")
    return [
        Game(
            name=game["name"],
            rules=game["rules"],
            blocks=game["blocks"],
            seed=game["seed"],
            typical=game["typical"],
            fields={name: tuple(members) for name, members in game["fields"].items()},
        )
        for game in told["games"]
    ]


def bench(game: Game, agents: Sequence[str], folders: Sequence[RunFolder], command: str, jobs: int) -> dict[str, Any]:
    """Plays one game, each agent into its folder, and returns the line of all of them."""
    known = [field for field in game.fields if field != HOLD_OUT]
    parts = []
    for agent, folder in zip(agents, folders, strict=True):
        play(game.tournament(agent), folder, command, jobs)
        results = Results(folder.table(BLOCKS))
        scores = {field: results.column((agent, field), "score") for field in game.fields}
        own = [scores[field] for field in known]
        parts.append(np.stack([np.mean(own, axis=0), scores[HOLD_OUT], *own], axis=1))
    if len(agents) == 1:
        intervals = block_intervals(parts[0], game.seed)
    else:
        groups = np.repeat(np.arange(len(agents)), [len(part) for part in parts])
        intervals = two_level_intervals(np.concatenate(parts), groups, game.seed)
    mean, hold_out, *others = intervals
    return {
        "game": game.name,
        "score": mean._asdict(),
        "hold_out": hold_out._asdict(),
        "fields": {name: interval._asdict() for name, interval in zip(known, others, strict=True)},
        "blocks": game.blocks,
    }


def line_of(row: Mapping[str, Any], width: int) -> str:
    """One line as it is printed."""
    if "refused" in row:
        return f"{row['game']:{width}}  {row['refused']}"
    texts = [f"{value:+z.4f}" for key in ("score", "hold_out") for value in Interval(**row[key])]
    return f"{row['game']:{width}}" + "".join(f"{text:>10}" for text in texts)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    config = tyro.cli(Config, args=words, prog="python -m benchmarks.bench")
    command = shlex.join(["python", "-m", "benchmarks.bench", *words])
    try:
        games = load()
        known = [game.name for game in games]
        for name in config.games:
            if name not in known:
                raise BestiaError(f"--games {name!r}; allowed are {', '.join(known)}")
        chosen = [game for game in games if not config.games or game.name in config.games]
        rows = _play_all(chosen, config, command)
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    width = max(len(game.name) for game in chosen)
    titles = "".join(f"{title:>10}" for title in ("score", "low", "high", HOLD_OUT, "low", "high"))
    told = ", ".join(agent if ":" in agent else f"{agent} {agent_version(agent)}" for agent in config.agent)
    print(f"\nBench v1 · {told} · score in pots per deal, 95 % intervals")
    print("\n".join([f"{'game':{width}}{titles}", *(line_of(row, width) for row in rows)]))
    return 0


def _play_all(games: Sequence[Game], config: Config, command: str) -> list[dict[str, Any]]:
    """All lines; those of games that an agent refuses say why."""
    agents = config.agent
    if not agents or len(set(agents)) != len(agents):
        raise BestiaError(f"--agent {' '.join(agents)}; allowed are one or more names, each once")
    slugs = ["".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in agent) for agent in agents]
    out = config.out or Path("results") / f"bench-v1-{slugs[0]}"
    rows = []
    for game in games:
        try:
            identities = [game.tournament(agent).identity() for agent in agents]
        except BestiaError as error:
            rows.append({"game": game.name, "refused": str(error)})
            continue
        places = [out / game.name / slug if len(agents) > 1 else out / game.name for slug in slugs]
        folders = [RunFolder(place, identity) for place, identity in zip(places, identities, strict=True)]
        print(game.name, file=sys.stderr, flush=True)
        rows.append(bench(game, agents, folders, command, config.jobs))
    if all("refused" in row for row in rows):
        raise BestiaError(rows[0]["refused"])
    told = json.dumps({"agents": list(agents), "bench": "v1", "games": rows}, indent=1) + "\n"
    (out / "bench.json").write_text(told, encoding="utf-8")
    return rows


if __name__ == "__main__":
    sys.exit(main())
