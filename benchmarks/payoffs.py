"""The pay-off tensor of a tournament: who won how much where, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.statistics import block_intervals
from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from benchmarks.runner import BlockResults

__all__ = ["Payoffs", "agent_values", "payoffs"]


@dataclass(frozen=True)
class Payoffs:
    """Mean results by agent and setting. A setting is what an agent met: a field by its name, or a line-up as a text.

    Attributes:
        agents: names, the first axis.
        settings: names, the second axis.
        values: (A, S, 3) mean, low and high end of the 95 % interval, in the unit of the block values; NaN where the
            agent did not play in the setting.
    """

    agents: tuple[str, ...]
    settings: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(A, S) the means."""
        return self.values[:, :, 0]

    @property
    def low(self) -> NDArray[np.float64]:
        """(A, S) the low ends of the intervals."""
        return self.values[:, :, 1]

    @property
    def high(self) -> NDArray[np.float64]:
        """(A, S) the high ends of the intervals."""
        return self.values[:, :, 2]

    def as_dict(self) -> dict[str, Any]:
        """Lists and names alone, for JSON: ``mean``, ``low`` and ``high`` by agent and setting, None for NaN."""

        def rows(table: NDArray[np.float64]) -> list[list[float | None]]:
            return [[None if np.isnan(value) else float(value) for value in row] for row in table]

        told: dict[str, Any] = {"agents": list(self.agents), "settings": list(self.settings)}
        return told | {"mean": rows(self.mean), "low": rows(self.low), "high": rows(self.high)}


def payoffs(tables: Mapping[tuple[str, str], ArrayLike], seed: int) -> Payoffs:
    """The tensor of some tables that played the same blocks.

    Args:
        tables: (B,) block values by (agent, setting): for hero-in-field tables (hero, field), for mixed tables (agent,
            text of the line-up) with the values of :func:`agent_values`.
        seed: of the resampling, see :func:`~benchmarks.statistics.block_intervals`.

    Returns:
        Means and intervals, agents and settings in alphabetical order. A table more changes nothing in the others.

    Raises:
        BestiaError: no tables, or unequal numbers of blocks.
    """
    sizes = {len(np.asarray(values)) for values in tables.values()}
    if len(sizes) != 1:
        raise BestiaError(f"tables of {sorted(sizes)} blocks; allowed are one or more tables of equally many blocks")
    agents = tuple(sorted({agent for agent, _ in tables}))
    settings = tuple(sorted({setting for _, setting in tables}))
    tensor = np.full((len(agents), len(settings), 3), np.nan)
    intervals = block_intervals(np.stack([np.asarray(values) for values in tables.values()], axis=1), seed)
    for (agent, setting), interval in zip(tables, intervals, strict=True):
        tensor[agents.index(agent), settings.index(setting)] = interval
    return Payoffs(agents, settings, tensor)


def agent_values(results: BlockResults, lineup: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Scores by agent of a mixed line-up: the mean over rotations and the positions that the agent holds.

    Args:
        results: what the line-up played.
        lineup: its names by position.

    Returns:
        (B,) scores in pots per deal, by name.

    Raises:
        BestiaError: another number of names than positions.
    """
    by_position = results.scores.mean(axis=1)
    names = np.array(lineup)
    if names.shape != by_position.shape[1:]:
        raise BestiaError(f"lineup of {len(lineup)} names; these results allow {by_position.shape[1]}")
    return {name: by_position[:, names == name].mean(axis=1) for name in dict.fromkeys(lineup)}
