"""Every preset as an OpenSpiel game: ``pyspiel.load_game("python_bestia(variant=mini_bestia)")`` once this is imported.

Needs the extra ``openspiel``. One game is one deal; chance is explicit. See docs/openspiel.md.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pyspiel

import bestia_env
from bestia_env.errors import BestiaError
from bestia_env.family import Rules
from bestia_env.openspiel.game import SHORT_NAME, BestiaGame, BestiaState
from bestia_env.openspiel.parameters import changes_text

__all__ = ["BestiaGame", "BestiaState", "equilibrium", "make_game"]


def make_game(
    rules: str | Rules,
    num_players: int | None = None,
    *,
    dealer: int | None = None,
    carry: int | None = None,
    forced: bool = False,
    reward: str = "score",
    **changes: Any,
) -> BestiaGame:
    """The OpenSpiel game of one deal.

    Args:
        rules: a preset's name, or rules.
        num_players: seats, with a name; None is the preset's default.
        dealer: the dealer's seat; None: the first chance node draws it.
        carry: chips in the pot before the antes; None is the median of the preset's typical carries.
        forced: whether the deal is forced, where the rules have forced deals after one without a bestia.
        reward: ``"score"``, the zero-sum equity score in pots (design 8.3), or ``"chips"``.
        changes: fields of the preset to change, with a name.

    Raises:
        RulesError: unknown preset or field, or values that the rules reject.
        BestiaError: another kind of reward, or changes beside rules.
    """
    if isinstance(rules, str):
        rules = bestia_env.make_rules(rules, num_players, **changes)
    elif changes or num_players is not None:
        raise BestiaError(f"num_players, {sorted(changes)}: allowed only with a preset's name, not with rules")
    parameters = {
        "variant": rules.variant,
        "players": rules.num_players,
        "changes": changes_text(rules),
        "dealer": -1 if dealer is None else dealer,
        "carry": -1 if carry is None else carry,
        "forced": forced,
        "reward": reward,
    }
    game: BestiaGame = pyspiel.load_game(SHORT_NAME, parameters)
    return game


def equilibrium(variant: str, num_players: int) -> dict[str, Any]:
    """The stored solution of a mini game whose dealer is the last seat and whose carry is 0; see docs/games/mini.md.

    Returns:
        ``policy`` (information state -> action name -> probability, where there is a choice), its exact ``nash_conv``
        and ``values`` by seat in pots, ``information_states``, ``choices`` and ``iterations`` of CFR+.

    Raises:
        BestiaError: no solution of that game is stored.
    """
    text = (resources.files("bestia_env.rams") / "mini.json").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = json.loads(text)
    for entry in entries:
        if (entry["variant"], entry["players"]) == (variant, num_players):
            return entry
    known = ", ".join(f"{entry['variant']} with {entry['players']}" for entry in entries)
    raise BestiaError(f"variant={variant!r}, num_players={num_players!r}; allowed are {known}")
