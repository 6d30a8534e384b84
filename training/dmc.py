"""Deep Monte Carlo in self-play: ``python -m training.dmc --help``. docs/training.md tells the results.

Every decision is taught the return that followed it, and the best value is played (Zha and others, "DouZero", ICML
2021, without its encoding and its crowd of actors). There is no bootstrapping, and a deal is so short that little is
lost by it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from agents.net import Layer, NetPolicy
from training.command import check_device, command_line, finite, fresh_env, renew_pools, seat_pools
from training.config import RunConfig, read_weights
from training.runs import Run

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["DMCConfig", "Learner", "main", "train"]


@dataclass(frozen=True, kw_only=True)
class DMCConfig(RunConfig):
    """Trains an agent by deep Monte Carlo in self-play; its folder is like that of training.ppo.

    Args:
        learning_rate: of Adam, falling to zero in a straight line.
        batch: decisions of a gradient step.
        epochs: passes over a rollout.
        explore: part of the decisions that are random, falling to zero in a straight line.
        layers: sizes of the hidden layers.
    """

    learning_rate: float = 1e-3
    batch: int = 2048
    epochs: int = 2
    explore: float = 0.2
    layers: tuple[int, ...] = (256, 256)


class Learner:
    """The values of actions, their optimiser, and the generator that explores.

    Args:
        numbers: of a tensor.
        actions: of the game.
        config: of the command line.
    """

    def __init__(self, numbers: int, actions: int, config: DMCConfig) -> None:
        sizes = [numbers, *config.layers, actions]
        parts: list[nn.Module] = []
        for one, two in pairwise(sizes):
            parts += [nn.Linear(one, two), nn.ReLU()]
        self.net = nn.Sequential(*parts[:-1]).to(config.device)
        self.optimiser = torch.optim.Adam(self.net.parameters())
        self.generator = np.random.default_rng(config.seed)
        self.decisions, self._config = 0, config

    @property
    def remaining(self) -> float:
        """The part of the run that is left."""
        return max(0.0, 1 - self.decisions / self._config.steps)

    def act(self, tensors: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The best legal actions, and some random ones."""
        with torch.no_grad():
            values = self.net(torch.as_tensor(tensors, device=self._config.device)).cpu().numpy()
        best = np.where(masks, values, -np.inf).argmax(axis=1)
        wild = self.generator.random(len(masks)) < self._config.explore * self.remaining
        drawn = np.where(masks, self.generator.random(masks.shape), -1).argmax(axis=1)
        return np.where(wild, drawn, best)

    def learn(self, tensors: NDArray[np.float32], actions: NDArray[np.int64], returns: NDArray[np.float32]) -> None:
        """Teaches the values of what was played: (N, F) tensors, (N,) actions and (N,) returns."""
        config = self._config
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * self.remaining
        seen, played, paid = (torch.as_tensor(part, device=config.device) for part in (tensors, actions, returns))
        for _ in range(config.epochs):
            order = torch.as_tensor(self.generator.permutation(len(actions)), device=config.device)
            for first in range(0, len(actions), config.batch):
                some = order[first : first + config.batch]
                told = self.net(seen[some]).gather(1, played[some, None])[:, 0]
                loss = nn.functional.mse_loss(told, paid[some])
                self.optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.optimiser.step()

    def policy(self, rules: Rules) -> NetPolicy:
        """What has been learned, as an agent that plays the best value."""
        layers = [
            Layer(part.weight.detach().cpu().numpy().T, part.bias.detach().cpu().numpy())
            for part in self.net
            if isinstance(part, nn.Linear)
        ]
        config = self._config
        return NetPolicy(
            layers,
            rules.full_text(),
            pad_players=config.pad_players,
            kind="values",
            relative_suits=config.relative_suits,
        )

    def save(self, file: Path) -> None:
        """Writes what ``load`` reads."""
        told = {"net": self.net.state_dict(), "optimiser": self.optimiser.state_dict()}
        torch.save(told | {"decisions": self.decisions, "generator": self.generator.bit_generator.state}, file)

    def load(self, file: Path) -> None:
        """Goes on where ``save`` was called."""
        told = torch.load(file, weights_only=True, map_location=self._config.device)
        self.net.load_state_dict(told["net"])
        self.optimiser.load_state_dict(told["optimiser"])
        self.decisions, self.generator.bit_generator.state = told["decisions"], told["generator"]


