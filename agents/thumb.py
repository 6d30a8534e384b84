"""Rules of thumb: one player with a few thresholds. docs/agents.md writes every rule out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import BestiaError
from bestia_env.family import record_dtype
from bestia_env.policies import legal_masks
from bestia_env.registry import family_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["ANY", "ANY_TRUMP", "STYLES", "TIPS", "Thresholds", "ThumbPolicy"]

ANY = 99
"""More than any count of ranks, seats or trumps."""

ANY_TRUMP = 13
"""As many ranks as a suit has at most: in a row of ``top_ranks`` any trump will do, but not none."""

Row = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When a rule-of-thumb player goes in, and the few other things in which such players differ.

    A row of ranks says how many of the highest ranks of its suit the best trump must be among, if the trumps held are
    fewer than the quota; as many; one more; two or more beyond it. 0: stays out, ``ANY``: goes in.

    Args:
        top_ranks: a row, or four: against 0, 1, 2, 3 or more rivals (others who are in, and half of those who have
            yet to speak, rounded down together).
        unseen_against: plays a whole new hand unseen (DRAW, BUCO) against at most so many others; -1: never.
        takes_what_is_free: goes in, whatever the hand, where that cannot lose.
        knocks_at_once: trumps beyond the quota with which it ends the circuits without exchanging first.
        heeds_tips: goes in by the tips of the beginners' guide; ``top_ranks`` are what suffices at any pot.
        reads_circuits: in circuits it may exchange again and again, and knocks by the two fields that follow.
        forces_in: a row with which it knocks before it has exchanged, while two or more have yet to speak and so would
            be forced in.
        knocks_after: a row with which it knocks once it has exchanged.
        light_risk: what may be lost is little, and rivals count one less, if so many times the risk is no more than
            the pot; 0: never.
        high_side_cards: takes a trick with its dearest side card while others are to play after it.
        saves_two_trumps: leads a side suit's highest card before the higher of two trumps.
    """

    top_ranks: Row | tuple[Row, Row, Row, Row]
    unseen_against: int
    takes_what_is_free: bool = True
    knocks_at_once: int = 2
    heeds_tips: bool = False
    reads_circuits: bool = False
    forces_in: Row = (0, 0, 0, 0)
    knocks_after: Row = (0, 0, 0, 0)
    light_risk: int = 0
    high_side_cards: bool = False
    saves_two_trumps: bool = False

    def record(self) -> NDArray[Any]:
        """The thresholds as compiled functions read them, a one-element record array."""
        record = np.zeros(1, _RECORD)
        for field in fields(self):
            record[field.name] = getattr(self, field.name)
        return record


_RECORD = record_dtype(
    [
        ("top_ranks", "i8", (4, 4)),  # by rivals and spare trumps
        ("unseen_against", "i8"),
        ("takes_what_is_free", "i8"),
        ("knocks_at_once", "i8"),
        ("heeds_tips", "i8"),
        ("reads_circuits", "i8"),
        ("forces_in", "i8", 4),
        ("knocks_after", "i8", 4),
        ("light_risk", "i8"),
        ("high_side_cards", "i8"),
        ("saves_two_trumps", "i8"),
    ]
)

STYLES: dict[str, Thresholds] = {
    "always": Thresholds(top_ranks=(ANY, ANY, ANY, ANY), unseen_against=ANY, knocks_at_once=-ANY),
    "never": Thresholds(top_ranks=(0, 0, 0, 0), unseen_against=-1, takes_what_is_free=False),
    "last_seat": Thresholds(top_ranks=(0, 0, 0, 0), unseen_against=-1),
    "loose": Thresholds(top_ranks=(0, ANY, ANY, ANY), unseen_against=2),
    "medium": Thresholds(top_ranks=(0, 5, ANY, ANY), unseen_against=1),
    "tight": Thresholds(top_ranks=(0, 3, 5, ANY), unseen_against=0),
}

TIPS = Thresholds(top_ranks=(2, 2, 2, 2), unseen_against=1, heeds_tips=True)


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
        self._thresholds = thresholds.record()
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
