"""Deals as records and decisions as a data set for imitation, out of a tournament's first blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bestia_env import GameBatch, record_game

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.runner import BlockResults, Decisions
    from bestia_env import SessionConfig
    from bestia_env.family import Rules

__all__ = ["Collector"]


class Collector:
    """Keeps the decisions of the blocks below ``limit`` while a table plays.

    Args:
        rules: the game.
        session: how a deal begins.
        seed: of all deals.
        agents: their names.
        limit: the first block that is not exported.
    """

    def __init__(self, rules: Rules, session: SessionConfig, seed: int, agents: Sequence[str], limit: int) -> None:
        self.rules, self.session, self.seed, self.agents, self.limit = rules, session, seed, tuple(agents), limit
        self._batch: GameBatch | None = None
        self._kept: list[tuple[Decisions, NDArray[np.int64]]] = []
        self._decisions: list[pa.Table] = []
        self._records: list[tuple[str, str]] = []
        self._forfeited: set[int] = set()

    def see(self, batch: GameBatch, decisions: Decisions) -> None:
        """What a table's ``on_decisions`` calls."""
        self._forfeited.update(decisions.forfeited.tolist())
        blocks = batch.states["row"][decisions.games]
        if (blocks < self.limit).any():
            self._batch = batch
            self._kept.append((decisions, batch.states["decision"][decisions.games].astype(np.int64)))

    def settle(self, results: BlockResults, folder: str) -> None:
        """Turns what was kept of a batch into rows and records, now that its results are known."""
        if self._batch is None:
            self._forfeited.clear()
            return
        n = self.rules.num_players
        batch, kept = self._batch, self._kept
        forfeited, self._forfeited = self._forfeited, set()
        self._batch, self._kept = None, []
        games = np.concatenate([decisions.games for decisions, _ in kept])
        wanted = batch.states["row"][games] < self.limit
        columns = {
            "game": games,
            "seat": np.concatenate([decisions.seats for decisions, _ in kept]),
            "agent": np.concatenate([np.full(len(decisions.games), decisions.agent) for decisions, _ in kept]),
            "decision": np.concatenate([numbers for _, numbers in kept]),
            "action": np.concatenate([decisions.actions for decisions, _ in kept]),
        }
        views = np.concatenate([decisions.views for decisions, _ in kept])
        order = np.lexsort((columns["decision"], columns["game"]))
        order = order[wanted[order]]
        columns = {name: values[order] for name, values in columns.items()}
        self._decisions.append(self._rows(batch, views[order], columns, results))
        self._record(columns, results, folder, n, forfeited)

    def _rows(
        self, batch: GameBatch, views: NDArray[Any], columns: dict[str, NDArray[np.int64]], results: BlockResults
    ) -> pa.Table:
        n = self.rules.num_players
        block, rotation = np.divmod(columns["game"], n)
        position = (columns["seat"] - rotation) % n
        tensors = batch.encode(views)
        masks = np.ascontiguousarray(views["legal"][:, : batch.layout.num_actions]).astype(np.int8)
        return pa.table(
            {
                "block": pa.array(results.blocks[block]),
                "rotation": pa.array(rotation.astype(np.int8)),
                "decision": pa.array(columns["decision"].astype(np.int16)),
                "seat": pa.array(columns["seat"].astype(np.int8)),
                "agent": pa.array(np.asarray(self.agents)[columns["agent"]]),
                "observation": _vectors(tensors),
                "action_mask": _vectors(masks),
                "action": pa.array(columns["action"].astype(np.int16)),
                "score": pa.array(results.scores[block, rotation, position]),
                "chips": pa.array(results.chips[block, rotation, position]),
            }
        )

    def _record(
        self,
        columns: dict[str, NDArray[np.int64]],
        results: BlockResults,
        folder: str,
        n: int,
        forfeited: set[int],
    ) -> None:
        """A deal record a game; a game that was forfeited has none."""
        for game in sorted(set(columns["game"].tolist()) - forfeited):
            here = columns["game"] == game
            block, rotation = int(results.blocks[game // n]), game % n
            record = record_game(
                self.rules, columns["action"][here].tolist(), seed=self.seed, game=(block, 0), session=self.session
            )
            seats = dict(zip(columns["seat"][here].tolist(), columns["agent"][here].tolist(), strict=True))
            told = ", ".join(f"{seat} {self.agents[agent]}" for seat, agent in sorted(seats.items()))
            self._records.append((f"{folder}/{block:09d}-{rotation}.toml", f"# seats: {told}\n{record.dumps()}"))

    def tables(self) -> dict[str, pa.Table]:
        """What was kept: a table of decisions and one of records (path and text)."""
        if not self._decisions:
            return {}
        paths, texts = zip(*self._records, strict=True) if self._records else ((), ())
        records = pa.table({"path": pa.array(paths, pa.string()), "text": pa.array(texts, pa.string())})
        return {"decisions": pa.concat_tables(self._decisions), "records": records}


def _vectors(values: NDArray[Any]) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
