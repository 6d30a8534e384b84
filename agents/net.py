"""A small neural network as a policy, in NumPy alone: what training ships, and what past selves in a pool are."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agents.suits import RelativeSuits
from bestia_env import BestiaError, GameBatch, parse_rules
from bestia_env.policies import legal_masks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["KINDS", "Layer", "NetPolicy"]

CHUNK = 64  # Views shown at once, filled up: the sums of a matrix product depend on its shape
FORMAT = 1
ABOUT = ("rules", "pad_players", "kind", "relative_suits")

KINDS = ("logits", "values")
"""What the last layer gives: unnormalised log-probabilities, to draw from, or values of actions, to take the best."""


class Layer(NamedTuple):
    """One linear layer: ``x @ weights + bias``; weights (inputs, outputs), bias (outputs,), both float32."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]


class NetPolicy:
    """A multilayer perceptron with ReLU between its layers, from a View's tensor to the actions.

    A decision is a function of View and key alone: every product has one shape, whoever else is asked for with it.

    Args:
        layers: from the tensor to one number an action.
        rules: full rules text of the game it was trained for.
        pad_players: of its tensors; None: those of its own table size, and it plays no other.
        kind: ``"logits"`` or ``"values"``.
        greedy: take the best action also of logits.
        relative_suits: whether it sees and names suits as :class:`agents.suits.RelativeSuits` orders them.

    Raises:
        BestiaError: layers that do not fit one another.
    """

    version = "v1"

    def __init__(
        self,
        layers: Sequence[Layer],
        rules: str,
        *,
        pad_players: int | None = None,
        kind: str = "logits",
        greedy: bool = False,
        relative_suits: bool = False,
    ) -> None:
        sizes = [(layer.weights.shape, layer.bias.shape) for layer in layers]
        fits = all(len(w) == 2 and b == w[1:] for w, b in sizes)
        if not sizes or not fits or any(one[0][1] != two[0][0] for one, two in pairwise(sizes)):
            raise BestiaError(f"layers of shapes {sizes}; allowed are weights (inputs, outputs) and a bias that fit")
        if kind not in KINDS:
            raise BestiaError(f"kind={kind!r}; allowed are {', '.join(KINDS)}")
        # copies: what is given may be the memory of a network that goes on learning
        self.layers = [Layer(*(np.array(part, np.float32, order="C") for part in layer)) for layer in layers]
        self.rules, self.pad_players, self.kind, self.greedy = rules, pad_players, kind, greedy
        self.relative_suits = relative_suits

    # --- files ------------------------------------------------------------------------------------------------------

    def save(self, file: Path) -> None:
        """Writes an ``.npz`` that ``load`` reads: arrays, and a text about them."""
        about = {"format": FORMAT} | {name: getattr(self, name) for name in ABOUT}
        arrays = {f"{name}{place}": part for place, layer in enumerate(self.layers)
                  for name, part in zip(("weights", "bias"), layer, strict=True)}  # fmt: skip
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)

    @classmethod
    def load(cls, file: Path, *, greedy: bool = False) -> NetPolicy:
        """A network from a file; nothing in it is executed.

        Raises:
            BestiaError: no such file, or one that ``save`` did not write.
        """
        try:
            with np.load(file, allow_pickle=False) as found:
                about = json.loads(str(found["about"]))
                told = {name: about[name] for name in ABOUT}
                count = sum(name.startswith("weights") for name in found.files)
                layers = [Layer(found[f"weights{place}"], found[f"bias{place}"]) for place in range(count)]
        except Exception as error:
            raise BestiaError(f"{file} is no network of this laboratory: {type(error).__name__}: {error}") from error
        if about.get("format") != FORMAT:
            raise BestiaError(f"{file}: format={about.get('format')!r}; allowed is {FORMAT}")
        return cls(layers, greedy=greedy, **told)

    # --- playing ----------------------------------------------------------------------------------------------------

    def bind(self, rules: Rules) -> None:
        """See :class:`bestia_env.Policy`.

        Raises:
            BestiaError: the network was made for another game or table size.
        """
        own = parse_rules(self.rules)
        same = own.full_text() == rules.full_text()
        if not same and not (self.pad_players and _but_for_the_table(own) == _but_for_the_table(rules)):
            raise BestiaError(f"a network of {own}; allowed are these rules, not {rules}")
        self._batch = GameBatch(rules, 1, pad_players=self.pad_players)
        size, actions = self._batch.tensor_layout.size, self._batch.layout.num_actions
        shape = (len(self.layers[0].weights), len(self.layers[-1].bias))
        if shape != (size, actions):
            raise BestiaError(f"a network of {shape} inputs and actions; allowed are {(size, actions)} ({rules})")
        self._suits = RelativeSuits(self._batch) if self.relative_suits else None

    def outputs(self, views: NDArray[Any]) -> NDArray[np.float32]:
        """(B, A) what the last layer gives, legal or not."""
        tensors = self._batch.encode(np.ascontiguousarray(views))
        if self._suits is not None:
            orders = self._suits.orders(tensors)
            tensors = self._suits.tensors(tensors, orders)
        told = np.empty((len(tensors), len(self.layers[-1].bias)), np.float32)
        for first in range(0, len(tensors), CHUNK):
            told[first : first + CHUNK] = self._forward(tensors[first : first + CHUNK])
        if self._suits is not None:
            named = self._suits.actions(orders, views["exchange_cards"])
            np.put_along_axis(told, named, told.copy(), axis=1)
        return told

    def _forward(self, tensors: NDArray[np.float32]) -> NDArray[np.float32]:
        count = len(tensors)
        flow = tensors if count == CHUNK else np.zeros((CHUNK, tensors.shape[1]), np.float32)
        flow[:count] = tensors
        for layer in self.layers[:-1]:
            flow = flow @ layer.weights
            flow += layer.bias
            np.maximum(flow, 0.0, out=flow)
        return (flow @ self.layers[-1].weights + self.layers[-1].bias)[:count]

    def action_probabilities(self, views: NDArray[Any]) -> NDArray[np.float64]:
        """(B, A) the distribution it draws from; all on one action where it takes the best."""
        masks = legal_masks(views, self._batch.layout.num_actions).astype(bool)
        told = np.where(masks, self.outputs(views), -np.inf).astype(np.float64)
        if self.greedy or self.kind == "values":
            return np.asarray(np.eye(told.shape[1])[told.argmax(axis=1)])
        weights = np.exp(told - told.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`bestia_env.Policy`."""
        summed = self.action_probabilities(views).cumsum(axis=1)
        drawn = (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53 * summed[:, -1]
        return np.asarray((summed <= drawn[:, None]).sum(axis=1), np.int64)


def _but_for_the_table(rules: Rules) -> tuple[str, Any]:
    """Rules apart from the number of seats; with another pack the actions are others."""
    values = dict(rules.values())  # type: ignore[attr-defined]  # every rules record has it
    values.pop("num_players")
    return rules.variant, sorted((name, str(value)) for name, value in values.items())
