"""Playing the AEC environment at random, and all it says as one value, for its tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from bestia_env.aec import BestiaAEC
from bestia_env.registry import family_of, make_rules, variants
from bestia_env.session import SessionConfig

RAMS = [name for name in variants() if family_of(make_rules(name)).name == "rams"]

# rules: rams 6, the 4-seat deal
DEAL = {
    "dealer": 0, "carry": 6, "turn_up": "5h", "stock": "5s Qc Jc",
    "hands": ["2c 2s 6c", "Kh 7s 2d", "4c 5c 6d", "As 3d 4h"],
}  # fmt: skip
ACTIONS = [
    "1 knock", "2 pass", "3 knock", "0 pass", "2 draw", "0 pass", "1 play 7s", "2 play 5s", "3 play As", "3 play 3d",
    "1 play 2d", "2 play Jc", "3 play 4h", "1 play Kh", "2 play Qc",
]  # fmt: skip
NET = {"player_0": -3, "player_1": 3, "player_2": -9, "player_3": 6}


def any_session(variant: str) -> SessionConfig:
    """Several deals where the family has sessions."""
    return SessionConfig(num_deals=3) if variant in RAMS else SessionConfig()


def dead(env: BestiaAEC) -> bool:
    agent = env.agent_selection
    return env.terminations[agent] or env.truncations[agent]


def choose(env: BestiaAEC, rng: random.Random) -> int | None:
    if dead(env):
        return None
    return rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist())


def play(env: BestiaAEC, rng: random.Random) -> Iterator[tuple[str, tuple[Any, ...], int | None]]:
    """Plays on at random: who acts, what it is told, what it does; the action is played when the loop goes on."""
    for agent in env.agent_iter():
        told, action = env.last(), choose(env, rng)
        yield agent, told, action
        env.step(action)


def flat(thing: object) -> object:
    """Anything an environment returns, as a value that can be compared."""
    if isinstance(thing, np.ndarray):
        return (thing.dtype.str, thing.shape, thing.tobytes())
    if isinstance(thing, dict):
        return {key: flat(value) for key, value in thing.items()}
    return [flat(value) for value in thing] if isinstance(thing, list | tuple) else thing


def everything(env: BestiaAEC) -> object:
    told = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos, env.agents)
    seen = [env.observe(agent) for agent in env.possible_agents]
    return flat([*told, env.agent_selection, seen, env.full_state(), env.table_text()])


def trace(env: BestiaAEC, seed: int = 0) -> list[object]:
    """All that an environment says while it is played to its end."""
    return [flat([step, env.rewards, env.infos]) for step in play(env, random.Random(seed))]
