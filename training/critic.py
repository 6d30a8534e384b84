"""A policy class whose critic sees more than the actor: columns that only it reads."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import nn

__all__ = ["CentralCriticPolicy"]


class _Split(nn.Module):
    """Two networks side by side; the actor's reads the first columns alone.

    Args:
        numbers: columns of the whole observation.
        own: columns that the actor reads.
        net_arch, activation, device: as for Stable-Baselines3's extractor.
    """

    def __init__(self, numbers: int, own: int, net_arch: Any, activation: type[nn.Module], device: Any) -> None:
        super().__init__()
        self._own = own
        actor = MlpExtractor(own, {"pi": net_arch["pi"], "vf": []}, activation, device)
        critic = MlpExtractor(numbers, {"pi": [], "vf": net_arch["vf"]}, activation, device)
        self.policy_net, self.value_net = actor.policy_net, critic.value_net
        self.latent_dim_pi, self.latent_dim_vf = actor.latent_dim_pi, critic.latent_dim_vf

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        return self.policy_net(features[:, : self._own])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        return self.value_net(features)


class CentralCriticPolicy(MaskableActorCriticPolicy):
    """An actor-critic for ``BestiaVecEnv(central=True)``: after the player's tensor come the others' hands.

    Args:
        policy_numbers: columns of the player's own tensor, the only ones the actor reads.
    """

    def __init__(self, *args: Any, policy_numbers: int, **kwargs: Any) -> None:
        self._policy_numbers = policy_numbers
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"policy_numbers": self._policy_numbers}

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Split(
            self.features_dim, self._policy_numbers, self.net_arch, self.activation_fn, self.device
        )
