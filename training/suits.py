"""The games as a learner sees them that tells suits by their part in the deal, not by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agents.suits import RelativeSuits
from bestia_env.sb3 import BestiaVecEnv

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RelativeSuitsVecEnv"]


class RelativeSuitsVecEnv(BestiaVecEnv):
    """A :class:`~bestia_env.sb3.BestiaVecEnv` whose tensors, masks and actions go by ``agents.suits.RelativeSuits``.

    Args:
        arguments, keywords: as there; no ``dict_observation``.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._relative = RelativeSuits(self.games.batch)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Takes the actions that the learner names."""
        super().step_async(self._named[np.arange(self.num_envs), actions])

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """As there; the last tensors of games that were cut off have their suits in order, too."""
        told = super().step_wait()
        for row in np.flatnonzero(self.games.truncated):
            last = told[3][row]["terminal_observation"][None]
            told[3][row]["terminal_observation"] = self._relative.tensors(last, self._relative.orders(last))[0]
        return told

    def observe(self) -> NDArray[np.float32]:
        """As there, suits in order; masks and actions are named alike from then on."""
        tensors = super().observe()
        views = self.games.batch.view(self.games.seats)
        orders = self._relative.orders(tensors)
        self._named = self._relative.actions(orders, views["exchange_cards"])
        self._masks = np.take_along_axis(self._masks, self._named, axis=1)
        return self._relative.tensors(tensors, orders)
