"""The pool that a learner plays against while it learns: itself, what it was, and rules of thumb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestia_env import OpponentPool
from training.config import CURRENT, PAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bestia_env import Policy

__all__ = ["SelfPlayPool"]


class SelfPlayPool(OpponentPool):
    """A pool with two names of its own: ``current`` and ``past``, the snapshots, which share one weight.

    ``current`` is a copy that is taken with every update, so a game that has begun keeps the opponent it began with.

    Args:
        weights: name → weight; the rest are agents by name.
        first: what the learner is at the beginning.
        most: snapshots kept.
        same_table: in what part of the games one of them takes all seats.
    """

    def __init__(self, weights: Mapping[str, float], first: Policy, most: int, same_table: float = 0.0) -> None:
        agents = {name: (name, weight) for name, weight in weights.items() if name not in (CURRENT, PAST)}
        super().__init__(agents, same_table=same_table)
        self._shares = {name: weights.get(name, 0.0) for name in (CURRENT, PAST)}
        self._most, self._taken = most, 0
        self._past: list[str] = []
        self.add(CURRENT, first, self._shares[CURRENT])
        self.snapshot(first)

    def update(self, policy: Policy) -> None:
        """The learner has changed."""
        self.add(CURRENT, policy, self._shares[CURRENT])

    def snapshot(self, policy: Policy) -> None:
        """Keeps a copy among the past ones; the oldest leaves if they are too many."""
        name = f"{PAST} {self._taken}"
        self._taken += 1
        self._past.append(name)
        self.add(name, policy, 0.0)
        for old in self._past[: -self._most]:
            self.remove(old)
        self._past = self._past[-self._most :]
        for kept in self._past:
            self.set_weight(kept, self._shares[PAST] / len(self._past))