class Episodes:
    """Decisions of games that are still open; a game's return is known at its end.

    Args:
        rows: games at once.
    """

    def __init__(self, rows: int) -> None:
        self._open: list[list[tuple[NDArray[np.float32], int, float]]] = [[] for _ in range(rows)]
        self.ended: list[tuple[NDArray[np.float32], int, float]] = []

    def add(self, tensors: NDArray[np.float32], actions: NDArray[np.int64], paid: Any, done: Any) -> None:
        """One step of every game; ended games get their returns."""
        for row, decisions in enumerate(self._open):
            decisions.append((tensors[row], int(actions[row]), float(paid[row])))
            if done[row]:
                total = 0.0
                for tensor, action, reward in reversed(decisions):
                    total += reward
                    self.ended.append((tensor, action, total))
                decisions.clear()

    def take(self) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
        """Tensors, actions and returns of the games that have ended since the last call."""
        tensors, actions, returns = zip(*self.ended, strict=True)
        self.ended = []
        return np.stack(tensors), np.array(actions, np.int64), np.array(returns, np.float32)


def train(config: DMCConfig) -> Run:
    """Trains, or goes on training, and returns the run.

    Raises:
        BestiaError: arguments that are not allowed, a folder with a run of other arguments, or weights that are not
            finite.
    """
    rules, session = config.game()
    weights = read_weights(config.opponents, rules)
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    check_device(config.device)
    run = Run(config, rules, session)
    fresh = not run.found()
    if fresh:
        env = fresh_env(config, rules, session)
        episodes = Episodes(config.envs)
    else:
        env, episodes = run.load_env()
    learner = Learner(env.games.batch.tensor_layout.size, env.games.num_actions, config)
    if fresh:
        seat_pools(config, env, weights, learner.policy)
        env.reset()
    else:
        learner.load(run.model_file)
    if learner.decisions < config.steps and not run.finished():
        run.begin()
    with tqdm(total=config.steps, initial=learner.decisions, unit="dec", unit_scale=True) as bar:
        while learner.decisions < config.steps and not run.finished():
            _rollout(config, rules, run, env, episodes, learner)
            bar.update(learner.decisions - bar.n)
            if run.evaluations:
                bar.set_postfix(score=f"{run.evaluations[-1]['mean'][0]:+.4f}")
    return run


def _rollout(config: DMCConfig, rules: Rules, run: Run, env: Any, episodes: Episodes, learner: Learner) -> None:
    """One rollout, the lesson of the games that ended in it, and what happens between two rollouts."""
    began = time.monotonic()
    tensors = env.observe()
    for _ in range(config.rollout):
        actions = learner.act(tensors, env.action_masks())
        after, paid, done, _ = env.step(actions)
        episodes.add(tensors, actions, paid, done)
        tensors = after
    learner.decisions += config.envs * config.rollout
    if episodes.ended:
        learner.learn(*episodes.take())
    run.seconds += time.monotonic() - began
    run.rollouts += 1
    if not finite(learner.net.parameters()):
        raise run.broken("weights", learner.decisions)
    renew_pools(env, learner.policy, snapshot=run.rollouts % config.snapshot_every == 0)
    over = learner.decisions >= config.steps or run.finished()
    if over or run.rollouts % config.eval_every == 0:
        run.evaluate(learner.policy(rules), learner.decisions)
    if over or run.rollouts % config.checkpoint_every == 0:
        run.save(learner, (env, episodes))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    return command_line(DMCConfig, train, "training.dmc", arguments)


if __name__ == "__main__":
    sys.exit(main())
