"""MaskablePPO of sb3-contrib in self-play: ``python -m training.ppo --help``. docs/training.md tells the results."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import CSVOutputFormat, Logger, TensorBoardOutputFormat
from torch import nn
from tqdm import tqdm

from agents.net import Layer, NetPolicy
from bestia_env import BestiaError
from bestia_env.sb3 import BestiaVecEnv
from training.command import check_device, command_line, finite, fresh_env, renew_pools, seat_pools
from training.config import RunConfig, read_weights
from training.critic import CentralCriticPolicy
from training.runs import Run

if TYPE_CHECKING:
    from bestia_env.family import Rules
    from training.tables import ManyTables

__all__ = ["PPOConfig", "main", "net_of", "train"]


@dataclass(frozen=True, kw_only=True)
class PPOConfig(RunConfig):
    """Trains an agent by self-play.

    The run's folder gets progress.csv and TensorBoard files, best.npz and last.npz (agents: --agents runs/first), and a
    checkpoint. The values below were tuned once, see docs/training.md.

    Args:
        learning_rate: of Adam, falling to zero in a straight line.
        batch: decisions of a gradient step.
        epochs: passes over a rollout.
        clip: of PPO's ratio.
        entropy: weight of the entropy bonus, falling to zero in a straight line.
        gae_lambda: of generalised advantages; there is no discount, because a game is short and pays at its end.
        layers: sizes of the hidden layers, of the policy and of the critic.
        central_critic: the critic, and only it, also sees the other hands.
    """

    learning_rate: float = 2e-3
    batch: int = 2048
    epochs: int = 4
    clip: float = 0.2
    entropy: float = 0.01
    gae_lambda: float = 1.0
    layers: tuple[int, ...] = (128, 128)
    central_critic: bool = True


def net_of(model: MaskablePPO, rules: Rules, config: RunConfig) -> NetPolicy:
    """The policy part of a model as an agent."""
    linear = [part for part in model.policy.mlp_extractor.policy_net if isinstance(part, nn.Linear)]
    layers = [
        Layer(part.weight.detach().cpu().numpy().T, part.bias.detach().cpu().numpy())
        for part in [*linear, model.policy.action_net]
    ]
    return NetPolicy(layers, rules.full_text(), pad_players=config.pad_players, relative_suits=config.relative_suits)


class SelfPlay(BaseCallback):
    """What happens between two rollouts: opponents renewed, evaluation, checkpoint, and a watch on NaN."""

    model: MaskablePPO

    def __init__(self, config: PPOConfig, rules: Rules, run: Run, bar: tqdm) -> None:
        super().__init__()
        self._config, self._rules, self._run, self._bar = config, rules, run, bar
        self._began, self._fresh, self._stop = time.monotonic(), True, False

    def _on_rollout_start(self) -> None:
        """The model stands after an update here; a run that is resumed begins here, too."""
        if self._fresh:
            self._fresh = False
            self._run.restore_random()  # here, because what came before may have drawn
            return
        self._between()

    def _on_training_end(self) -> None:
        if not self._stop:
            self._between()

    def _between(self) -> None:
        run, config = self._run, self._config
        if not finite(self.model.policy.parameters()):
            raise run.broken("weights", self.num_timesteps)
        run.rollouts += 1
        run.seconds += time.monotonic() - self._began
        self.model.ent_coef = config.entropy * max(0.0, 1 - self.num_timesteps / config.steps)
        snapshot = run.rollouts % config.snapshot_every == 0
        renew_pools(self.training_env, lambda rules: net_of(self.model, rules, config), snapshot=snapshot)
        self._stop = run.finished()
        over = self._stop or self.num_timesteps >= config.steps
        if over or run.rollouts % config.eval_every == 0:
            scores = run.evaluate(net_of(self.model, self._rules, config), self.num_timesteps)
            for name, interval in scores.items():
                self.logger.record(f"eval/{name}", interval.mean)
            self._bar.set_postfix(score=f"{scores['mean'].mean:+.4f}")
        if over or run.rollouts % config.checkpoint_every == 0:
            run.save(self.model, self.training_env)
        self._began = time.monotonic()

    def _on_step(self) -> bool:
        return not self._stop

    def _on_rollout_end(self) -> None:
        self._bar.update(self.num_timesteps - self._bar.n)
        self.logger.record("time/minutes", self._run.seconds / 60)


def make_model(config: PPOConfig, env: BestiaVecEnv | ManyTables) -> MaskablePPO:
    """A fresh model."""
    sizes = list(config.layers)
    kwargs: dict[str, Any] = {"net_arch": {"pi": sizes, "vf": sizes}, "activation_fn": nn.ReLU}
    if config.central_critic:
        kwargs["policy_numbers"] = env.games.batch.tensor_layout.size
    return MaskablePPO(
        CentralCriticPolicy if config.central_critic else "MlpPolicy",
        env,
        learning_rate=_falling(config.learning_rate),
        n_steps=config.rollout,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        policy_kwargs=kwargs,
        seed=config.seed,
        device=config.device,
    )


class _falling:  # noqa: N801  # a function that a checkpoint can hold
    """A learning rate that falls to zero with what remains of the run."""

    def __init__(self, first: float) -> None:
        self.first = first

    def __call__(self, remaining: float) -> float:
        return self.first * max(remaining, 0.0)


def train(config: PPOConfig) -> Run:
    """Trains, or goes on training, and returns the run.

    Raises:
        BestiaError: arguments that are not allowed, a folder with a run of other arguments, or weights that are not
            finite.
    """
    rules, session = config.game()
    check_device(config.device)
    if config.central_critic and config.tables:
        raise BestiaError(f"central_critic=True with tables={config.tables}; allowed is one table size: hands differ")
    weights = read_weights(config.opponents, rules)
    torch.set_num_threads(config.threads)
    run = Run(config, rules, session)
    if run.found():
        env = run.load_env()
        model = MaskablePPO.load(run.model_file, env=env, device=config.device, force_reset=False)
    else:
        torch.manual_seed(config.seed)
        env = fresh_env(config, rules, session, central=config.central_critic)
        model = make_model(config, env)
        seat_pools(config, env, weights, lambda table: net_of(model, table, config))
    left = config.steps - model.num_timesteps
    if left <= 0 or run.finished():
        return run
    run.begin()
    progress = CSVOutputFormat(str(run.folder / f"progress-{run.rollouts}.csv"))
    logger = Logger(str(run.folder), [progress, TensorBoardOutputFormat(str(run.folder))])
    model.set_logger(logger)
    try:
        with tqdm(total=config.steps, initial=model.num_timesteps, unit="dec", unit_scale=True) as bar:
            model.learn(left, SelfPlay(config, rules, run, bar), reset_num_timesteps=False)
    except ValueError as error:  # torch refuses such logits in the middle of an update
        if finite(model.policy.parameters()):
            raise
        raise run.broken("weights", model.num_timesteps) from error
    finally:
        logger.close()
    return run


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    return command_line(PPOConfig, train, "training.ppo", arguments)


if __name__ == "__main__":
    sys.exit(main())
