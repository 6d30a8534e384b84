"""AgileRL: PPO with the mask of the infos; ``python -m training.interop.agilerl``.

AgileRL reads masks from ``info["action_mask"]``, stores them with the rollout and computes the loss under them, so the
observation is reduced to its tensor.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from training.interop.common import ENV_ID, Config, parse, report, task

ENVS, LEARN_STEP = 16, 1024


class TensorAlone(VectorWrapper):
    """Observations without the mask, which AgileRL takes from the infos.

    Gymnasium's TransformObservation refuses SAME_STEP. AgileRL needs it: it books every step as a transition, also the
    one that NEXT_STEP spends on the reset.
    """

    def __init__(self, envs: VectorEnv) -> None:
        super().__init__(envs)
        self.single_observation_space = envs.single_observation_space["observation"]
        self.observation_space = envs.observation_space["observation"]

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        observations, infos = self.env.reset(**options)
        return observations["observation"], infos

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        observations, *rest = self.env.step(actions)
        return observations["observation"], *rest


def make(config: Config) -> VectorEnv:
    same_step = {"vectorization_mode": "vector_entry_point", "autoreset_mode": AutoresetMode.SAME_STEP}
    return TensorAlone(gymnasium.make_vec(ENV_ID, num_envs=ENVS, **same_step, **task(config)))


def train(config: Config) -> PPO:
    envs = make(config)
    envs.reset(seed=config.seed)
    agent = PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config={"encoder_config": {"hidden_size": [128, 128]}, "head_config": {"hidden_size": [64]}},
        batch_size=256,
        lr=5e-4,
        learn_step=LEARN_STEP,
        gamma=1.0,  # a deal is short: nothing is discounted
        num_envs=ENVS,
        # its GAE ends a deal one step too early: of what the deal pays, only the last decision would learn
        rollout_buffer_config={"use_gae": False},
    )
    place = {}
    for _ in range(-(config.steps // -LEARN_STEP)):
        _, *rest = collect_rollouts(agent, envs, **place)
        place = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), rest, strict=True))
        agent.learn()
    return agent


def main() -> None:
    config = parse("agilerl")
    np.random.seed(config.seed)  # noqa: NPY002  # AgileRL shuffles its batches with the global generator
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)  # the networks are small
    agent = train(config)
    agent.set_training_mode(False)

    def choose(observation: np.ndarray, mask: np.ndarray) -> int:
        return agent.get_action(observation[None], action_mask=mask[None])[0].item()

    report("agilerl", choose, config, "sampled")


if __name__ == "__main__":
    main()
