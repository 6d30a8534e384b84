"""What a session of many deals comes to: chips, and who is ruined on the way. Apart from the score, beside it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env import SessionConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.runner import BlockPlayer
    from bestia_env import GameBatch
    from bestia_env.family import Rules

__all__ = ["Sessions", "play_sessions", "session_config"]


@dataclass(frozen=True)
class Sessions:
    """What every position of a line-up had at the end of a session, by block and rotation.

    Attributes:
        chips: (B, n, n) net chips of the session, by block, rotation and position.
        ruined: (B, n, n) whether the position was ever down by its bankroll.
        truncated: (B, n) sessions that ended early because the pot outgrew 2^53 chips.
    """

    chips: NDArray[Any]
    ruined: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


def session_config(rules: Rules, deals: int, bankroll: int) -> SessionConfig:
    """A session of some deals from an empty pot; with table stakes everybody begins with the bankroll (chips)."""
    credits = bankroll if getattr(rules, "stakes", "") == "table" else None
    return SessionConfig(num_deals=deals, play_on=True, credits=credits)


class _Purse:
    """Follows everybody's chips through a batch of sessions."""

    def __init__(self) -> None:
        self.chips: Any = 0
        self.lowest: Any = 0

    def after_step(self, batch: GameBatch) -> None:
        self.chips = self.chips + batch.rewards
        self.lowest = np.minimum(self.lowest, self.chips)


def play_sessions(
    table: BlockPlayer, blocks: NDArray[np.int64], places: NDArray[np.int64], deals: int, bankroll: int
) -> Sessions:
    """Plays blocks of sessions that fit one batch: each line-up in all rotations of the seats, over the same deals.

    A seat that is ruined plays on: what is counted is whether a purse of that size would have been emptied.

    Args:
        table: who plays, and which game; its own session is not used.
        blocks: (B,) numbers.
        places: (B, n) the agent in each position of each block's line-up.
        deals: deals a session.
        bankroll: chips.
    """
    purse = _Purse()
    playing = copy(table)
    playing.session, playing.on_step = session_config(table.rules, deals, bankroll), purse.after_step
    playing.behaviour = playing.on_decisions = None
    batch, seat_of = playing.drive(blocks, places)
    n = table.rules.num_players
    shape = (len(blocks), n, n)
    chips, ruined = (
        np.take_along_axis(values, seat_of, 1).reshape(shape) for values in (purse.chips, purse.lowest <= -bankroll)
    )
    return Sessions(chips, ruined, (batch.states["truncated"] != 0).reshape(shape[:2]))
