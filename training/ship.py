"""Puts trained agents into the repository, each with a card: ``python -m training.ship --help``."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
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
    "Plays only the rules it was trained for, one deal at a time with the pots of the preset's typical carries: it "
    "knows nothing of bankroll, of ruin, or of its opponents. It was trained against rules of thumb and itself, "
    "and may be exploited by players of another kind. One training seed: another one gives another agent."
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
    """The folder of the shipped agent.

    Raises:
        BestiaError: the run has no agent, or the bench does not hold its game.
    """
    told = json.loads((config.run / "config.json").read_text(encoding="utf-8"))
    evaluations = json.loads((config.run / "evaluations.json").read_text(encoding="utf-8"))
    rules = parse_rules(told["game"])
    name = f"{rules.variant}-{rules.num_players}"
    games = [game.name for game in benchmarks.bench.load() if game.rules == rules.full_text()]
    if not games:
        raise BestiaError(f"run={str(config.run)!r}: {rules} is no game of Bench v1; allowed are those of the bench")
    folder = FOLDER / config.learner / name
    folder.mkdir(parents=True, exist_ok=True)
    NetPolicy.load(config.run / "last.npz").save(folder / "net.npz")
    last = evaluations[-1]
    card = {
        "name": f"{config.learner} {name}",
        "version": f"seed {told['seed']}, {last['decisions']} decisions",
        "kind": "net",
        "file": "net.npz",
        "rules": rules.full_text(),
        "about": f"A network of {' x '.join(map(str, told['layers']))} hidden units. {LIMITS}",
    }
    write_card(folder, **card)
    training = {
        "command": shlex.join(["python", "-m", f"training.{config.learner}", *words_of(told, KINDS[config.learner])]),
        "seed": told["seed"],
        "decisions": last["decisions"],
        "minutes": round(last["seconds"] / 60, 1),
        "machine": f"one thread of {platform.machine()}, shared with others",
    }
    bench, behaviour = measure(folder, games[0], thumb_names(rules), config)
    sections = {"training": training, "bench_v1": bench, "behaviour": behaviour}
    with (folder / CARD).open("a", encoding="utf-8") as file:
        for title, values in sections.items():
            file.write(f"\n[{title}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in values.items()))
    load_agent(str(folder))  # raises if the card cannot be read
    return folder


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


def measure(folder: Path, game: str, thumbs: Sequence[str], config: Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """Bench v1's line with the leads over rules of thumb, and the agent's rates there among copies of medium."""
    out = config.run / "bench-v1"
    words = ["--agent", str(folder), "--against", *thumbs, "--games", game, "--jobs", str(config.jobs)]
    words += ["--out", str(out)]
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


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
