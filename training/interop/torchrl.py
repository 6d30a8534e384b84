"""TorchRL: PPO with a masked categorical distribution; ``python -m training.interop.torchrl``.

The mask stays in the tensordict from the step on, so the policy samples under it and the loss computes its
probabilities under the same one.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from training.interop.common import ENV_ID, Config, parse, report, task

FRAMES, MINIBATCH, EPOCHS = 1024, 256, 4


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))


class MaskedLogits(nn.Module):
    """Logits beside the mask as bools, which the distribution wants; Gymnasium's masks are int8."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.net = network(inputs, actions)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.net(observation), mask.bool()


def train(config: Config) -> ProbabilisticActor:
    # GymEnv would try the argument `frameskip` on the game, which refuses a rule that it does not know
    env = GymWrapper(gymnasium.make(ENV_ID, **task(config)), categorical_action_encoding=True)
    env.set_seed(config.seed)
    inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    actor = ProbabilisticActor(
        TensorDictModule(MaskedLogits(inputs, actions), ["observation", "action_mask"], ["logits", "mask"]),
        in_keys=["logits", "mask"],
        spec=env.action_spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(network(inputs, 1), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)  # a deal is short: nothing is discounted
    loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=5e-4)
    collector = Collector(
        env, actor, frames_per_batch=FRAMES, total_frames=config.steps, auto_register_policy_transforms=False
    )
    for batch in collector:
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(batch)
            for rows in torch.randperm(FRAMES).split(MINIBATCH):
                losses = loss_of(batch.reshape(-1)[rows])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
                optimizer.step()
    collector.shutdown()
    return actor


def main() -> None:
    config = parse("torchrl")
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)  # the networks are small
    actor = train(config)

    @torch.no_grad()
    def choose(observation: np.ndarray, mask: np.ndarray) -> int:
        seen = TensorDict({"observation": torch.from_numpy(observation), "action_mask": torch.from_numpy(mask)})
        with set_exploration_type(ExplorationType.RANDOM):
            return actor(seen)["action"].item()

    report("torchrl", choose, config, "sampled")


if __name__ == "__main__":
    main()
