"""The pieces of work a tournament is made of: some blocks of one table, or some sessions of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks import runner
from benchmarks.export import Collector
from benchmarks.guard import KINDS, Guard
from benchmarks.lineups import MIXED, Table
from benchmarks.sessions import play_sessions
from bestia_env import BestiaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bestia_env import SessionConfig
    from bestia_env.family import Rules

__all__ = ["Job", "Setting"]


@dataclass(frozen=True)
class Setting:
    """What all tables of a tournament have in common.

    Args:
        rules: the game.
        session: how a deal begins.
        seed: of all deals and line-ups.
        timeout: seconds a call of an agent may take; None: any time.
        export_blocks: blocks below this are exported.
        session_deals: deals a session.
        bankroll: chips a session begins with.
    """

    rules: Rules
    session: SessionConfig
    seed: int
    timeout: float | None = None
    export_blocks: int = 0
    session_deals: int = 0
    bankroll: int = 0


@dataclass(frozen=True)
class Job:
    """Some blocks of one table, as deals or as sessions.

    Attributes:
        name: of its files.
        as_sessions: whether whole sessions are played.
    """

    setting: Setting
    table: Table
    blocks: range
    name: str
    as_sessions: bool = False

    @property
    def kind(self) -> str:
        """The table it is for, which is written last."""
        return "sessions" if self.as_sessions else "blocks"

    @property
    def deals(self) -> int:
        """Deals it plays."""
        each = self.setting.session_deals if self.as_sessions else 1
        return len(self.blocks) * self.setting.rules.num_players * each

    def play(self) -> dict[str, pa.Table]:
        """Its tables by kind, the one that says it is done last.

        Raises:
            BestiaError: an agent does not score 0 against itself.
        """
        it = self.setting
        agents = self.table.agents
        playing, guards = runner.BlockPlayer.guarded(it.rules, it.session, it.seed, agents, it.timeout)
        collector = None
        if self.blocks.start < it.export_blocks and not self.as_sessions:
            collector = Collector(it.rules, it.session, it.seed, agents, it.export_blocks)
            playing.on_decisions = collector.see
        parts: list[pa.Table] = []
        for blocks in runner.batches(np.asarray(self.blocks, np.int64), it.rules.num_players):
            places = self.table.places(blocks, it.rules.num_players, it.seed)
            if self.as_sessions:
                parts.append(self._sessions(playing, blocks, places))
                continue
            results = playing.play(blocks, places)
            if collector is not None:
                collector.settle(results, self.name.partition("-")[0])
            self._check(results, guards)
            parts.append(self._scores(results, places))
        tables = {} if collector is None else collector.tables()
        if playing.behaviour is not None and not self.as_sessions:
            tables["behaviour"] = playing.behaviour.table(self.table.hero or MIXED, self.table.field)
        tables["failures"] = self._failures(agents, guards)
        return tables | {self.kind: pa.concat_tables(parts)}

    def _check(self, results: runner.BlockResults, guards: Sequence[Guard]) -> None:
        """An agent among copies of itself scores 0 in every block, if its decisions follow from View and key."""
        failed = any(any(guard.failures.values()) for guard in guards)
        if not self.table.is_self_play or getattr(self.setting.rules, "rake_bp", 0) or failed:
            return
        wrong = results.score_top.sum(axis=1).any(axis=1)
        if wrong.any():
            raise BestiaError(
                f"agent {self.table.agents[0]!r} does not score 0 against itself in block "
                f"{results.blocks[wrong][0]}; allowed are agents whose decisions depend on View and key alone"
            )

    def _seats(self, places: NDArray[np.int64]) -> list[tuple[str, NDArray[np.bool_]]]:
        """Whose results are told, and (B, n) where they sit: the hero, or everybody at a mixed table."""
        if self.table.hero is not None:
            hero = np.zeros(places.shape, np.bool_)
            hero[:, 0] = True
            return [(self.table.hero, hero)]
        return [(agent, places == index) for index, agent in enumerate(self.table.agents)]

    def _scores(self, results: runner.BlockResults, places: NDArray[np.int64]) -> pa.Table:
        """One row a block and agent; sums over the rotations and over the seats it holds."""
        top, chips, square = results.score_top, results.chips, results.scores**2
        rows = []
        for agent, here in self._seats(places):
            seats = here.sum(axis=1)
            some = seats > 0

            def summed(values: NDArray[Any], here: Any = here, some: Any = some) -> NDArray[Any]:
                return np.asarray((values * here[:, None, :]).sum(axis=(1, 2))[some])

            own = summed(top)
            plays = results.score_base[some] * top.shape[1] * seats[some]
            rows.append(
                self._named(agent, results.blocks[some], seats[some])
                | {
                    "score_top": pa.array(own),
                    "score_base": pa.array(results.score_base[some]),
                    "score": pa.array(own / plays),
                    "score_square": pa.array(summed(square) / (top.shape[1] * seats[some])),
                    "chips": pa.array(summed(chips)),
                    "other_chips": pa.array(chips.sum(axis=(1, 2))[some] - summed(chips)),
                }
            )
        return pa.concat_tables([pa.table(row) for row in rows])

    def _sessions(self, playing: runner.BlockPlayer, blocks: NDArray[np.int64], places: NDArray[np.int64]) -> pa.Table:
        """One row a block and agent: chips and ruins of its sessions, summed over rotations and seats."""
        it = self.setting
        told = play_sessions(playing, blocks, places, it.session_deals, it.bankroll)
        rows = []
        for agent, here in self._seats(places):
            some = here.any(axis=1)
            own = {"chips": told.chips, "ruined": told.ruined}
            summed = {
                name: pa.array((values * here[:, None, :]).sum(axis=(1, 2))[some]) for name, values in own.items()
            }
            truncated = {"truncated": pa.array(told.truncated.sum(axis=1)[some])}
            rows.append(self._named(agent, blocks[some], here.sum(axis=1)[some]) | summed | truncated)
        return pa.concat_tables([pa.table(row) for row in rows])

    def _named(self, agent: str, blocks: NDArray[np.int64], seats: NDArray[np.int64]) -> dict[str, pa.Array]:
        count = len(blocks)
        return {
            "hero": pa.array([agent] * count),
            "field": pa.array([self.table.field] * count),
            "block": pa.array(blocks),
            "rotations": pa.array(np.full(count, self.setting.rules.num_players, np.int8)),
            "seats": pa.array(seats.astype(np.int8)),
        }

    def _failures(self, agents: Sequence[str], guards: Sequence[Guard]) -> pa.Table:
        """One row an agent that failed."""
        failed = [(agent, guard) for agent, guard in zip(agents, guards, strict=True) if any(guard.failures.values())]
        columns: dict[str, Any] = {
            "part": pa.array([self.name for _ in failed], pa.string()),
            "agent": pa.array([agent for agent, _ in failed], pa.string()),
            "first": pa.array([guard.first for _, guard in failed], pa.string()),
        }
        return pa.table(
            columns | {kind: pa.array([guard.failures[kind] for _, guard in failed], pa.int64()) for kind in KINDS}
        )
