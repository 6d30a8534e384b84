"""The PettingZoo environment: its contract, its rewards, what it tells whom, and that it plays what a batch plays."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel
from pettingzoo.utils.conversions import aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from bestia_env.aec import aec_env
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError
from bestia_env.one_game import OneGame
from bestia_env.register import register_envs
from bestia_env.registry import family_of, make_rules, player_range, variants
from bestia_env.session import SessionConfig
from tests.aec_tools import ACTIONS, DEAL, NET, RAMS, any_session, dead, everything, flat, play, trace

TABLES = [(name, n) for name in variants() for n in range(player_range(name)[0], player_range(name)[1] + 1)]

# --- PettingZoo's own tests -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "players"), TABLES)
@pytest.mark.filterwarnings("ignore:Action mask is a single number:UserWarning")  # Bettelmann has one action
def test_pettingzoo_accepts_every_table(variant: str, players: int) -> None:
    api_test(aec_env(variant, players), num_cycles=20)
    seed_test(lambda: aec_env(variant, players), num_cycles=20)
    render_test(lambda render_mode: aec_env(variant, players, render_mode=render_mode))


@pytest.mark.parametrize("variant", ["bestia_five", "online3", "mauscheln", "bettelmann"])
@pytest.mark.filterwarnings("ignore:Action mask is a single number:UserWarning")
def test_pettingzoo_accepts_sessions_scores_padding_and_wrappers(variant: str) -> None:
    def make() -> Any:
        env = aec_env(variant, session=any_session(variant), reward="score", pad_players=6, seed=3)
        return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))

    api_test(make(), num_cycles=60)
    seed_test(make, num_cycles=60)
    parallel_api_test(turn_based_aec_to_parallel(aec_env(variant)), num_cycles=20)


def test_conversion_to_parallel_is_refused() -> None:
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(aec_env("bestia"))


def test_registered_ids() -> None:
    register_envs()
    register_envs()  # would warn if it registered anew
    for variant in variants():
        env = pettingzoo.make("aec", f"bestia/{variant}-v0", num_players=player_range(variant)[1], seed=1)
        assert (env.rules.variant, env.max_num_agents) == (variant, player_range(variant)[1])
        assert str(env) == f"{variant}_v0"
    assert pettingzoo.make("aec", "bestia/bestia").rules == make_rules("bestia")


# --- spaces, observations, masks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", variants())
def test_masks_are_the_legal_actions_of_the_actor_and_zero_for_others(variant: str) -> None:
    env = aec_env(variant, session=any_session(variant), seed=11)
    layout = family_of(env.rules).layout(env.rules)
    env.reset()
    for agent, (observation, *_, info), action in play(env, random.Random(1)):
        assert env.action_space(agent).n == layout.num_actions
        for other in env.agents:
            seen, mask = env.observe(other), env.infos[other]["action_mask"]
            assert env.observation_space(other).contains(seen)
            assert mask.dtype == seen["action_mask"].dtype == np.int8
            assert np.array_equal(mask, seen["action_mask"])
            assert mask.any() == (other == agent and action is not None)
        assert np.array_equal(observation["action_mask"], info["action_mask"])


def test_spaces_are_the_same_object_at_every_call_and_no_two_agents_share_one() -> None:
    env = aec_env("bestia", 4)
    for space in (env.action_space, env.observation_space):
        assert all(space(agent) is space(agent) for agent in env.possible_agents)
        assert len({id(space(agent)) for agent in env.possible_agents}) == 4
        with pytest.raises(BestiaError, match="player_4"):
            space("player_4")


@pytest.mark.parametrize("variant", variants())
def test_observing_changes_nothing(variant: str) -> None:
    env, quiet = (aec_env(variant, session=any_session(variant), seed=2) for _ in range(2))
    env.reset()
    quiet.reset()
    for (agent, told, _), (_, same, _) in zip(play(env, random.Random(3)), play(quiet, random.Random(3)), strict=True):
        before = everything(env)
        env.state(), env.view(agent), env.view_text(agent), env.phase, env.game_id
        assert everything(env) == before
        assert flat(told) == flat(same)


def test_returned_arrays_are_never_reused() -> None:
    env = aec_env("bestia_five", session=SessionConfig(num_deals=2), seed=4)
    kept: list[np.ndarray[Any, Any]] = []
    for _ in range(2):
        env.reset()
        for agent, (observation, *_, info), _ in play(env, random.Random(5)):
            again, other = env.observe(agent), env.observe(env.possible_agents[0])
            kept += [info["action_mask"], env.state()]
            kept += [array for seen in (observation, again, other) for array in seen.values()]
    copies = [array.copy() for array in kept]
    trace(env.clone())
    assert all(np.array_equal(array, kept_copy) for array, kept_copy in zip(kept, copies, strict=True))
    # sorted by address, arrays that share memory overlap with their neighbour
    places = sorted((array.__array_interface__["data"][0], array.nbytes) for array in kept)
    assert len(places) > 200
    assert all(place + size <= following for (place, size), (following, _) in pairwise(places))


def test_state_is_what_all_seats_see() -> None:
    env = aec_env("bestia", 4, seed=1)
    env.reset()
    tensors = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(env.state(), np.concatenate(tensors))
    assert env.state_space.contains(env.state())
    assert env.state_space is env.state_space


def test_padding_gives_one_size() -> None:
    spaces = [aec_env("bestia", n, pad_players=10).observation_space("player_0") for n in (3, 5, 10)]
    sizes = {space["observation"].shape for space in spaces}
    assert len(sizes) == 1
    with pytest.raises(BestiaError, match="pad_players=0"):
        aec_env("bestia", pad_players=0)


@pytest.mark.parametrize("variant", variants())
def test_render_tells_what_every_seat_knows_and_no_more(variant: str) -> None:
    """Cards dealt anew to fit what one seat knows must not change the picture, whoever that seat is."""
    env = aec_env(variant, session=any_session(variant), render_mode="ansi", seed=6)
    env.reset()
    compared = 0
    for number, _ in enumerate(play(env, random.Random(7))):
        if number % 4 or env._over or number > 200:
            continue
        for seat in range(len(env.possible_agents)):
            # in the new game the viewer is seat 0
            other = OneGame(env._batch.redeal(env._batch.view(seat), np.arange(1, dtype=np.uint64)))
            other.begun = True
            other.possible_agents = other.possible_agents[-seat:] + other.possible_agents[:-seat]
            assert other.table_text() == env.render()
            compared += 1
    assert compared > 0


def test_render_modes() -> None:
    env = aec_env("bestia", 4, render_mode="ansi", ante=3)
    assert env.metadata["render_modes"] == ["ansi"]
    env.reset(options=DEAL)
    shown = env.render()
    assert shown.startswith("bestia(num_players=4)\n")
    assert "pot 9" in shown
    assert not [card for hand in DEAL["hands"] for card in hand.split() if card in shown]
    assert "Kh" in env.view_text("player_1")
    assert "As" not in env.view_text("player_1")
    for mode in (None, "human"):
        env = aec_env("bestia", render_mode=mode)
        env.reset()
        with pytest.raises(BestiaError, match="render_mode"):
            env.render()
    with pytest.raises(BestiaError, match="'ansii'; allowed are None, 'ansi'"):
        aec_env("bestia", render_mode="ansii")


# --- rewards and the life of an agent ---------------------------------------------------------------------------------


def test_each_seat_gets_its_own_reward_once() -> None:
    env = aec_env("bestia", 4, ante=3)
    env.reset(seed=1, options=DEAL)
    lines, got = iter(ACTIONS), {}
    for agent in env.agent_iter():
        _, reward, termination, truncation, info = env.last()
        if termination:
            assert agent not in got, "one dead step each"
            assert (truncation, env.rewards.get(agent)) == (False, NET[agent] if not got else 0)
            got[agent] = reward
            assert info["settlement"]["net"] == list(NET.values())
            assert info["settlement"]["carry_after"] == env.carry == 9
            env.step(None)
        else:
            assert reward == 0
            assert "settlement" not in info
            seat, text = next(lines).split(" ", 1)
            assert agent == f"player_{seat}"
            action = env.action_of(text)
            assert env.text_of(action) == text
            env.step(action)
    assert got == NET
    assert list(got) == env.possible_agents
    assert all(type(reward) is int for reward in got.values())
    assert [env.agents, env.rewards, env.infos, env.terminations, env.truncations] == [[], {}, {}, {}, {}]


def test_a_seat_that_never_acts_is_rewarded_and_takes_one_dead_step() -> None:
    env = aec_env("bestia_buco", 4)
    env.reset(seed=1, options={"dealer": 3, "carry": 6})
    seen: dict[str, list[float]] = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        _, reward, over, *_ = env.last()
        seen[agent].append(reward)
        env.step(None if over else env.action_of("pass"))
    # all others passed: the dealer takes the pot (rules: rams 3, bestia_buco)
    assert seen == {"player_0": [0, -3], "player_1": [0, -3], "player_2": [0, -3], "player_3": [15]}


@pytest.mark.parametrize("variant", variants())
@pytest.mark.parametrize("reward", ["chips", "score"])
def test_rewards_add_up(variant: str, reward: str) -> None:
    env = aec_env(variant, session=any_session(variant), reward=reward, seed=8)
    assert env.metadata["reward"].startswith(reward)
    for _ in range(3):
        env.reset()
        told = dict.fromkeys(env.agents, 0.0)
        booked = dict.fromkeys(env.agents, 0.0)
        for agent, (_, cumulative, *_), _ in play(env, random.Random(9)):
            booked = {seat: sum_ + env.rewards.get(seat, 0) for seat, sum_ in booked.items()}
            told[agent] += cumulative
            if any(env.rewards.values()) and reward == "chips" and variant in RAMS:
                s = env.infos[agent]["settlement"]
                left = s["carry_before"] - s["carry_after"] - s["rake"] + sum(s["split"])
                assert sum(env.rewards.values()) == sum(s["net"]) == left
            elif any(env.rewards.values()):
                assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-12)
        assert told == pytest.approx(booked)


def test_a_pot_past_exact_numbers_truncates() -> None:
    env = aec_env("bestia", 6, session=SessionConfig(num_deals=50, carry=2**53 // 7 - 100), seed=1)
    ends = set()
    for _ in range(20):
        env.reset()
        for _, (_, _, termination, truncation, info), action in play(env, random.Random(1)):
            assert type(termination) is type(truncation) is bool
            assert not (termination and truncation)
            if action is None:
                ends.add((termination, truncation))
                assert "settlement" in info
    assert (False, True) in ends


@pytest.mark.parametrize("variant", variants())
def test_a_batch_plays_the_same_games(variant: str) -> None:
    """Every row of a batch, replayed by its address: the same seats, masks, tensors, Views, chips and scores."""
    session = any_session(variant)
    batch = GameBatch(variant, 3, seed=12, session=session, autoreset=False)
    envs = {}
    for reward in ("chips", "score"):
        envs[reward] = [aec_env(batch.rules, session=session, reward=reward) for _ in range(3)]
    for row in range(3):
        for env in (envs["chips"][row], envs["score"][row]):
            env.reset(seed=12, options={"game": (row, 0)})
            assert env.game_id == tuple(batch.game_id[row])
    for _ in range(400):
        views, actions = batch.view(), batch.random_actions()
        tensors, actors, legal = batch.encode(views), batch.actor.copy(), batch.legal()
        batch.step(actions)
        for row in np.flatnonzero(actors >= 0).tolist():
            for reward, expected in (("chips", batch.rewards[row]), ("score", batch.scores[row])):
                env = envs[reward][row]
                assert env.agent_selection == f"player_{actors[row]}"
                seen = env.last()[0]
                assert np.array_equal(seen["observation"], tensors[row])
                assert np.array_equal(seen["action_mask"], legal[row])
                assert env.view(env.agent_selection).tobytes() == views[row].tobytes()
                env.step(actions[row])
                assert list(env.rewards.values()) == expected.tolist()
                assert dead(env) == bool(batch.done[row])
