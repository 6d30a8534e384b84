"""The games as a learner sees them that tells suits by their part in the deal, not by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agents.suits import RelativeSuits
from bestia_env import BestiaError
from bestia_env.sb3 import BestiaVecEnv

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RelativeSuitsVecEnv"]


class RelativeSuitsVecEnv(BestiaVecEnv):
    """A :class:`~bestia_env.sb3.BestiaVecEnv` whose tensors, masks and actions go by ``agents.suits.RelativeSuits``.

    Args:
        arguments, keywords: as there; no ``dict_observation``.

    Raises:
        BestiaError: as there, or a game without trumps, or ``dict_observation``.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        if self.dict_observation:
            raise BestiaError("dict_observation=True with suits in order; allowed is False")
        self._relative = RelativeSuits(self.games.batch)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Takes the actions that the learner names."""
        super().step_async(self._named[np.arange(self.num_envs), actions])

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """As there; the last tensors of games have their suits in order, too."""
        told = super().step_wait()
        ended = [info for info in told[3] if "terminal_observation" in info]
        if ended:
            last = np.stack([info["terminal_observation"] for info in ended])
            for info, tensor in zip(ended, self._relative.tensors(last, self._relative.orders(last)), strict=True):
                info["terminal_observation"] = tensor
        return told

    def observe(self) -> NDArray[np.float32]:
        """As there, suits in order; masks and actions are named alike from then on."""
        tensors = super().observe()
        views = self.games.batch.view(self.games.seats)
        orders = self._relative.orders(tensors)
        self._named = self._relative.actions(orders, views["exchange_cards"])
        self._masks = np.take_along_axis(self._masks, self._named, axis=1)
        return self._relative.tensors(tensors, orders)
