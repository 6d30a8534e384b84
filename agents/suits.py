"""Suits by their part in the deal instead of by name: what a network sees, and the actions it names.

No rule of these games tells one suit from another but by trumps. So a network need not learn each thing once a suit:
trumps come first, then the suits by the cards held in them, the best first, and by what else was seen of them.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import GameBatch

__all__ = ["RelativeSuits"]

CARDS, BY_SUIT = ("hand", "first_hand", "laid"), ("turn_up", "plays")
"""Parts of a tensor that are grids of suits by ranks, and those whose last axis is suits."""


class RelativeSuits:
    """Translates tensors, masks and actions of one game of the Rams group.

    Args:
        batch: any batch of the game; its tensors' layout and its actions are what counts.

    Raises:
        BestiaError: a game without trumps.
    """

    def __init__(self, batch: GameBatch) -> None:
        layout, actions = batch.tensor_layout, batch.layout
        if not {*CARDS, *BY_SUIT} <= set(layout.slices):
            raise BestiaError(f"relative_suits=True for {batch.rules}; allowed is that for games with trumps")
        pack = actions.pack
        self._slices, self._suits = layout.slices, len(pack.suits)
        orders = np.array(list(permutations(range(layout.shapes["turn_up"][0]))))
        orders = orders[(orders[:, self._suits :] == np.arange(self._suits, orders.shape[1])).all(axis=1)]
        self._orders = orders
        self._ranks = layout.shapes["hand"][0] // orders.shape[1]
        self._columns = np.tile(np.arange(layout.size), (len(orders), 1))
        for name in CARDS:
            part = layout.slices[name]
            self._columns[:, part] = part.start + _cards(orders, self._ranks)
        for name in BY_SUIT:
            part = layout.slices[name]
            first = np.arange(part.start, part.stop, orders.shape[1])
            self._columns[:, part] = (first[:, None] + orders[:, None, :]).reshape(len(orders), -1)
        self._cards = _cards(orders[:, : self._suits], pack.num_ranks)
        self._actions = np.tile(np.arange(actions.num_actions), (len(orders), 1))
        self._actions[:, actions.first_card :] = actions.first_card + self._cards
        self._exchanges = slice(actions.first_exchange, actions.first_card)
        self._bits = np.arange(1 << actions.exchange_hand)[:, None] >> np.arange(actions.exchange_hand) & 1
        self._number_of = np.zeros(orders.shape[1] ** orders.shape[1], np.intp)
        self._number_of[np.ravel_multi_index(tuple(orders.T), orders.shape[1:] * orders.shape[1])] = range(len(orders))
        plays = layout.shapes["plays"]
        self._played = np.sqrt(2.0 + np.arange(plays[0] * plays[1]))  # two suits hardly ever weigh the same

    def orders(self, tensors: NDArray[np.float32]) -> NDArray[np.intp]:
        """(B,) numbers of the orders of the suits that (B, F) tensors call for; columns beyond F are not looked at."""
        count, suits = len(tensors), self._orders.shape[1]
        parts = {name: tensors[:, self._slices[name]] for name in (*CARDS, *BY_SUIT)}
        worth = 2.0 ** np.arange(self._ranks)
        held, first, laid = (parts[name].reshape(count, suits, self._ranks) @ worth for name in CARDS)
        played = np.einsum("bps,p->bs", parts["plays"].reshape(count, -1, suits), self._played)
        missing = np.broadcast_to(np.arange(suits) >= self._suits, held.shape)
        order = np.lexsort((-played, -laid, -first, -held, parts["turn_up"] == 0, missing), axis=1)
        return self._number_of[np.ravel_multi_index(tuple(order.T), (suits,) * suits)]

    def suits(self, order: int) -> list[int]:
        """The game's suit at each place of an order."""
        return self._orders[order].tolist()

    def tensors(self, tensors: NDArray[np.float32], orders: NDArray[np.intp]) -> NDArray[np.float32]:
        """(B, F) tensors with the suits so ordered; columns beyond F are more hands."""
        columns = self._columns[orders]
        more, hand = tensors.shape[1] - columns.shape[1], self._slices["hand"]
        if more:
            size = hand.stop - hand.start
            starts = np.repeat(np.arange(columns.shape[1], tensors.shape[1], size), size)
            hands = np.tile(columns[:, hand] - hand.start, (1, more // size)) + starts
            columns = np.concatenate([columns, hands], axis=1)
        return np.take_along_axis(tensors, columns, axis=1)

    def actions(self, orders: NDArray[np.intp], exchange_cards: NDArray[np.uint64]) -> NDArray[np.intp]:
        """(B, A) the game's action for each action that the network names.

        An exchange names cards by their places among ``exchange_cards`` (of a View), and those change with the suits.
        """
        told = self._actions[orders]
        if self._bits.shape[1]:
            held = (exchange_cards[:, None] >> np.arange(self._cards.shape[1], dtype=np.uint64) & np.uint64(1)) > 0
            columns = self._cards[orders]
            place_of = np.take_along_axis(np.cumsum(held, axis=1) - 1, columns, axis=1)
            ordered = np.take_along_axis(held, columns, axis=1)
            rows, cards = np.nonzero(ordered)
            places = np.tile(np.arange(self._bits.shape[1]), (len(told), 1))
            places[rows, (np.cumsum(ordered, axis=1) - 1)[rows, cards]] = place_of[rows, cards]
            told[:, self._exchanges] = self._exchanges.start + (1 << places) @ self._bits.T
        return told


def _cards(orders: NDArray[Any], ranks: int) -> NDArray[Any]:
    """(P, suits · ranks) the card at each place of a grid whose suits are so ordered."""
    return (orders[:, :, None] * ranks + np.arange(ranks)).reshape(len(orders), -1)
