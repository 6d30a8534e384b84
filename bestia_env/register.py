"""Ids in PettingZoo's registry: ``bestia/<variant>-v0`` for every preset."""

from __future__ import annotations

from bestia_env.registry import variants

__all__ = ["ENV_VERSION", "register_envs"]

ENV_VERSION = 0
"""The ``-vN`` of every id: one more whenever observation, mask, reward or rules change."""


def register_envs() -> None:
    """Registers every preset with PettingZoo, so that ``pettingzoo.make("aec", "bestia/tippen-v0")`` finds it.

    Nothing is registered by an import alone, because importing this library does not load PettingZoo. Arguments of
    ``make`` go to :func:`bestia_env.aec_env`: ``make("aec", "bestia/tippen-v0", num_players=5, seed=1)``. A second call
    changes nothing.
    """
    from pettingzoo import aec_registry, register

    for variant in variants():
        name = f"bestia/{variant}-v{ENV_VERSION}"
        if name not in aec_registry:
            register("aec", name, "bestia_env.aec:aec_env", kwargs={"rules": variant})
