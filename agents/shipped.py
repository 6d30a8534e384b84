"""Agents that were trained here and are kept in the repository: one network a game, under the name of its learner."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.files import CARD, content_hash, load_agent
from bestia_env import BestiaError, parse_rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy
    from bestia_env.family import Rules

__all__ = ["FOLDER", "ShippedPolicy", "shipped_games", "shipped_names", "shipped_version"]

FOLDER = Path(__file__).with_name("trained")
"""``<learner>/<game>/``, each with a card."""


@cache
def _cards() -> dict[str, dict[str, Path]]:
    """Learner → full rules text → folder."""
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(FOLDER.glob(f"*/*/{CARD}")):
        rules = tomllib.loads(file.read_text(encoding="utf-8"))["rules"]
        found.setdefault(file.parent.parent.name, {})[rules] = file.parent
    return found


def shipped_names() -> tuple[str, ...]:
    """The learners whose agents are shipped."""
    return tuple(_cards())


def shipped_games(name: str) -> tuple[str, ...]:
    """The rules texts of the games that a learner's agents play."""
    return tuple(str(parse_rules(rules)) for rules in _cards()[name])


def shipped_version(name: str, rules: Rules | None = None) -> str:
    """The version of a learner's agent of some rules: what its card states, and a hash of its network.

    Without rules, or with rules that none of them plays: how many they are, and a hash of all networks.
    """
    folders = _cards()[name]
    if rules is not None and rules.full_text() in folders:
        folder = folders[rules.full_text()]
        card = tomllib.loads((folder / CARD).read_text(encoding="utf-8"))
        return f"{card['version']}, content {content_hash([folder / card['file']])}"
    files = [file for folder in folders.values() for file in sorted(folder.glob("*.npz"))]
    return f"{len(folders)} games, content {content_hash(files)}"


class ShippedPolicy:
    """The agent of a learner that was trained for the game it is bound to.

    Args:
        name: of the learner.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def bind(self, rules: Rules) -> None:
        """See :class:`bestia_env.Policy`.

        Raises:
            BestiaError: no agent was trained for these rules.
        """
        folder = _cards()[self._name].get(rules.full_text())
        if folder is None:
            games = "; ".join(shipped_games(self._name))
            raise BestiaError(f"agent {self._name!r} was not trained for {rules}; allowed are {games}")
        self._policy: Policy = load_agent(str(folder))
        self._policy.bind(rules)

    def act(self, views: NDArray[Any], keys: NDArray[Any]) -> NDArray[Any]:
        """See :class:`bestia_env.Policy`."""
        return self._policy.act(views, keys)

    def action_probabilities(self, views: NDArray[Any]) -> NDArray[Any]:
        """(B, A) the probability of every action."""
        return self._policy.action_probabilities(views)  # type: ignore[attr-defined]  # networks have it
