"""RLlib, new API stack: PPO with RLlib's action-masking module; ``python -m training.interop.rllib``.

The module takes the mask out of the observation and adds log(mask) to the logits, in exploration, in inference and in
the loss. It wants the keys ``observations`` and ``action_mask``, so the first one is renamed, and float masks.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import gymnasium
import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.wrappers import TransformObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from training.interop.common import ENV_ID, Config, parse, report, task

BATCH = 1024


def renamed(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    mask = observation["action_mask"].astype(np.float32)  # the module takes its logarithm
    return {"observations": observation["observation"], "action_mask": mask}


def make(kwargs: dict[str, Any]) -> gymnasium.Env:
    env = gymnasium.make(ENV_ID, **kwargs)
    space = env.observation_space["observation"]
    masks = Box(0.0, 1.0, (int(env.action_space.n),), np.float32)
    return TransformObservation(env, renamed, Dict({"observations": space, "action_mask": masks}))


def train(config: Config) -> RLModule:
    register_env("bestia", make)
    algorithm = (
        PPOConfig()
        .environment("bestia", env_config=task(config))
        .env_runners(num_env_runners=0)  # in this process: workers pay off on bigger machines
        .training(lr=5e-4, gamma=1.0, train_batch_size_per_learner=BATCH, minibatch_size=256, num_epochs=4)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"fcnet_hiddens": [128], "head_fcnet_hiddens": [64]},
            )
        )
        .debugging(seed=config.seed)
        .build_algo()
    )
    for _ in range(-(config.steps // -BATCH)):
        algorithm.train()
    module = algorithm.get_module()
    algorithm.stop()
    return module


def main() -> None:
    config = parse("rllib")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent home
    # no dashboard, and no more processes than needed
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)  # the networks are small
    module = train(config)
    sample = module.get_inference_action_dist_cls().from_logits

    @torch.no_grad()
    def choose(observation: np.ndarray, mask: np.ndarray) -> int:
        seen = renamed({"observation": observation, "action_mask": mask})
        batch = {Columns.OBS: {key: torch.from_numpy(value[None]) for key, value in seen.items()}}
        return sample(module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]).sample().item()

    report("ray", choose, config, "sampled")
    ray.shutdown()


if __name__ == "__main__":
    main()
