"""Puts trained agents into the repository, each with a card: ``python -m training.ship --help``."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import tyro

import benchmarks.bench
from agents import thumb_names
from agents.files import CARD, load_agent, write_card
from agents.net import NetPolicy
from agents.shipped import FOLDER
from bestia_env import BestiaError, parse_rules
from training.config import RunConfig
from training.dmc import DMCConfig
from training.ppo import PPOConfig

KINDS: dict[str, type[RunConfig]] = {"dmc": DMCConfig, "ppo": PPOConfig}

LIMITS = (
    "Plays only the rules it was trained for, one deal at a time with carries as in training: it knows nothing of "
    "bankroll, of ruin, or of its opponents. It was trained against the pool its command names (rules of thumb and "
    "itself if it names none), and may be exploited by players of another kind. One training seed: another one gives "
    "another agent."
)


@dataclass(frozen=True, kw_only=True)
class Config:
    """Copies the last agent of a run into agents/trained, plays Bench v1 with it and writes its card.

    Args:
        run: the folder of the run.
        learner: what trained it.
        jobs: processes of the bench.
    """

    run: Path
    learner: Literal["ppo", "dmc"]
    jobs: int = 1


def ship(config: Config) -> Path:
    """The folder of the shipped agent; one that is there already is replaced when the new one has been measured.

    Raises:
        BestiaError: no run of that learner in the folder, or the bench does not hold its game.
    """
    try:
        told = json.loads((config.run / "config.json").read_text(encoding="utf-8"))
        last = json.loads((config.run / "evaluations.json").read_text(encoding="utf-8"))[-1]
    except (OSError, IndexError) as error:
        raise BestiaError(f"run={str(config.run)!r}; allowed is the folder of a run that was evaluated") from error
    if missing := {argument.name for argument in fields(KINDS[config.learner])} - set(told):
        raise BestiaError(f"learner={config.learner!r}; allowed is that of the run, which has no {min(missing)}")
    rules = parse_rules(told["game"])
    games = [game.name for game in benchmarks.bench.load() if game.rules == rules.full_text()]
    if not games:
        raise BestiaError(f"run={str(config.run)!r}: {rules} is no game of Bench v1; allowed are those of the bench")
    folder = FOLDER / config.learner / games[0]
    with TemporaryDirectory() as scratch:
        made = Path(scratch) / games[0]
        made.mkdir()
        NetPolicy.load(config.run / "last.npz").save(made / "net.npz")
        _write_card(made, config, told, last)
        bench, behaviour = measure(made, games[0], thumb_names(rules), config.jobs)
        with (made / CARD).open("a", encoding="utf-8") as file:
            for title, values in {"bench_v1": bench, "behaviour": behaviour}.items():
                file.write(_section(title, values))
        load_agent(str(made))  # raises if the card cannot be read
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    return folder


def _write_card(folder: Path, config: Config, told: Mapping[str, Any], last: Mapping[str, Any]) -> None:
    """What is known before the agent was measured."""
    write_card(
        folder,
        name=f"{config.learner} {folder.name}",
        version=f"seed {told['seed']}, {last['decisions']} decisions",
        kind="net",
        file="net.npz",
        rules=told["game"],
        about=f"A network of {' x '.join(map(str, told['layers']))} hidden units. {LIMITS}",
    )
    training = {
        "command": shlex.join(["python", "-m", f"training.{config.learner}", *words_of(told, KINDS[config.learner])]),
        "seed": told["seed"],
        "decisions": last["decisions"],
        "minutes": round(last["seconds"] / 60, 1),
        "machine": f"{platform.machine()}, {told['threads']} thread of it, shared with others",
    }
    with (folder / CARD).open("a", encoding="utf-8") as file:
        file.write(_section("training", training))


def words_of(told: Mapping[str, Any], kind: type[RunConfig]) -> list[str]:
    """The arguments of a run that are not the defaults, as words of its command line; the folder apart."""
    words = []
    for argument in fields(kind):
        value, default = told[argument.name], json.loads(json.dumps(argument.default, default=str))
        if argument.name == "out" or value == default:
            continue
        option = f"--{argument.name.replace('_', '-')}"
        if argument.name == "changes":
            words += [word for change in value for word in ("--set", change)]
        elif isinstance(value, bool):
            words.append(option if value else f"--no-{option[2:]}")
        else:
            words += [option, *(map(str, value) if isinstance(value, list) else [str(value)])]
    return words


def measure(folder: Path, game: str, thumbs: Sequence[str], jobs: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Bench v1's line with the leads over rules of thumb, and the agent's rates there among copies of medium."""
    out = folder.with_name("bench")
    words = ["--agent", str(folder), "--against", *thumbs, "--games", game, "--jobs", str(jobs), "--out", str(out)]
    if benchmarks.bench.main(words):
        raise BestiaError(f"python -m benchmarks.bench {shlex.join(words)} failed")
    (row,) = json.loads((out / "bench.json").read_text(encoding="utf-8"))["games"]
    told = {key: row[key] for key in ("score", "hold_out")}
    told |= {f"in_{field}": interval for field, interval in row["fields"].items()}
    told |= {f"less_{rival}": lead["score"] for rival, lead in row["against"].items()}
    line = {key: [round(interval[part], 4) for part in ("mean", "low", "high")] for key, interval in told.items()}
    summary = json.loads((out / game / "summary.json").read_text(encoding="utf-8"))
    rates = [told for told in summary["behaviour"] if told["agent"] == str(folder)]
    wanted = next((told for told in rates if told["field"] == "medium"), rates[0])
    return line, {key: round(value, 4) for key, value in wanted.items() if isinstance(value, float)}


def _section(title: str, values: Mapping[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    return f"\n[{title}]\n" + "".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    config = tyro.cli(Config, args=arguments, prog="python -m training.ship")
    try:
        print(ship(config))
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
