"""Solves the mini games and writes their equilibria: ``python -m tests.mini_golden``, ``--check`` only compares.

Names of games after it solve those alone.

OpenSpiel's CFR+ runs on a cached copy of each tree. The dealer is the last seat, so seat 0 is eldest, and the carry 0:
the equity score does not change with the size of an uncapped pot. Kept are decisions with a choice; probabilities are
rounded, and what is told of NashConv and values is true of the rounded policy. With more than two players CFR promises
no equilibrium; the NashConv says how far from one its average is.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pyspiel

import bestia_env
from bestia_env.openspiel import make_game

FILE = Path(bestia_env.__file__).parent / "rams" / "mini.json"
ITERATIONS = {
    ("mini_bestia", 2): 2000,
    ("mini_bestia", 3): 2000,
    ("mini_bestia_draw", 2): 1000,
    ("mini_bestia_exchange", 2): 1000,
    ("mini_bestia_two", 2): 1000,
    ("mini_bestia_three", 3): 1000,
    ("mini_bestia_twelve", 2): 2000,
}
DIGITS = 4
Table = dict[str, dict[str, float]]


def game_of(variant: str, players: int) -> Any:
    return make_game(variant, players, dealer=players - 1, carry=0)


def cached(variant: str, players: int) -> Any:
    """The game with its tree in memory, which makes OpenSpiel's solvers fast."""
    return pyspiel.convert_to_cached_tree(game_of(variant, players))


def solve(tree: Any, iterations: int) -> Any:
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return solver.tabular_average_policy()


def stored(policy: Any, names: tuple[str, ...]) -> Table:
    """Decisions with a choice, by information state and action."""
    return {
        key: {names[action]: round(chance, DIGITS) for action, chance in choices}
        for key, choices in sorted(policy.policy_table().items())
        if len(choices) > 1
    }


def policy_of(table: Table, names: tuple[str, ...]) -> Any:
    """A stored policy as OpenSpiel's; where there is no choice any policy is right."""
    actions = {name: action for action, name in enumerate(names)}
    full = {}
    for key, kept in table.items():
        total = sum(kept.values())
        full[key] = [(actions[name], chance / total) for name, chance in kept.items()]
    return pyspiel.PartialTabularPolicy(full)


def measured(tree: Any, policy: Any) -> dict[str, Any]:
    """Exact NashConv and the value of each seat, in pots."""
    values = pyspiel.expected_returns(tree.new_initial_state(), policy, -1, False)
    return {
        "nash_conv": round(pyspiel.nash_conv(tree, policy, True), 7),
        "values": [round(value, 6) for value in values],
    }


def size(tree: Any, policy: Any) -> dict[str, int]:
    keys = policy.policy_table()
    return {"information_states": len(keys), "choices": sum(len(choices) > 1 for choices in keys.values())}


def golden(variant: str, players: int) -> dict[str, Any]:
    names = game_of(variant, players).tree.layout.names
    begun = time.perf_counter()
    tree = cached(variant, players)
    average = solve(tree, ITERATIONS[variant, players])
    table = stored(average, names)
    policy = policy_of(table, names)
    told = {
        "variant": variant,
        "players": players,
        "iterations": ITERATIONS[variant, players],
        **size(tree, average),
        **measured(tree, policy),
    }
    print(f"{variant} {players}: {told} in {time.perf_counter() - begun:.0f} s", flush=True)
    return {**told, "policy": table}


def text(entries: list[dict[str, Any]]) -> str:
    """One entry a game; one line an information state, so that a diff can be read."""
    parts = []
    for entry in entries:
        head = json.dumps({key: value for key, value in entry.items() if key != "policy"})[:-1]
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in entry["policy"].items())
        parts.append(f'{head}, "policy": {{\n{lines}\n}}}}')
    return "[\n" + ",\n".join(parts) + "\n]\n"


def main(arguments: list[str]) -> int:
    wanted = [name for name in arguments if name != "--check"]
    kept = {(e["variant"], e["players"]): e for e in json.loads(FILE.read_text(encoding="utf-8"))} if wanted else {}
    new = text([kept[key] if wanted and key[0] not in wanted else golden(*key) for key in ITERATIONS])
    if "--check" in arguments:
        same = FILE.read_text(encoding="utf-8") == new
        print("as stored" if same else f"{FILE.name} differs")
        return 0 if same else 1
    FILE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
