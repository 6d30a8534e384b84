"""Plays line-ups over blocks: a block is one deal played by one line-up in all rotations of the seats (design 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.behaviour import Behaviour
from benchmarks.guard import Guard
from bestia_env import BestiaError, GameBatch, make_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy, SessionConfig
    from bestia_env.family import Rules

__all__ = ["BlockPlayer", "BlockResults", "Decisions", "play_blocks"]

# Games a batch: their states stay in the processor's cache, and the calls from Python are still few.
GAMES_AT_ONCE = 1024

Ask = Callable[["NDArray[Any]", "NDArray[np.uint64]"], "tuple[NDArray[np.int64], NDArray[np.bool_] | None]"]
"""Gives actions for Views and keys, and where there are none."""


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


@dataclass(frozen=True)
class Decisions:
    """Some decisions of one agent, all at one step of a batch.

    Attributes:
        agent: which.
        games: (K,) rows of the batch.
        seats: (K,) who decides.
        views: (K,) what they see.
        actions: (K,) what they do.
        forfeited: rows of the batch whose game the agent has just forfeited.
    """

    agent: int
    games: NDArray[np.int64]
    seats: NDArray[np.int64]
    views: NDArray[Any]
    actions: NDArray[np.int64]
    forfeited: NDArray[np.int64]


def play_blocks(
    rules: Rules, session: SessionConfig, seed: int, blocks: range | Sequence[int], lineup: Sequence[str | Policy]
) -> BlockResults:
    """Plays some blocks of a line-up.

    The deal of block b is game 0 of row b of ``seed``, in every rotation and for every line-up, so line-ups can be
    compared deal by deal. Policies get the keys of their decisions' addresses: results do not depend on which blocks
    are played together. What a policy raises is raised.

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
    place = np.array([different.index(policy) for policy in lineup])
    numbers = np.asarray(blocks, np.int64)
    table = BlockPlayer(rules, session, seed, [_trusted(policy) for policy in policies])
    parts = [table.play(chosen, np.tile(place, (len(chosen), 1))) for chosen in batches(numbers, n)]
    if not parts:
        raise BestiaError("blocks is empty; allowed are one or more block numbers")
    return joined(parts)


