"""The mini games: what they are, and that their stored equilibria are equilibria."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyspiel
import pytest
from scipy.optimize import linprog

import bestia_env
from bestia_env import BestiaError, RulesError
from bestia_env.openspiel import equilibrium
from tests import mini_golden

STORED = {
    (entry["variant"], entry["players"]): entry for entry in json.loads(mini_golden.FILE.read_text(encoding="utf-8"))
}


def test_minis_have_a_list_of_their_own() -> None:
    assert set(bestia_env.mini_variants()) & set(bestia_env.variants()) == set()
    assert {variant for variant, _ in STORED} == set(bestia_env.mini_variants())
    with pytest.raises(RulesError, match="mini_bestia_draw"):
        bestia_env.player_range("mini_whist")


@pytest.mark.parametrize("variant", bestia_env.mini_variants())
def test_minis_are_games_like_the_others(variant: str) -> None:
    rules: Any = bestia_env.make_rules(variant)
    assert 6 <= rules.cards.num_cards <= 12
    assert 1 <= rules.hand_size <= 2
    assert bestia_env.player_range(variant)[1] <= 3
    for text in (str(rules), rules.full_text()):
        assert bestia_env.parse_rules(text) == rules
    env = bestia_env.aec_env(variant)
    env.reset(seed=1)
    while env.agents:
        env.step(
            None
            if env.terminations[env.agent_selection]
            else int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])
        )
    batch = bestia_env.GameBatch(variant, 64, seed=3)
    for _ in range(30):
        batch.step(batch.random_actions())


def test_all_stored_games_are_in_the_bound_of_the_bar() -> None:
    assert set(STORED) == set(mini_golden.ITERATIONS)
    assert {
        key: entry["nash_conv"] for key, entry in STORED.items() if key[1] == 2 and entry["nash_conv"] >= 1e-3
    } == {}


@pytest.mark.parametrize("key", [("mini_bestia", 2), ("mini_bestia_draw", 2)])
def test_stored_policies_are_as_near_to_equilibrium_as_told(key: tuple[str, int]) -> None:
    entry = STORED[key]
    names = mini_golden.game_of(*key).tree.layout.names
    told = mini_golden.measured(mini_golden.cached(*key), mini_golden.policy_of(entry["policy"], names))
    assert told == {name: entry[name] for name in told}


def test_cfr_solves_the_smallest_from_scratch() -> None:
    tree = mini_golden.cached("mini_bestia", 2)
    solver = pyspiel.CFRSolver(tree)
    for _ in range(2000):
        solver.evaluate_and_update_policy()
    average = solver.tabular_average_policy()
    assert pyspiel.nash_conv(tree, average) < 1e-3
    assert mini_golden.size(tree, average) == {
        name: STORED["mini_bestia", 2][name] for name in ("information_states", "choices")
    }


# --- an independent solution: the linear program of the sequence form -------------------------------------------------


def sequences(tree: Any) -> tuple[list[dict[tuple[str, int], int]], list[dict[str, int]], dict[tuple[int, int], float]]:
    """Sequences of each seat (0: none yet), the sequence that leads to each information state, and the payoffs."""
    numbers: list[dict[tuple[str, int], int]] = [{}, {}]
    parents: list[dict[str, int]] = [{}, {}]
    payoffs: dict[tuple[int, int], float] = {}

    def walk(state: Any, chance: float, last: tuple[int, int]) -> None:
        if state.is_terminal():
            payoffs[last] = payoffs.get(last, 0.0) + chance * state.returns()[0]
        elif state.is_chance_node():
            for action, part in state.chance_outcomes():
                walk(state.child(action), chance * part, last)
        else:
            seat, key = state.current_player(), state.information_state_string()
            assert parents[seat].setdefault(key, last[seat]) == last[seat]
            for action in state.legal_actions():
                number = numbers[seat].setdefault((key, action), len(numbers[seat]) + 1)
                walk(state.child(action), chance, (number, last[1]) if seat == 0 else (last[0], number))

    walk(tree.new_initial_state(), 1.0, (0, 0))
    return numbers, parents, payoffs


def value_by_linear_program(tree: Any) -> float:
    """The value of seat 0 (Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized strategies", 1994).

    Variables: the weight of each sequence of seat 0, and what seat 1 gets seat 0 down to from each of its information
    states on.
    """
    (mine, his), (my_parents, his_parents), payoffs = sequences(tree)
    place = {key: len(mine) + 1 + index for index, key in enumerate(his_parents)}
    width = len(mine) + 1 + len(place)
    bound = np.zeros((len(his) + 1, width))  # by sequence of seat 1: its value is at most what follows and is paid
    for (key, _), number in his.items():
        bound[number, place[key]] += 1
    for key, parent in his_parents.items():
        bound[parent, place[key]] -= 1
    for (one, two), paid in payoffs.items():
        bound[two, one] -= paid
    flow = np.zeros((len(my_parents) + 1, width))
    flow[0, 0] = 1
    for row, (key, parent) in enumerate(my_parents.items(), 1):
        flow[row, parent] = -1
        for (other, _), number in mine.items():
            flow[row, number] += other == key
    limits = [(0, None)] * (len(mine) + 1) + [(None, None)] * len(place)
    found = linprog(
        bound[0], A_ub=bound[1:], b_ub=np.zeros(len(his)), A_eq=flow, b_eq=np.eye(1, len(flow))[0], bounds=limits
    )
    assert found.success
    return -float(found.fun)


@pytest.mark.parametrize("key", [("mini_bestia", 2), ("mini_bestia_draw", 2)])
def test_values_are_those_of_a_linear_program(key: tuple[str, int]) -> None:
    value = value_by_linear_program(mini_golden.cached(*key))
    assert STORED[key]["values"] == pytest.approx([value, -value], abs=1e-4)


def test_the_value_of_the_smallest_is_a_fraction() -> None:
    assert STORED["mini_bestia", 2]["values"] == pytest.approx([-1 / 15, 1 / 15], abs=1e-6)


def test_solutions_are_read_by_name() -> None:
    assert equilibrium("mini_bestia", 3) == STORED["mini_bestia", 3]
    with pytest.raises(BestiaError, match="mini_bestia with 2"):
        equilibrium("bestia", 5)
