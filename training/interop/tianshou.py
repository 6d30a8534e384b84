"""Tianshou: double DQN with masks in the observation; ``python -m training.interop.tianshou``.

Tianshou takes masks from ``obs.mask``, so the observation's two keys are renamed. The mask then rules exploration, the
greedy choice, and the choice in the target of the next state. The last holds for ``is_double=True`` alone: the simple
target is a maximum over all actions, legal or not.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Dict
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from training.interop.common import ENV_ID, Config, parse, report, task

ENVS, EPSILON = 8, 0.1


class Renamed(gymnasium.Wrapper):
    """Observations with Tianshou's keys, and empty infos.

    Tianshou keeps infos in its buffer and wants the same keys at every step; ours tell different things at the
    beginning and the end of a game.
    """

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        numbers, masks = env.observation_space["observation"], env.observation_space["action_mask"]
        self.observation_space = Dict({"obs": numbers, "mask": masks})

    def reset(self, **options: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        observation, _ = self.env.reset(**options)
        return renamed(observation), {}

    def step(self, action: Any) -> tuple[Any, ...]:
        observation, *paid, _ = self.env.step(action)
        return renamed(observation), *paid, {}


def renamed(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"obs": observation["observation"], "mask": observation["action_mask"]}


def make(config: Config) -> gymnasium.Env:
    return Renamed(gymnasium.make(ENV_ID, **task(config)))


def train(config: Config) -> DiscreteQLearningPolicy:
    envs = DummyVectorEnv([lambda: make(config)] * ENVS)
    envs.seed(config.seed)
    env = make(config)
    space, actions = env.observation_space, env.action_space
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=space["obs"].shape, action_shape=actions.n, hidden_sizes=[128, 128]),
        action_space=actions,
        observation_space=space,
        eps_training=EPSILON,
    )
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=5e-4),
        gamma=1.0,  # a deal is short: nothing is discounted
        target_update_freq=200,
        is_double=True,
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(20_000, ENVS))
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=config.steps,
            collection_step_num_env_steps=ENVS * 8,
            update_step_num_gradient_steps_per_sample=1 / 8,
            batch_size=128,
            test_in_training=False,
            show_progress=False,
        )
    )
    return policy


def main() -> None:
    config = parse("tianshou")
    np.random.seed(config.seed)  # noqa: NPY002  # Tianshou explores with the global generator
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)  # the network is small
    policy = train(config)
    policy.eval()

    @torch.no_grad()
    def choose(observation: np.ndarray, mask: np.ndarray) -> int:
        return policy(Batch(obs=Batch(obs=observation[None], mask=mask[None]), info=Batch())).act[0]

    report("tianshou", choose, config, "greedy")


if __name__ == "__main__":
    main()