def batches(blocks: NDArray[np.int64], num_players: int) -> list[NDArray[np.int64]]:
    """Blocks cut into what is played at once."""
    step = max(1, GAMES_AT_ONCE // num_players)
    return [blocks[first : first + step] for first in range(0, len(blocks), step)]


def joined(parts: Sequence[BlockResults]) -> BlockResults:
    """The results of several parts as one."""
    names = ("blocks", "score_top", "score_base", "chips")
    return BlockResults(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _trusted(policy: Policy) -> Ask:
    """Asks a policy and lets it raise; an illegal action is raised by the batch."""
    return lambda views, keys: (policy.act(views, keys), None)


class BlockPlayer:
    """Plays blocks of a game.

    Args:
        rules: the game.
        session: what each game is; several deals are allowed here.
        seed: of all deals.
        asks: the agents, as what gives their actions.
        names: what the agents are called; with them their behaviour is counted.
        on_decisions: told of all decisions, before they are played.
        on_step: told after every step.

    Attributes:
        behaviour: the counts of all that was played, if there are names.
    """

    def __init__(
        self,
        rules: Rules,
        session: SessionConfig,
        seed: int,
        asks: Sequence[Ask],
        names: Sequence[str] = (),
        on_decisions: Callable[[GameBatch, Decisions], None] | None = None,
        on_step: Callable[[GameBatch], None] | None = None,
    ) -> None:
        self.rules, self.session, self.seed, self.asks = rules, session, seed, asks
        self.on_decisions, self.on_step = on_decisions, on_step
        layout = GameBatch(rules, 1, seed=seed, session=session).layout
        self.behaviour = Behaviour(names, rules.num_players, layout) if names else None

    @classmethod
    def guarded(
        cls,
        rules: Rules,
        session: SessionConfig,
        seed: int,
        agents: Sequence[str],
        timeout: float | None,
        **more: Any,
    ) -> tuple[BlockPlayer, list[Guard]]:
        """A table whose agents may fail, and their guards."""
        policies = [make_policy(agent, rules) for agent in agents]
        layout = GameBatch(rules, 1, seed=seed, session=session).layout
        guards = [Guard(policy, layout.num_actions, timeout) for policy in policies]
        return cls(rules, session, seed, [guard.ask for guard in guards], agents, **more), guards

    def play(self, blocks: NDArray[np.int64], places: NDArray[np.int64]) -> BlockResults:
        """Plays blocks that fit one batch.

        Args:
            blocks: (B,) their numbers.
            places: (B, n) the agent in each position of each block's line-up.
        """
        batch, seat_of = self.drive(blocks, places)
        n = self.rules.num_players
        shape = (len(blocks), n, n)
        base = np.asarray(batch.states["score_base"]).reshape(shape[:2])
        assert (base == base[:, :1]).all(), "the rotations of a block were played for different pots"
        top, net = (np.take_along_axis(batch.states[name], seat_of, 1).reshape(shape) for name in ("score_top", "net"))
        return BlockResults(blocks, top, base[:, 0], net)

    def drive(self, blocks: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[GameBatch, NDArray[np.int64]]:
        """Plays all rotations of some blocks to their end: the batch, and (games, n) the seat of each position."""
        n = self.rules.num_players
        rotation = np.tile(np.arange(n), len(blocks))[:, None]
        batch = GameBatch(
            self.rules, len(rotation), seed=self.seed, session=self.session, autoreset=False, rows=np.repeat(blocks, n)
        )
        # (games, seats) which agent sits there
        at_seat = np.take_along_axis(np.repeat(places, n, axis=0), (np.arange(n) - rotation) % n, 1)
        positions = self._positions(batch)
        self._play_out(batch, at_seat, positions)
        if self.behaviour is not None:
            self.behaviour.finished(batch, at_seat, positions)
        return batch, (np.arange(n) + rotation) % n

    def _positions(self, batch: GameBatch) -> NDArray[np.int64]:
        """(games, seats) 0 for the seat after the dealer, n - 1 for the dealer."""
        n = self.rules.num_players
        first = np.zeros(batch.num_games, np.int64)
        if "dealer" in (batch.family.state_dtype.names or ()):
            first = batch.states["dealer"].astype(np.int64) + 1
        return (np.arange(n) - first[:, None]) % n

    def _play_out(self, batch: GameBatch, at_seat: NDArray[np.int64], positions: NDArray[np.int64]) -> None:
        """Plays every game of a batch to its end."""
        actions = np.zeros(batch.num_games, np.int64)
        while True:
            actor = batch.actor
            playing = np.flatnonzero(actor >= 0)
            if not len(playing):
                return
            asked = at_seat[playing, actor[playing]]
            for agent, ask in enumerate(self.asks):
                rows = playing[asked == agent]
                if len(rows):
                    actions[rows] = self._ask(batch, agent, ask, rows, actor[rows].astype(np.int64), positions)
            batch.step(actions)
            if self.on_step is not None:
                self.on_step(batch)

    def _ask(
        self,
        batch: GameBatch,
        agent: int,
        ask: Ask,
        rows: NDArray[np.int64],
        seats: NDArray[np.int64],
        positions: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The actions of one agent in some rows; where it gives none, it forfeits the game."""
        views = batch.view(rows=rows)
        actions, failed = ask(views, batch.keys(rows))
        where = positions[rows, seats]
        good: Any = slice(None)
        if failed is not None and failed.any():
            good = ~failed
            for row in rows[failed].tolist():
                batch.forfeit(row)
                if self.on_step is not None:
                    self.on_step(batch)
            if self.behaviour is not None:
                self.behaviour.add("failed", agent, where[failed])
        if self.behaviour is not None:
            self.behaviour.decided(agent, where[good], actions[good])
        if self.on_decisions is not None:
            forfeited = rows[:0] if failed is None else rows[failed]
            self.on_decisions(batch, Decisions(agent, rows[good], seats[good], views[good], actions[good], forfeited))
        return actions
