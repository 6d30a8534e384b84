"""Who sits at the learner's table: policies that are drawn anew for every game and stay to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from bestia_env.errors import BestiaError
from bestia_env.policies import make_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules
    from bestia_env.policies import Policy

__all__ = ["FixedOpponents", "OpponentPool", "Opponents", "as_opponents"]


@runtime_checkable
class Opponents(Protocol):
    """Says who plays against the learner in each game; the hook for a pool of one's own."""

    def bind(self, rules: Rules) -> None:
        """Readies the opponents for a game.

        Raises:
            BestiaError: they cannot play these rules, or are too few or too many for the table.
        """

    def draw(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Who plays in games that begin.

        Args:
            numbers: (games, n - 1) random numbers, functions of each game's address: the only source of randomness.

        Returns:
            (games, n - 1) numbers of policies; column k sits k + 1 seats after the learner.
        """

    def policy(self, number: int) -> Policy:
        """The policy of a number that ``draw`` has just returned; it stays at its table until the game ends."""


class FixedOpponents:
    """The same policies in every game.

    Args:
        specs: n - 1 policies (names, ``module:attribute`` or objects; see :func:`bestia_env.make_policy`), the first
            in the seat after the learner; or a single one for all seats.
    """

    def __init__(self, specs: str | Policy | Sequence[str | Policy]) -> None:
        several = isinstance(specs, Sequence) and not isinstance(specs, str)
        self._specs: list[str | Policy] = list(specs) if several else [specs]  # type: ignore[arg-type, list-item]  # as asked
        if not self._specs:
            raise BestiaError(f"opponents={specs!r}; allowed are policies, one for each seat but the learner's, or one")

    def bind(self, rules: Rules) -> None:
        """See :class:`Opponents`."""
        others = rules.num_players - 1
        if len(self._specs) not in (1, others):
            raise BestiaError(f"opponents: {len(self._specs)} given; allowed are {others} ({rules}), or one for all")
        self._policies = [make_policy(spec, rules) for spec in self._specs]
        self._seating = np.arange(others) if len(self._policies) > 1 else np.zeros(others, np.int64)

    def draw(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`Opponents`."""
        return np.broadcast_to(self._seating, numbers.shape)

    def policy(self, number: int) -> Policy:
        """See :class:`Opponents`."""
        return self._policies[number]


class OpponentPool:
    """Policies with weights, drawn for every seat of every game; they may come and go while games are played.

    A game that has begun is played to its end by whom it was dealt, also if he has left the pool meanwhile.

    Args:
        policies: name → policy (a name, ``module:attribute`` or object) or (policy, weight); weight 1 if none is given.
        same_table: in what part of the games one policy is drawn for all seats, from 0 to 1; in the others each seat
            is drawn by itself.

    Raises:
        BestiaError: a weight or ``same_table`` out of range.
    """

    def __init__(
        self, policies: Mapping[str, str | Policy | tuple[str | Policy, float]], *, same_table: float = 0.0
    ) -> None:
        if not 0 <= same_table <= 1:
            raise BestiaError(f"opponents: same_table={same_table!r}; allowed is a part from 0 to 1")
        self.same_table = float(same_table)
        self._rules: Rules | None = None
        self._members: dict[str, int] = {}
        self._policies: dict[int, str | Policy] = {}
        self._weights: dict[int, float] = {}
        self._count = 0
        for name, given in policies.items():
            policy, weight = given if isinstance(given, tuple) else (given, 1.0)
            self.add(name, policy, weight)

    def add(self, name: str, policy: str | Policy, weight: float = 1.0) -> None:
        """Puts a policy into the pool, in the place of one with the same name.

        Raises:
            BestiaError: a weight that is none, or a policy that cannot play the pool's game.
        """
        self._check_weight(name, weight)
        ready = policy if self._rules is None else make_policy(policy, self._rules)
        if name in self._members:
            self.remove(name)
        self._members[name] = self._count
        self._policies[self._count], self._weights[self._count] = ready, float(weight)
        self._count += 1

    def remove(self, name: str) -> None:
        """Takes a policy out of the pool.

        Raises:
            BestiaError: nobody of that name.
        """
        number = self._number(name)
        del self._members[name], self._policies[number], self._weights[number]

    def set_weight(self, name: str, weight: float) -> None:
        """Changes how often a policy is drawn.

        Raises:
            BestiaError: nobody of that name, or a weight that is none.
        """
        self._check_weight(name, weight)
        self._weights[self._number(name)] = float(weight)

    @property
    def weights(self) -> dict[str, float]:
        """Name → weight, a copy."""
        return {name: self._weights[number] for name, number in self._members.items()}

    def bind(self, rules: Rules) -> None:
        """See :class:`Opponents`; the pool keeps to the rules it was bound to first.

        Raises:
            BestiaError: an empty pool, or one that plays another game.
        """
        if not self._members:
            raise BestiaError("opponents: the pool is empty; allowed is one with a policy")
        if self._rules is not None and rules != self._rules:
            raise BestiaError(f"opponents: the pool plays {self._rules}; allowed is an environment of that game")
        self._policies = {number: make_policy(spec, rules) for number, spec in self._policies.items()}
        self._rules = rules

    def draw(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`Opponents`.

        Raises:
            BestiaError: all weights are zero.
        """
        members = np.array(list(self._weights), np.int64)
        bounds = np.cumsum(list(self._weights.values()))
        if not len(members) or bounds[-1] <= 0:
            raise BestiaError(f"opponents: weights {self.weights}; allowed is a pool with a positive one")
        parts = (numbers >> np.uint64(11)) * 2.0**-53
        alike = (numbers[:, 0] & np.uint64(0x3FF)) < self.same_table * 0x400  # bits that ``parts`` leaves unused
        parts[alike] = parts[alike, :1]
        return np.asarray(members[np.searchsorted(bounds, parts * bounds[-1], side="right")])

    def policy(self, number: int) -> Policy:
        """See :class:`Opponents`."""
        return self._policies[number]  # type: ignore[return-value]  # bound: see bind and add

    def _number(self, name: str) -> int:
        if name not in self._members:
            raise BestiaError(f"opponents: nobody of the name {name!r}; allowed are {', '.join(self._members)}")
        return self._members[name]

    @staticmethod
    def _check_weight(name: str, weight: float) -> None:
        if not (np.isfinite(weight) and weight >= 0):
            raise BestiaError(f"opponents: weight of {name!r}={weight!r}; allowed is a number from 0")


def as_opponents(given: Opponents | str | Policy | Sequence[str | Policy]) -> Opponents:
    """What an environment's ``opponents`` argument means: a pool as it is, anything else as fixed policies."""
    return given if isinstance(given, Opponents) else FixedOpponents(given)
