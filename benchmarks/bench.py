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
        against: agents to compare it with: for each one more line with the difference of the scores, agent less rival,
            deal by deal. A rival that cannot play a game is told so and left out there.
        games: names out of the bench; all if not given. An agent that cannot play a game is told so and skipped.
        out: the folder of the results; results/bench-v1-AGENT if not given.
        jobs: processes; the numbers do not depend on it.
    """

    agent: tuple[str, ...]
    against: tuple[str, ...] = ()
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


def columns(game: Game, agent: str, folder: RunFolder, command: str, jobs: int) -> Any:
    """(blocks, 2 + fields) the mean over the known fields, the score in the hold-out field, and those in the known."""
    play(game.tournament(agent), folder, command, jobs)
    results = Results(folder.table(BLOCKS))
    scores = {field: results.column((agent, field), "score") for field in game.fields}
    own = [scores[field] for field in known_fields(game)]
    return np.stack([np.mean(own, axis=0), scores[HOLD_OUT], *own], axis=1)


def known_fields(game: Game) -> list[str]:
    """The fields of the mean."""
    return [field for field in game.fields if field != HOLD_OUT]


def bench(
    game: Game, agents: Mapping[str, RunFolder], rivals: Mapping[str, RunFolder], command: str, jobs: int
) -> dict[str, Any]:
    """Plays one game, everybody into his folder, and returns the line of all agents and their leads over the rivals."""
    parts = [columns(game, agent, folder, command, jobs) for agent, folder in agents.items()]
    others = [columns(game, rival, folder, command, jobs)[:, :2] for rival, folder in rivals.items()]
    parts = [np.concatenate([part, *[part[:, :2] - other for other in others]], axis=1) for part in parts]
    if len(agents) == 1:
        intervals = block_intervals(parts[0], game.seed)
    else:
        groups = np.repeat(np.arange(len(agents)), [len(part) for part in parts])
        intervals = two_level_intervals(np.concatenate(parts), groups, game.seed)
    mean, hold_out, *rest = intervals
    known = known_fields(game)
    leads = iter(rest[len(known) :])
    return {
        "game": game.name,
        "score": mean._asdict(),
        "hold_out": hold_out._asdict(),
        "fields": {name: interval._asdict() for name, interval in zip(known, rest, strict=False)},
        "against": {rival: {key: next(leads)._asdict() for key in ("score", "hold_out")} for rival in rivals},
        "blocks": game.blocks,
    }


def lines_of(row: Mapping[str, Any], width: int) -> list[str]:
    """A game as it is printed."""
    if "refused" in row:
        return [f"{row['game']:{width}}  {row['refused']}"]
    told: dict[str, Any] = {row["game"]: row} | {f"  less {rival}": lead for rival, lead in row["against"].items()}
    lines = []
    for name, intervals in told.items():
        texts = [f"{value:+z.4f}" for key in ("score", "hold_out") for value in Interval(**intervals[key])]
        lines.append(f"{name:{width}}" + "".join(f"{text:>10}" for text in texts))
    return [*lines, *(f"{f'  less {rival}':{width}}  {why}" for rival, why in row["refused_against"].items())]


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
    width = max(len(name) for name in [*(game.name for game in chosen), *(f"  less {name}" for name in config.against)])
    titles = "".join(f"{title:>10}" for title in ("score", "low", "high", HOLD_OUT, "low", "high"))
    told = ", ".join(agent if ":" in agent else f"{agent} {agent_version(agent)}" for agent in config.agent)
    print(f"\nBench v1 · {told} · score in pots per deal, 95 % intervals")
    print("\n".join([f"{'game':{width}}{titles}", *(line for row in rows for line in lines_of(row, width))]))
    return 0


def _play_all(games: Sequence[Game], config: Config, command: str) -> list[dict[str, Any]]:
    """All games; those that an agent refuses say why, and so do rivals."""
    agents, against = config.agent, config.against
    if not agents or len({*agents, *against}) != len(agents) + len(against):
        named = " ".join((*agents, *against))
        raise BestiaError(f"--agent and --against {named}; allowed are one or more agents, and each name once")
    out = config.out or Path("results") / f"bench-v1-{_slug(agents[0])}"
    asked = [{name: _identity(game, name) for name in (*agents, *against)} for game in games]
    refusals = [{name: why for name, why in told.items() if isinstance(why, str)} for told in asked]
    for some in (agents, *((rival,) for rival in against)):  # each rival must play a game, all agents one together
        whys = [next((refused[name] for name in some if name in refused), None) for refused in refusals]
        if all(whys):
            raise BestiaError(str(whys[0]))
    rows = []
    for game, told, refused in zip(games, asked, refusals, strict=True):
        if unable := next((refused[name] for name in agents if name in refused), None):
            rows.append({"game": game.name, "refused": unable})
            continue
        own = out / game.name
        places = {agent: own / _slug(agent) if len(agents) > 1 else own for agent in agents}
        rivals = {rival: out / "against" / _slug(rival) / game.name for rival in against if rival not in refused}
        print(game.name, file=sys.stderr, flush=True)
        folders = [{name: RunFolder(place, told[name]) for name, place in some.items()} for some in (places, rivals)]
        rows.append(bench(game, *folders, command, config.jobs) | {"refused_against": refused})
    lines = json.dumps({"agents": list(agents), "bench": "v1", "games": rows}, indent=1) + "\n"
    (out / "bench.json").write_text(lines, encoding="utf-8")
    return rows


def _identity(game: Game, agent: str) -> dict[str, Any] | str:
    """What decides an agent's numbers in a game, or why it cannot play it."""
    try:
        return game.tournament(agent).identity()
    except BestiaError as error:
        return str(error)


def _slug(agent: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in agent)


if __name__ == "__main__":
    sys.exit(main())
