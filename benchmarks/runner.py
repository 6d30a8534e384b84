"""Plays line-ups over blocks: a block is one deal played by one line-up in all rotations of the seats (design 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env import BestiaError, GameBatch, make_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy, SessionConfig
    from bestia_env.family import Rules

__all__ = ["BlockResults", "play_blocks"]

# Games a batch: their states stay in the processor's cache, and the calls from Python are still few.
GAMES_AT_ONCE = 1024


@dataclass(frozen=True)
class BlockResults:
    """What every position of a line-up won, by block and rotation.

    In rotation r position j of the line-up sits in seat (j + r) mod n.

    Attributes:
        blocks: (B,) the blocks' numbers.
        score_top: (B, n, n) int64 by block, rotation and position: score times ``score_base``.
        score_base: (B,) int64, the same in all rotations, since the deal and its pot are.
        chips: (B, n, n) net chips (int64; float64 in families whose wins are fractions).
    """

    blocks: NDArray[np.int64]
    score_top: NDArray[np.int64]
    score_base: NDArray[np.int64]
    chips: NDArray[Any]

    @property
    def scores(self) -> NDArray[np.float64]:
        """(B, n, n) scores (design 8.3)."""
        return self.score_top / self.score_base[:, None, None]


def play_blocks(
    rules: Rules, session: SessionConfig, seed: int, blocks: range | Sequence[int], lineup: Sequence[str | Policy]
) -> BlockResults:
    """Plays some blocks of a line-up.

    The deal of block b is game 0 of row b of ``seed``, in every rotation and for every line-up, so line-ups can be
    compared deal by deal. Policies get the keys of their decisions' addresses: results do not depend on which blocks
    are played together.

    Args:
        rules: the game.
        session: how the deal begins; one deal.
        seed: of all deals.
        blocks: numbers of the blocks, each 0 or more.
        lineup: one policy a seat, by name or as an object; equal names are one policy.

    Raises:
        BestiaError: a line-up of another size than the table, a session of several deals, or an unknown policy.
    """
    n = rules.num_players
    if len(lineup) != n:
        raise BestiaError(f"lineup of {len(lineup)} policies; {rules.variant} at this table allows {n}")
    if session.num_deals != 1 or session.play_on:
        raise BestiaError(f"session num_deals={session.num_deals}, play_on={session.play_on}; a block is one deal")
    different = list(dict.fromkeys(lineup))
    policies = [make_policy(policy, rules) for policy in different]
    places = np.array([different.index(policy) for policy in lineup])
    numbers = np.asarray(blocks, np.int64)
    step = max(1, GAMES_AT_ONCE // n)
    parts = [
        _play(rules, session, seed, numbers[first : first + step], policies, places)
        for first in range(0, len(numbers), step)
    ]
    if not parts:
        raise BestiaError("blocks is empty; allowed are one or more block numbers")
    return BlockResults(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _play(
    rules: Rules,
    session: SessionConfig,
    seed: int,
    blocks: NDArray[np.int64],
    policies: Sequence[Policy],
    places: NDArray[np.int64],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The fields of :class:`BlockResults` for blocks that fit one batch; ``places`` is the policy of each position."""
    n = rules.num_players
    rotation = np.tile(np.arange(n), len(blocks))[:, None]
    batch = GameBatch(rules, len(rotation), seed=seed, session=session, autoreset=False, rows=np.repeat(blocks, n))
    at_seat = places[(np.arange(n) - rotation) % n]  # (games, seats) which policy sits there
    actions = np.zeros(len(rotation), np.int64)
    while True:
        actor = batch.actor
        playing = np.flatnonzero(actor >= 0)
        if not len(playing):
            break
        asked = at_seat[playing, actor[playing]]
        for index, policy in enumerate(policies):
            rows = playing[asked == index]
            if len(rows):
                actions[rows] = policy.act(batch.view(rows=rows), batch.keys(rows))
        batch.step(actions)
    seat_of = (np.arange(n) + rotation) % n  # (games, positions)
    shape = (len(blocks), n, n)
    base = np.asarray(batch.states["score_base"]).reshape(shape[:2])
    assert (base == base[:, :1]).all(), "the rotations of a block were played for different pots"
    top, net = (np.take_along_axis(batch.states[name], seat_of, 1).reshape(shape) for name in ("score_top", "net"))
    return blocks, top, base[:, 0], net
