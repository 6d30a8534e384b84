"""How an episode of the PettingZoo environment begins, and copies of it: seeds, addresses, deals set up, pickles."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bestia_env.aec import BestiaAEC, aec_env
from bestia_env.errors import BestiaError, RecordError, RulesError
from bestia_env.registry import variants
from bestia_env.session import SessionConfig
from tests.aec_tools import DEAL, any_session, choose, everything, flat, play, trace

# --- reset: seeds, addresses, deals set up ----------------------------------------------------------------------------


def hands(env: BestiaAEC) -> tuple[str, ...]:
    return tuple(env.full_state()["hands"])


def test_a_thousand_seeds_give_a_thousand_deals_and_a_seed_gives_one() -> None:
    env, other = aec_env("bestia"), aec_env("bestia", seed=5)
    deals = []
    for seed in range(1000):
        env.reset(seed=seed)
        deals.append(hands(env))
    assert len(set(deals)) == 1000
    for seed in (0, np.int64(7), 999):
        other.reset(seed=seed)
        assert hands(other) == deals[seed]


def test_reset_without_a_seed_goes_on_to_the_next_game() -> None:
    env = aec_env("bestia", seed=9)
    dealt = []
    for number in range(20):
        env.reset()
        assert env.game_id == (0, number)
        dealt.append(hands(env))
    assert len(set(dealt)) == 20
    env.reset(seed=9)
    assert hands(env) == dealt[0]
    env.reset()
    assert hands(env) == dealt[1]
    env.reset(options={"game": (0, 17)})
    assert hands(env) == dealt[17]
    env.reset()
    assert hands(env) == dealt[18]
    env.reset(seed=9, options={"game": [0, 5]})
    assert hands(env) == dealt[5]
    env.reset(options={"seed": 9})
    assert hands(env) == dealt[0]
    unseeded = [aec_env("bestia") for _ in range(2)]
    for one in unseeded:
        one.reset()
    assert hands(unseeded[0]) != hands(unseeded[1])


@pytest.mark.parametrize("variant", variants())
def test_unknown_options_warn_and_change_nothing(variant: str) -> None:
    env, other = aec_env(variant, seed=3), aec_env(variant, seed=3)
    env.reset()
    other.reset()
    with pytest.warns(UserWarning, match="deal key 'colour' is not known to") as caught:
        env.reset(options={"colour": "red"})
    assert caught[0].filename == __file__
    other.reset()
    assert everything(env) == everything(other)


def test_what_a_deal_does_not_say_is_dealt_at_random() -> None:
    env = aec_env("bestia", 4, ante=3, seed=1)
    seen = set()
    for _ in range(5):
        env.reset(options={"carry": 6, "hands": ["", "Kh 7s 2d", "", ""]})
        assert (env.carry, env.pot, hands(env)[1]) == (6, 9, "2d Kh 7s")
        seen.add(hands(env))
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([("dealer", 1)], "options="),
        ([], "options="),
        (DEAL | {"turn_up": "Kh"}, "card Kh is given twice"),
        (DEAL | {"hands": ["2c 2c 6c", "", "", ""]}, "card 2c is named twice"),
        (DEAL | {"turn_up": "8h"}, "8h"),
        (DEAL | {"hands": ["2c 2s", "", "", ""]}, r"hands\[0\]"),
        (DEAL | {"hands": DEAL["hands"][:3]}, "hands="),
        (DEAL | {"hands": "2c 2s 6c"}, "hands="),
        (DEAL | {"dealer": 4}, "dealer=4; allowed are integers from 0 to 3"),
        (DEAL | {"dealer": True}, "dealer=True"),
        (DEAL | {"carry": -1}, "carry=-1"),
        (DEAL | {"carry": 2**53}, "carry="),
        (DEAL | {"carry": 1.5}, "carry=1.5"),
        (DEAL | {"entitled": [1, 0, 0, 0]}, "entitled="),
        (DEAL | {"forced": True}, "forced=True"),
        (DEAL | {"stock": 5}, "stock=5"),
        (DEAL | {"reshuffles": [""]}, "reshuffles"),
        ({"game": 3}, "game=3"),
        ({"game": (0, -1)}, "game="),
        ({"seed": 2}, "seed=1 and options seed=2"),
    ],
)
def test_bad_options_leave_the_environment_as_it_was(options: Any, error: str) -> None:
    env = aec_env("bestia", 4, ante=3, seed=4)
    env.reset()
    env.step(0)
    before = everything(env)
    with pytest.raises(RecordError, match=error):
        env.reset(seed=1, options=options)
    assert everything(env) == before
    twin = aec_env("bestia", 4, ante=3, seed=4)
    twin.reset()
    twin.step(0)
    assert trace(env) == trace(twin)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_bad_seeds_leave_the_environment_as_it_was(seed: Any) -> None:
    env = aec_env("bestia", seed=4)
    env.reset()
    before = everything(env)
    with pytest.raises(BestiaError, match="seed="):
        env.reset(seed=seed)
    assert everything(env) == before


def test_sessions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RulesError, match="dealer=5"):
        aec_env("bestia", 4, session=SessionConfig(dealer=5))


# --- copies -----------------------------------------------------------------------------------------------------------


def copies(env: BestiaAEC) -> list[BestiaAEC]:
    return [pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env.clone(), copy.copy(env)]


@pytest.mark.parametrize("variant", variants())
def test_copies_in_every_phase_go_on_identically(variant: str) -> None:
    env = aec_env(variant, session=any_session(variant), seed=13, pad_players=6)
    assert [one.agents for one in copies(env)] == [[]] * 4
    env.reset()
    met: dict[str, list[BestiaAEC]] = {}
    for agent, _, action in play(env, random.Random(2)):
        phase = f"{env.phase} {action is None}"
        if phase not in met:
            met[phase] = copies(env)
            assert all(everything(one) == everything(env) for one in met[phase])
            assert all(one.agent_selection == agent for one in met[phase])
    for group in met.values():
        first, *others = [trace(one, 3) for one in group]
        assert all(other == first for other in others)
        for one in group:
            one.reset()
        assert len({str(everything(one)) for one in group}) == 1
    assert "over True" in met


def test_a_copy_is_independent_and_keeps_the_random_numbers_of_its_spaces() -> None:
    env = aec_env("bestia", seed=1)
    env.reset()
    env.action_space("player_0").seed(5)
    twin = copy.deepcopy(env)
    assert twin.action_space("player_0").sample() == env.action_space("player_0").sample()
    before = everything(env)
    for one in copies(env):
        one.infos["player_0"]["action_mask"] = None
        one.infos.clear()
        one.agents.clear()
        one._batch.states["pot"] = 0
    assert everything(env) == before


def test_a_copy_goes_on_in_a_spawned_process() -> None:
    env = aec_env("online3", session=SessionConfig(num_deals=2), seed=3)
    env.reset()
    env.step(choose(env, random.Random(1)))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(eval, ("[env.step(0), env.last(), env.rewards, env.infos, env.full_state()]", {"env": env}))
    env.step(0)
    assert flat(there) == flat([None, env.last(), env.rewards, env.infos, env.full_state()])


REPEATABLE = """
import hashlib
from bestia_env.aec import aec_env

env, log = aec_env("bestia_five", 5), hashlib.sha256()
env.reset(seed=7)
for number, agent in enumerate(env.possible_agents):
    env.action_space(agent).seed(100 + number)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
    log.update(f"{agent} {action} {reward}".encode() + observation["observation"].tobytes())
    env.step(action)
print(log.hexdigest())
"""


def test_an_episode_repeats_in_another_process() -> None:
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-c", REPEATABLE]
    logs = [subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert len(logs[0]) == 65
    assert logs[0] == logs[1]
