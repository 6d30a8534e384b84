"""What agents do: counts of their decisions and of what became of their deals, by position at the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bestia_env import GameBatch
    from bestia_env.family import ActionLayout

__all__ = ["KEYS", "Behaviour", "total"]

KEYS = ("hero", "field", "agent", "position")
"""The columns of a behaviour table that say whose counts they are."""

_OUTCOMES = {"took_part": "settled_in", "bestia": "penalties", "tricks": "settled_tricks"}
"""Counts of finished deals, and the fields of the state they are read from, in families that have them."""


class Behaviour:
    """Counts by agent and position; position 0 speaks first, n - 1 is the dealer (without a dealer: the seat).

    Columns: ``deals``, ``decisions``; one a verb, ``exchange``, ``play``: how often each was chosen; ``took_part``,
    ``bestia``: deals in which the seat was in, and in which it paid a penalty; ``tricks`` taken; ``failed``: decisions
    that forfeited the game.

    Args:
        agents: names.
        num_players: seats.
        layout: of the actions.
    """

    def __init__(self, agents: Sequence[str], num_players: int, layout: ActionLayout) -> None:
        self.agents, self.num_players, self.layout = tuple(agents), num_players, layout
        groups = [*layout.verbs, *(["exchange"] if layout.exchange_hand else []), *(["play"] if layout.pack else [])]
        self.columns = ("deals", "decisions", *groups, *_OUTCOMES, "failed")
        self.counts = np.zeros((len(agents), num_players, len(self.columns)), np.int64)
        starts = [*range(len(layout.verbs)), layout.first_exchange, layout.first_card]
        self._group = np.searchsorted(np.unique(starts), np.arange(layout.num_actions), side="right") - 1
        self._first_group = self.columns.index("decisions") + 1

    def add(self, column: str, agent: NDArray[Any], position: NDArray[Any], amount: Any = 1) -> None:
        """Adds to one column."""
        np.add.at(self.counts, (agent, position, self.columns.index(column)), amount)

    def decided(self, agent: int, positions: NDArray[Any], actions: NDArray[np.int64]) -> None:
        """Counts legal decisions of one agent."""
        width = len(self.columns)
        chosen = np.bincount(
            positions * width + self._first_group + self._group[actions], minlength=self.num_players * width
        ).reshape(self.num_players, width)
        chosen[:, self.columns.index("decisions")] = chosen.sum(axis=1)
        self.counts[agent] += chosen

    def finished(self, batch: GameBatch, at_seat: NDArray[np.int64], positions: NDArray[np.int64]) -> None:
        """Counts the deals of a batch that has been played: (games, seats) agent and position of every seat."""
        self.add("deals", at_seat, positions)
        for column, name in _OUTCOMES.items():
            if name in (batch.family.state_dtype.names or ()):
                told = batch.states[name][:, : self.num_players]
                self.add(column, at_seat, positions, told if column == "tricks" else told > 0)

    def table(self, hero: str, field: str) -> pa.Table:
        """One row an agent and position."""
        agents, n = len(self.agents), self.num_players
        columns: dict[str, Any] = {
            "hero": pa.array([hero] * (agents * n)),
            "field": pa.array([field] * (agents * n)),
            "agent": pa.array(np.repeat(self.agents, n)),
            "position": pa.array(np.tile(np.arange(n), agents)),
        }
        flat = self.counts.reshape(agents * n, -1)
        return pa.table(columns | {name: pa.array(flat[:, place]) for place, name in enumerate(self.columns)})


def total(tables: Sequence[pa.Table]) -> pa.Table:
    """The sums of several behaviour tables, in the order of their keys."""
    together = pa.concat_tables(tables)
    counted = [name for name in together.column_names if name not in KEYS]
    summed = together.group_by(list(KEYS)).aggregate([(name, "sum") for name in counted])
    summed = summed.rename_columns([name.removesuffix("_sum") for name in summed.column_names])
    return summed.select([*KEYS, *counted]).sort_by([(key, "ascending") for key in KEYS]).combine_chunks()
