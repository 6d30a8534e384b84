"""A MaskablePPO model of sb3-contrib as a policy that plays tournaments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO

from bestia_env import BestiaError, GameBatch
from bestia_env.policies import legal_masks

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["SB3Policy"]

CHUNK = 256  # Views shown to the network at once, filled up: the sums of a matrix product depend on its shape


class SB3Policy:
    """Draws from the model's distribution over the legal actions, by the key of the decision.

    The model's observation is the tensor of the View (``GameBatch.encode``, not padded), alone or as ``observation`` of
    a Dict space, and its actions are those of the game's layout. Every call works in chunks of one shape on one thread,
    so a decision does not depend on which others are asked for with it.

    Args:
        file: what ``MaskablePPO.save`` wrote. Loading it executes code.
        greedy: take the most probable action instead.
    """

    version = "v1"

    def __init__(self, file: Path, *, greedy: bool = False) -> None:
        self._file, self._greedy = file, greedy
        try:
            self._model = MaskablePPO.load(file, device="cpu")
        except Exception as error:
            raise BestiaError(f"{file} is no model of MaskablePPO: {type(error).__name__}: {error}") from error

    def bind(self, rules: Rules) -> None:
        """See :class:`bestia_env.Policy`.

        Raises:
            BestiaError: the model was made for another game or table size.
        """
        self._batch = GameBatch(rules, 1)
        size, actions = self._batch.tensor_layout.size, self._batch.layout.num_actions
        space: Any = self._model.observation_space
        self._is_dict = isinstance(space, spaces.Dict)
        box = space["observation"] if isinstance(space, spaces.Dict) and "observation" in space.spaces else space
        count = getattr(self._model.action_space, "n", None)
        if box.shape != (size,) or count != actions:
            raise BestiaError(
                f"{self._file}: a model of observations {box.shape} and {count} actions; {rules} has {(size,)} and "
                f"{actions}"
            )

    def action_probabilities(self, views: NDArray[Any]) -> NDArray[np.float64]:
        """(B, A) the distribution it draws from."""
        masks = legal_masks(views, self._batch.layout.num_actions).astype(bool)
        tensors = self._batch.encode(np.ascontiguousarray(views))
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            parts = [
                self._chunk(tensors[first : first + CHUNK], masks[first : first + CHUNK])
                for first in range(0, len(views), CHUNK)
            ]
        finally:
            torch.set_num_threads(threads)
        probabilities = np.concatenate(parts).astype(np.float64) * masks
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def _chunk(self, tensors: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        count = len(tensors)
        shown = np.zeros((CHUNK, tensors.shape[1]), np.float32)
        allowed = np.ones((CHUNK, masks.shape[1]), np.bool_)
        shown[:count], allowed[:count] = tensors, masks
        seen: Any = torch.as_tensor(shown)
        if self._is_dict:
            seen = {"observation": seen}
            if "action_mask" in self._model.observation_space.spaces:  # type: ignore[attr-defined]  # a Dict, see bind
                seen["action_mask"] = torch.as_tensor(allowed.astype(np.float32))
        with torch.no_grad():
            distribution = self._model.policy.get_distribution(seen, action_masks=allowed)
        return np.asarray(distribution.distribution.probs.numpy()[:count])

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`bestia_env.Policy`."""
        probabilities = self.action_probabilities(views)
        if self._greedy:
            return np.argmax(probabilities, axis=1)
        summed = probabilities.cumsum(axis=1)
        drawn = (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53 * summed[:, -1]
        return np.asarray((summed <= drawn[:, None]).sum(axis=1), np.int64)
