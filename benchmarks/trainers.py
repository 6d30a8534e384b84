"""Roads for trainers measured: ``python -m benchmarks.trainers``. docs/trainers.md tells what came of it.

* the native VectorEnv: learner steps a second;
* MaskablePPO on BestiaVecEnv against the same on DummyVecEnv with ActionMasker, in one run: steps a second, and what
  part of the time the environment takes without the opponents' thinking;
* illegal actions in a long training run, under an environment that looks at every one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper

from bestia_env import BestiaEnv, BestiaVectorEnv, SessionConfig, make_policy, make_rules
from bestia_env._loops import choose_uniform
from bestia_env.sb3 import BestiaVecEnv

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy

SESSION = SessionConfig(carry="typical")


@dataclass(frozen=True, kw_only=True)
class Config:
    """Measures the environments that trainers use.

    Args:
        variant: name of the game.
        players: seats in training.
        envs: games at once in training.
        opponent: who plays the other seats in training.
        learn_steps: decisions of each of the two training runs that are compared.
        checked_steps: decisions of the training run whose actions are all looked at.
        vector_envs: games of the native VectorEnv.
        vector_players: its seats.
        seconds: of measuring it.
        repeats: of the comparisons; all are printed.
    """

    variant: str = "bestia"
    players: int = 5
    envs: int = 256
    opponent: str = "medium"
    learn_steps: int = 60_000
    checked_steps: int = 200_000
    vector_envs: int = 4096
    vector_players: int = 3
    seconds: float = 5.0
    repeats: int = 3


class Timed:
    """A policy whose thinking is timed."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self.seconds = policy, 0.0

    def bind(self, rules: Any) -> None:
        self._policy.bind(rules)

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        began = time.perf_counter()
        actions = self._policy.act(views, keys)
        self.seconds += time.perf_counter() - began
        return actions


class Watched(VecEnvWrapper):
    """Times an environment, and looks at every action."""

    def __init__(self, venv: Any) -> None:
        super().__init__(venv)
        self.seconds, self.actions, self.illegal = 0.0, 0, 0

    def reset(self) -> Any:
        return self.venv.reset()

    def step_async(self, actions: NDArray[Any]) -> None:
        masks = np.stack(self.venv.env_method("action_masks"))
        self.actions += len(actions)
        self.illegal += int((~masks[np.arange(len(actions)), actions]).sum())
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        began = time.perf_counter()
        told = self.venv.step_wait()
        self.seconds += time.perf_counter() - began
        return told


def learn(env: Any, steps: int, policy: str) -> tuple[float, Watched]:
    """Trains on an environment, and returns the seconds."""
    watched = Watched(env)
    rollout = max(1, 8192 // env.num_envs)
    model = MaskablePPO(policy, watched, n_steps=rollout, batch_size=1024, n_epochs=4, seed=1, device="cpu",
                        policy_kwargs={"net_arch": [128, 128]})  # fmt: skip
    began = time.perf_counter()
    model.learn(steps)
    return time.perf_counter() - began, watched


def native(config: Config, steps: int) -> dict[str, float]:
    """MaskablePPO on the batch: steps a second, and the parts of the time."""
    opponent = Timed(make_policy(config.opponent, make_rules(config.variant, config.players)))
    env = BestiaVecEnv(config.variant, config.envs, config.players, opponents=opponent, session=SESSION,
                       reward="score", seed=1)  # fmt: skip
    seconds, watched = learn(env, steps, "MlpPolicy")
    return {
        "steps/s": watched.actions / seconds,
        "env share": (watched.seconds - opponent.seconds) / seconds,
        "opponents": opponent.seconds / seconds,
        "illegal": watched.illegal,
        "actions": watched.actions,
    }


def wrapped(config: Config, steps: int) -> dict[str, float]:
    """MaskablePPO on as many single environments, each under ActionMasker."""

    def make() -> Any:
        env = BestiaEnv(config.variant, config.players, opponents=config.opponent, session=SESSION, reward="score")
        return ActionMasker(env, lambda masked: masked.action_masks())

    env = DummyVecEnv([make] * config.envs)
    env.seed(1)
    seconds, watched = learn(env, steps, "MultiInputPolicy")
    return {"steps/s": watched.actions / seconds, "env share": watched.seconds / seconds}


def vector(config: Config) -> float:
    """Learner steps a second of the native VectorEnv with random opponents, observations and masks."""
    size = config.vector_envs
    env = BestiaVectorEnv(size, config.variant, config.vector_players, opponents="random", session=SESSION,
                          reward="score")  # fmt: skip
    observation, _ = env.reset(seed=1)
    keys, actions = np.arange(size, dtype=np.uint64), np.zeros(size, np.int64)

    def step() -> None:
        nonlocal observation, keys
        keys = keys + np.uint64(size)
        choose_uniform(observation["action_mask"].view(np.uint8), keys, actions)
        observation, *_ = env.step(actions)

    return size * rate(step, config.seconds)


def rate(call: Callable[[], None], seconds: float) -> float:
    """Calls a second."""
    for _ in range(5):
        call()
    calls, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        call()
        calls += 1
    return calls / (time.perf_counter() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    config = tyro.cli(Config, args=arguments, prog="python -m benchmarks.trainers")
    torch.set_num_threads(1)
    native(config, config.envs)  # compiles what there is to compile
    print(f"{os.cpu_count()} cores, torch {torch.__version__} on one thread")
    for _ in range(config.repeats):
        print(
            f"VectorEnv, {config.vector_envs} games of {config.vector_players}: {vector(config):,.0f} learner steps/s"
        )
    for _ in range(config.repeats):
        one, other = native(config, config.learn_steps), wrapped(config, config.learn_steps)
        parts = f"env {one['env share']:.1%}, opponents {one['opponents']:.1%}"
        print(
            f"MaskablePPO, {config.envs} games: BestiaVecEnv {one['steps/s']:,.0f} steps/s ({parts}), DummyVecEnv "
            f"{other['steps/s']:,.0f} steps/s (env {other['env share']:.1%}), "
            f"ratio {one['steps/s'] / other['steps/s']:.2f}"
        )
    told = native(config, config.checked_steps)
    print(f"illegal actions: {told['illegal']:.0f} of {told['actions']:,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
