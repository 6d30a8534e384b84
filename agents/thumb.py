"""Rules of thumb: one player with a few thresholds. docs/agents.md writes every rule out."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import BestiaError
from bestia_env.family import record_dtype
from bestia_env.policies import legal_masks
from bestia_env.registry import family_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["ANY", "STYLES", "Thresholds", "ThumbPolicy"]

ANY = 99
"""More than any count of ranks, seats or trumps."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When a rule-of-thumb player goes in. Card play and the choice of cards to lay off are the same for all.

    Args:
        top_ranks: how many of the highest ranks of its suit the best trump must be among, if the trumps held are
            fewer than the quota; as many; one more; two or more beyond it. 0: stays out, ``ANY``: goes in.
        unseen_against: plays a whole new hand unseen (DRAW, BUCO) against at most so many others; -1: never.
        takes_what_is_free: goes in, whatever the hand, where that cannot lose.
        knocks_at_once: trumps beyond the quota with which it ends the circuits without exchanging first.
    """

    top_ranks: tuple[int, int, int, int]
    unseen_against: int
    takes_what_is_free: bool = True
    knocks_at_once: int = 2


STYLES: dict[str, Thresholds] = {
    "always": Thresholds(top_ranks=(ANY, ANY, ANY, ANY), unseen_against=ANY, knocks_at_once=-ANY),
    "never": Thresholds(top_ranks=(0, 0, 0, 0), unseen_against=-1, takes_what_is_free=False),
    "loose": Thresholds(top_ranks=(0, ANY, ANY, ANY), unseen_against=2),
    "medium": Thresholds(top_ranks=(0, 5, ANY, ANY), unseen_against=1),
    "tight": Thresholds(top_ranks=(0, 3, 5, ANY), unseen_against=0),
}

_RECORD = record_dtype(
    [
        ("top_ranks", "i8", 4),
        ("unseen_against", "i8"),
        ("takes_what_is_free", "i8"),
        ("knocks_at_once", "i8"),
    ]
)


class ThumbPolicy:
    """Plays the Rams group by thresholds, and whatever leaves nothing to decide. Deterministic: keys are not used.

    Args:
        name: what it is called in results.
        thresholds: when it goes in.

    Attributes:
        version: raised, by hand, whenever a decision changes: nothing notices if that is forgotten.
    """

    version = "v1"

    def __init__(self, name: str, thresholds: Thresholds) -> None:
        self.name = name
        self.thresholds = thresholds
        self._thresholds = np.zeros(1, _RECORD)
        self._thresholds[0] = astuple(thresholds)
        self._game: NDArray[Any] | None = None
        self._num_actions = 0

    def bind(self, rules: Rules) -> None:
        """See :class:`bestia_env.Policy`.

        Raises:
            BestiaError: a family with decisions that these rules of thumb do not know.
        """
        family = family_of(rules)
        self._num_actions = family.layout(rules).num_actions
        self._game = None
        if family.name == "rams":
            from agents.rams.game import game_record

            self._game = game_record(rules)  # type: ignore[arg-type]  # the family says which rules these are
        elif self._num_actions > 1:
            raise BestiaError(f"agent {self.name!r} cannot play {rules.variant}; allowed are games of the Rams group")

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`bestia_env.Policy`."""
        actions = np.zeros(len(views), np.int64)
        if self._game is None:
            legal_masks(views, self._num_actions)
            return actions
        from agents.rams.acting import act

        row = act(views, self._game, self._thresholds, actions)
        if row >= 0:
            legal_masks(views, self._num_actions)  # all of them, so that the error names the right row
            raise AssertionError(f"agent {self.name!r} found no legal action where there is one: {views[row]}")
        return actions

    def action_probabilities(self, views: NDArray[Any]) -> NDArray[np.float64]:
        """(B, A) one for the action it takes, else zero."""
        actions = self.act(views, np.zeros(len(views), np.uint64))
        probabilities = np.zeros((len(views), self._num_actions))
        probabilities[np.arange(len(views)), actions] = 1.0
        return probabilities
