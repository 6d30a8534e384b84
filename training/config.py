"""What a training run is made of, for the command lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from agents import agent_names
from benchmarks.options import rules_of, session_of
from bestia_env import BestiaError, SessionConfig, make_policy
from bestia_env.family import Rules

__all__ = ["CURRENT", "PAST", "RunConfig", "default_weights", "read_weights"]

CURRENT, PAST = "current", "past"
"""In a pool: the learner as it is, and as it was."""

THUMBS = ("always", "loose", "medium", "random", "tight")
"""Rules of thumb to learn against: those of Bench v1's known fields. The agents of its hold-out field are none."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What every learner needs to know.

    Args:
        variant: name of the game.
        players: seats; the game's default if not given.
        changes: a field of the rules to change, such as penalty_cap=30; may be repeated.
        rules: the game as a text instead, such as "bestia(num_players=5, penalty_cap=30)".
        carry: chips in the pot before the ante: "typical", a number, or LOW-HIGH; typical where the game has a table.
        reward: "score" (pots, bounded) or "chips".
        pad_players: one size of observation for all tables of up to so many seats.
        tables: more table sizes to learn in equal parts with that of ``players``; needs pad_players. Evaluated is the
            table of ``players``.
        relative_suits: the learner sees trumps first, then the suits by the cards it holds, instead of suits by name.
        opponents: weights of the pool, NAME=WEIGHT: current (the learner as it is), past (what it was; shared among the
            snapshots), and agents by name. If not given: current=2 past=1, and 1 for every rule of thumb of the known
            fields that plays this game.
        same_table: in what part of the games one of the pool takes all other seats; in the rest each seat is drawn.
        snapshot_every: rollouts between two snapshots.
        snapshots: most of them in the pool; the oldest leaves.
        steps: decisions of the learner.
        minutes: stop after so many minutes of training, too; resumed runs count on.
        envs: games at once.
        rollout: decisions of each game in a rollout.
        eval_every: rollouts between two evaluations.
        eval_blocks: duplicate blocks of each field.
        eval_fields: whom it is evaluated against, copies of one agent each.
        checkpoint_every: rollouts between two checkpoints; a run that is killed goes on from the last.
        seed: of deals, weights and evaluation.
        device: of the network, as torch names them.
        threads: of torch; on shared cores one is fastest.
        out: the folder of the run; the same command goes on with it.
    """

    variant: str | None = None
    players: int | None = None
    changes: Annotated[
        tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE"), tyro.conf.UseAppendAction
    ] = ()
    rules: str | None = None
    carry: str | None = None
    reward: str = "score"
    pad_players: int | None = None
    tables: tuple[int, ...] = ()
    relative_suits: bool = True
    opponents: tuple[str, ...] = ()
    same_table: float = 0.5
    snapshot_every: int = 10
    snapshots: int = 10
    steps: int = 3_000_000
    minutes: float | None = None
    envs: int = 1024
    rollout: int = 16
    eval_every: int = 25
    eval_blocks: int = 400
    eval_fields: tuple[str, ...] = ("loose", "medium", "tight")
    checkpoint_every: int = 10
    seed: int = 1
    device: str = "cpu"
    threads: int = 1
    out: Path = field(default=Path("runs/first"))

    def game(self) -> tuple[Rules, SessionConfig]:
        """Rules and session.

        Raises:
            BestiaError: an unknown game, a field that is not allowed, or further tables that are not.
        """
        self._check()
        self.more_games()
        rules = rules_of(self.variant, self.players, self.changes, self.rules)
        for name in self.eval_fields:
            make_policy(name, rules)
        session, _ = session_of(rules, self.carry)
        return rules, session

    def _check(self) -> None:
        """What no other part of the laboratory would refuse before something was written or played."""
        for name in (
            "steps", "envs", "rollout", "snapshot_every", "snapshots", "eval_every", "checkpoint_every", "threads",
            "batch", "epochs",
        ):  # fmt: skip
            if (value := getattr(self, name, 1)) < 1:
                raise BestiaError(f"{name}={value}; allowed is 1 or more")
        if self.eval_blocks < 2:
            raise BestiaError(f"eval_blocks={self.eval_blocks}; allowed is 2 or more: one block has no interval")
        if not self.eval_fields or len(set(self.eval_fields)) < len(self.eval_fields):
            raise BestiaError(f"eval_fields={self.eval_fields}; allowed are one or more agents, each once")

    def more_games(self) -> list[tuple[Rules, SessionConfig]]:
        """Rules and session of the further tables.

        Raises:
            BestiaError: further tables without ``pad_players``, or with a rules text.
        """
        if not self.tables:
            return []
        if self.pad_players is None or self.rules is not None or self.players is None:
            raise BestiaError(
                f"tables={self.tables}, players={self.players}, pad_players={self.pad_players}, rules={self.rules!r}; "
                "allowed are further tables with players and pad_players, of rules that are named by their variant"
            )
        if len({self.players, *self.tables}) <= len(self.tables):
            raise BestiaError(f"players={self.players}, tables={self.tables}; allowed is each size once")
        found = [rules_of(self.variant, size, self.changes, None) for size in self.tables]
        return [(rules, session_of(rules, self.carry)[0]) for rules in found]


def default_weights(rules: Rules) -> dict[str, float]:
    """The pool if none is given."""
    known = agent_names(rules)
    return {CURRENT: 2.0, PAST: 1.0} | {name: 1.0 for name in THUMBS if name in known}


def read_weights(words: tuple[str, ...], rules: Rules) -> dict[str, float]:
    """A pool's weights from ``name=weight`` words.

    Raises:
        BestiaError: a word that reads otherwise, an agent that cannot play, or nobody with a positive weight.
    """
    weights: dict[str, float] = {}
    for word in words:
        name, _, number = word.partition("=")
        if name in weights:
            raise BestiaError(f"opponents {word!r}; allowed is each name once")
        try:
            weights[name] = float(number)
        except ValueError:
            raise BestiaError(f"opponents {word!r}; allowed is NAME=WEIGHT") from None
    weights = weights or default_weights(rules)
    if not any(weights.values()) or not all(0 <= weight < math.inf for weight in weights.values()):
        raise BestiaError(f"opponents {weights}; allowed are finite weights from 0, one of them positive")
    for name in weights:
        if name not in (CURRENT, PAST):
            make_policy(name, rules)
    return weights
