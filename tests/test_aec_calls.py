"""The PettingZoo environment: calls out of order, actions that are none or not legal, bad arguments."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bestia_env.aec import aec_env
from bestia_env.errors import BestiaError, IllegalActionError
from bestia_env.registry import family_of
from bestia_env.session import SessionConfig
from tests.aec_tools import RAMS, choose, dead, everything, play, trace


def test_calls_out_of_order() -> None:
    env = aec_env("bestia", render_mode="ansi")
    steps: list[Callable[[], Any]] = [lambda: env.step(0), env.last]
    asks = [
        env.agent_iter, env.render, env.full_state, env.state, env.table_text, lambda: env.observe("player_0"),
        lambda: env.view("player_0"), lambda: env.pot, lambda: env.text_of(0),
    ]  # fmt: skip
    for call in steps + asks:
        with pytest.raises(BestiaError, match="allowed is reset"):
            call()
    env.reset()
    trace(env)
    for call in steps:
        with pytest.raises(BestiaError, match="every agent has left the episode; allowed is reset"):
            call()
    for ask in asks:
        ask()
    assert list(env.agent_iter()) == []
    assert not env.observe("player_0")["action_mask"].any()
    with pytest.raises(BestiaError, match="player_9"):
        env.observe("player_9")


def test_money_is_asked_of_games_that_have_it() -> None:
    env = aec_env("bettelmann")
    env.reset()
    assert not hasattr(env, "pot")
    with pytest.raises(AttributeError, match="bettelmann has no carry"):
        env.carry  # noqa: B018  # a property


@pytest.mark.parametrize("mode", ["raise", "terminate"])
@pytest.mark.parametrize("action", [None, -1, 43, 2**70, 2.0, "pass", True, np.array([1]), [1]])
def test_what_is_no_action_raises_and_changes_nothing(mode: str, action: Any) -> None:
    env = aec_env("bestia", illegal_action=mode, seed=1)
    env.reset()
    env.step(0)
    before = everything(env)
    with pytest.raises(IllegalActionError) as error:
        env.step(action)
    assert everything(env) == before
    for part in (env.agent_selection, "phase declare", "0 pass, 1 knock", "seed=1, row=0, game=0, deal=0, decision=1"):
        assert part in str(error.value)


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8, np.array])
def test_integers_of_all_kinds_are_actions(kind: Callable[[int], Any]) -> None:
    env = aec_env("bestia", seed=1)
    env.reset()
    agent = env.agent_selection
    env.step(kind(1))
    assert env.agent_selection != agent


@pytest.mark.parametrize("variant", RAMS)
def test_an_illegal_action_raises(variant: str) -> None:
    env = aec_env(variant, seed=2)
    env.reset()
    for agent, _, action in play(env, random.Random(2)):
        if action is None:
            break
        wrong = int(np.flatnonzero(env.infos[agent]["action_mask"] == 0)[-1])
        before = everything(env)
        name = family_of(env.rules).layout(env.rules).name(wrong).replace("[", r"\[")
        with pytest.raises(IllegalActionError, match=rf"{agent} in phase {env.phase}: action={wrong} {name}; allowed"):
            env.step(wrong)
        assert everything(env) == before


@pytest.mark.parametrize("variant", RAMS)
def test_an_illegal_action_ends_the_episode_at_the_offenders_cost(variant: str) -> None:
    env = aec_env(variant, illegal_action="terminate", session=SessionConfig(num_deals=2, carry=60), seed=2)
    env.reset()
    while env.full_state()["address"]["decision"] < 3:
        env.step(choose(env, random.Random(4)))
    offender, pot, before = env.agent_selection, env.pot, env.full_state()
    env.step(int(np.flatnonzero(env.infos[offender]["action_mask"] == 0)[0]))
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    settlement = env.infos[offender]["settlement"]
    penalty = settlement["penalties"][env.possible_agents.index(offender)]
    assert penalty > 0
    assert sum(settlement["penalties"]) == penalty
    assert (sum(settlement["shares"]), env.carry) == (0, pot + penalty)
    for seat, (agent, reward, _, _, info) in enumerate((agent, *env.last()[1:]) for agent in env.agent_iter()):
        paid = settlement["antes"][seat] + settlement["stakes"][seat] + (penalty if agent == offender else 0)
        assert (reward, info["illegal_action"]) == (-paid, offender)
        assert not info["action_mask"].any()
        env.step(None)
    assert before["hands"] == env.full_state()["hands"]
    env.reset()
    assert "illegal_action" not in env.infos[offender]


def test_a_dead_agent_takes_none_alone() -> None:
    env = aec_env("bestia", seed=1)
    env.reset()
    while not dead(env):
        env.step(choose(env, random.Random(1)))
    before = everything(env)
    with pytest.raises(IllegalActionError, match="player_0: action=0 after the end of the episode; allowed is None"):
        env.step(0)
    assert everything(env) == before


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"reward": "money"}, "reward='money'; allowed are 'chips', 'score'"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore'; allowed are 'raise', 'terminate'"),
        ({"seed": -1}, "seed=-1"),
        ({"num_players": 11}, "num_players=11"),
        ({"antes": 3}, "antes"),
    ],
)
def test_bad_arguments(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(BestiaError, match=message):
        aec_env("bestia", **keywords)
