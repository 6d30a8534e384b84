"""The folder of a training run: agents, evaluations, and a checkpoint from which a killed run goes on exactly."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import random
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from agents.files import write_card
from bestia_env import BestiaError
from training.evaluation import MEAN, evaluate

if TYPE_CHECKING:
    from pathlib import Path

    from agents.net import NetPolicy
    from benchmarks.statistics import Interval
    from bestia_env import SessionConfig
    from bestia_env.family import Rules
    from training.config import RunConfig

__all__ = ["Run"]

FREE = ("steps", "minutes", "out", "device", "threads", "eval_every", "eval_blocks", "checkpoint_every")
"""Arguments in which a command may differ from the one that began the run."""

EVAL_SEED = 0xE7A1  # apart from the seeds of training and of Bench v1


class Run:
    """A run and what is known of it.

    Args:
        config: of the command line.
        rules: the game.
        session: how its deals begin.

    Attributes:
        rollouts: so far.
        seconds: of training, evaluations apart.
        evaluations: one dict each: decisions, seconds, and field → [mean, low, high].

    Raises:
        BestiaError: the folder holds a run of other arguments.
    """

    def __init__(self, config: RunConfig, rules: Rules, session: SessionConfig) -> None:
        self.config, self.rules, self.session = config, rules, session
        self.folder = config.out
        self.checkpoint = self.folder / "checkpoint"
        self.rollouts, self.seconds = 0, 0.0
        self.evaluations: list[dict[str, Any]] = []
        self._random: Any = None
        self._told = json.loads(json.dumps(dataclasses.asdict(config), default=str)) | {"game": rules.full_text()}
        self._file = self.folder / "config.json"
        if self._file.exists():
            self._compare(json.loads(self._file.read_text(encoding="utf-8")))

    def _compare(self, before: dict[str, Any]) -> None:
        if set(before) != set(self._told):
            names = ", ".join(sorted(set(before) ^ set(self._told)))
            raise BestiaError(f"{self.folder} holds a run of another version ({names}); allowed is another --out")
        for name, value in self._told.items():
            if name not in FREE and before[name] != value:
                raise BestiaError(
                    f"{self.folder} holds a run with {name}={before[name]!r}; allowed is that, or another --out, "
                    f"not {value!r}"
                )

    def begin(self) -> None:
        """Makes the folder; what is refused before leaves none."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._told, indent=1) + "\n", encoding="utf-8")

    # --- checkpoints ------------------------------------------------------------------------------------------------

    @property
    def model_file(self) -> Path:
        """The learner's own file."""
        return self.checkpoint / "model.zip"

    def found(self) -> bool:
        """Whether there is a checkpoint; one whose replacement was interrupted is put back."""
        old = self.checkpoint.with_suffix(".old")
        if not self.checkpoint.exists() and old.exists():
            old.rename(self.checkpoint)
        return self.checkpoint.exists()

    def finished(self) -> bool:
        """Whether the run has used up its minutes."""
        return self.config.minutes is not None and self.seconds >= 60 * self.config.minutes

    def save(self, model: Any, env: Any) -> None:
        """Writes everything that a process needs to go on as this one would; a kill in between loses nothing."""
        fresh, old = self.checkpoint.with_suffix(".new"), self.checkpoint.with_suffix(".old")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        model.save(fresh / "model.zip")
        state = {
            "rollouts": self.rollouts,
            "seconds": self.seconds,
            "evaluations": self.evaluations,
            "random": (random.getstate(), np.random.get_state(), torch.get_rng_state()),  # noqa: NPY002  # SB3 draws there
            "env": env,
        }
        with (fresh / "state.pickle").open("wb") as file:
            pickle.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        shutil.rmtree(old, ignore_errors=True)
        if self.checkpoint.exists():
            self.checkpoint.rename(old)
        fresh.rename(self.checkpoint)
        shutil.rmtree(old, ignore_errors=True)

    def load_env(self) -> Any:
        """The environment of the checkpoint, with its pool; and what the run knew. Unpickling executes code."""
        with (self.checkpoint / "state.pickle").open("rb") as file:
            state = pickle.load(file)
        self.rollouts, self.seconds = state["rollouts"], state["seconds"]
        self.evaluations, self._random = state["evaluations"], state["random"]
        return state["env"]

    def restore_random(self) -> None:
        """Puts the global generators, which Stable-Baselines3 draws from, where they were."""
        if self._random is not None:
            python, numpy, torch_state = self._random
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002  # see above
            torch.set_rng_state(torch_state)

    def broken(self, what: str, decisions: int) -> BestiaError:
        """The error of a run whose numbers are not finite; nothing of them is saved."""
        sound = f"{self.checkpoint} is sound" if self.found() else "there is no checkpoint yet"
        return BestiaError(f"{what} are not finite after {decisions} decisions; {sound}")

    # --- evaluation -------------------------------------------------------------------------------------------------

    def evaluate(self, net: NetPolicy, decisions: int) -> dict[str, Interval]:
        """Measures the agent, keeps it as last and, if no other had a higher mean, as best."""
        config = self.config
        scores = evaluate(net, self.rules, self.session, config.eval_fields, config.eval_blocks, EVAL_SEED)
        best = max((told[MEAN][0] for told in self.evaluations), default=-np.inf)
        told = {name: list(interval) for name, interval in scores.items()}
        self.evaluations.append({"decisions": decisions, "seconds": round(self.seconds, 1), **told})
        (self.folder / "evaluations.json").write_text(json.dumps(self.evaluations, indent=1) + "\n", encoding="utf-8")
        net.save(self.folder / "last.npz")
        if scores[MEAN].mean >= best:
            net.save(self.folder / "best.npz")
            name = f"{self.rules.variant}-{self.rules.num_players}"
            write_card(self.folder, name=name, version=f"{decisions} decisions", kind="net", file="best.npz")
        return scores

    def lines(self) -> list[str]:
        """The evaluations as a table for people."""
        if not self.evaluations:
            return ["no evaluation yet"]
        fields = (MEAN, *self.config.eval_fields)
        head = f"{'decisions':>10} {'minutes':>8}" + "".join(f"{field:>28}" for field in fields)
        rows = []
        for told in self.evaluations:
            cells = [f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]" for mean, low, high in map(told.__getitem__, fields)]
            start = f"{told['decisions']:>10} {told['seconds'] / 60:>8.1f}"
            rows.append(start + "".join(f"{cell:>28}" for cell in cells))
        return [head, *rows]
