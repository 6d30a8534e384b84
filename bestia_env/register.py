"""Ids of every preset, the mini games too, ``bestia/<variant>-v0``, in the registries of Gymnasium and PettingZoo."""

from __future__ import annotations

from gymnasium.envs.registration import register as register_single
from gymnasium.envs.registration import registry

from bestia_env.registry import mini_variants, variants

__all__ = ["ENV_VERSION", "register_envs", "register_singles"]

ENV_VERSION = 0
"""The ``-vN`` of every id: one more whenever observation, mask, reward or rules change."""


def env_id(variant: str) -> str:
    """The id of a preset."""
    return f"bestia/{variant}-v{ENV_VERSION}"


def register_singles() -> None:
    """Registers every preset with Gymnasium; ``import bestia_env`` does it.

    Gymnasium imports what stands before the colon of ``make("bestia_env:bestia/tippen-v0")``, and then the id must be
    there. Arguments of ``make`` go to :class:`bestia_env.single.BestiaEnv`, those of ``make_vec`` to
    :class:`bestia_env.vector.BestiaVectorEnv`. A second call changes nothing.
    """
    for variant in variants() + mini_variants():
        if env_id(variant) not in registry:
            register_single(
                env_id(variant),
                entry_point="bestia_env.single:BestiaEnv",
                vector_entry_point="bestia_env.vector:BestiaVectorEnv",
                kwargs={"rules": variant},
            )


def register_envs() -> None:
    """Registers every preset with PettingZoo, so that ``pettingzoo.make("aec", "bestia/tippen-v0")`` finds it.

    Importing this library does not load PettingZoo, and so does not register anything there. Arguments of ``make`` go
    to :func:`bestia_env.aec_env`: ``make("aec", "bestia/tippen-v0", num_players=5, seed=1)``. A second call changes
    nothing.
    """
    from pettingzoo import aec_registry, register

    for variant in variants() + mini_variants():
        if env_id(variant) not in aec_registry:
            register("aec", env_id(variant), "bestia_env.aec:aec_env", kwargs={"rules": variant})
