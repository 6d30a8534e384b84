"""From block tables to means, intervals and differences."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from benchmarks.behaviour import KEYS
from benchmarks.control import adjust
from benchmarks.lineups import MIXED
from benchmarks.payoffs import Payoffs
from benchmarks.ratings import openskill_ratings, worst_cases
from benchmarks.statistics import Interval, block_intervals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from benchmarks.sequential import UntilSeparated

__all__ = [
    "Results",
    "corrected",
    "openskill",
    "summarise",
    "summarise_behaviour",
    "summarise_failures",
    "summarise_sessions",
    "wanted_differences",
]


class Results:
    """The block table by hero and field.

    Args:
        blocks: the block table, or that of sessions.
    """

    def __init__(self, blocks: pa.Table) -> None:
        self._blocks = blocks
        pairs = blocks.select(["field", "hero"]).group_by(["field", "hero"]).aggregate([]).to_pylist()
        self.tables = sorted((row["hero"], row["field"]) for row in pairs)
        self._rows: dict[tuple[str, str], pa.Table] = {}

    def rows(self, hero: str, field: str) -> pa.Table:
        """The rows of one table, by block."""
        if (hero, field) not in self._rows:
            chosen = pc.and_(pc.equal(self._blocks["hero"], hero), pc.equal(self._blocks["field"], field))
            self._rows[hero, field] = self._blocks.filter(chosen)
        return self._rows[hero, field]

    def column(self, table: tuple[str, str], name: str) -> NDArray[Any]:
        """A column of one table: (B,) by block."""
        return np.asarray(self.rows(*table)[name])

    def per_deal(self, table: tuple[str, str], name: str) -> NDArray[np.float64]:
        """A sum over rotations and seats, per deal and seat: (B,) by block."""
        plays = self.column(table, "rotations").astype(np.float64) * self.column(table, "seats")
        return np.asarray(self.column(table, name) / plays)

    def pairs(self) -> list[tuple[str, str, str]]:
        """(field, first, second): two heroes of the same field that played two blocks or more in common."""
        fields = sorted({field for _, field in self.tables})
        heroes = {field: sorted(hero for hero, other in self.tables if other == field) for field in fields}
        pairs = [(field, *pair) for field in fields for pair in combinations(heroes[field], 2)]
        return [pair for pair in pairs if pair[0] != MIXED or len(self.differences(*pair)[0]) > 1]

    def differences(self, field: str, first: str, second: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score and chips of one hero minus those of another, (K,) by block they both played."""
        one, two = (first, field), (second, field)
        _, ones, twos = np.intersect1d(self.column(one, "block"), self.column(two, "block"), return_indices=True)
        score = self.column(one, "score")[ones] - self.column(two, "score")[twos]
        return score, self.per_deal(one, "chips")[ones] - self.per_deal(two, "chips")[twos]


def summarise(blocks: pa.Table, num_players: int, seed: int, rule: UntilSeparated | None = None) -> dict[str, Any]:
    """Means and intervals of every table and of every difference between two heroes in the same field.

    Args:
        blocks: the block table.
        num_players: seats.
        seed: of the resampling.
        rule: what stopped the run, if not the number of blocks; the scores of differences that it looked at then have
            its intervals, which hold at any moment of stopping.
    """
    results = Results(blocks)
    pairs = results.pairs()
    columns = [
        quantity
        for table in results.tables
        for quantity in (results.column(table, "score"), results.per_deal(table, "chips"))
    ]
    differences = [results.differences(*pair) for pair in pairs]
    columns += [quantity for both in differences for quantity in both]
    intervals = iter(_intervals(columns, seed))

    def both() -> dict[str, Any]:
        return {name: interval._asdict() for name, interval in zip(("score", "chips"), intervals, strict=False)}

    tables = [{"hero": hero, "field": field} | both() for hero, field in results.tables]
    compared = [
        {"field": field, "first": first, "second": second}
        | both()
        | {
            "differ": _share(score != 0),
            "gain": _gain(results, (field, first, second), score, num_players),
            "deviation": float(score.std(ddof=1)),
        }
        for (field, first, second), (score, _) in zip(pairs, differences, strict=True)
    ]
    if rule is not None:
        _sequential(compared, results, rule)
    return {
        "units": {"score": "pots per deal", "chips": "chips per deal"},
        "tables": tables,
        "differences": compared,
        "invaders": _invaders(tables, results, num_players),
        **_ranking(tables),
    }


def wanted_differences(results: Results) -> tuple[list[tuple[str, str, str]], NDArray[np.float64]]:
    """What "until separated" waits for: (field, first, second) of hero-in-field tables, and (B, K) their scores."""
    pairs = [pair for pair in results.pairs() if pair[0] != MIXED]
    columns = [results.differences(*pair)[0] for pair in pairs]
    return pairs, np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _sequential(compared: Sequence[dict[str, Any]], results: Results, rule: UntilSeparated) -> None:
    """Puts the rule's intervals in place of those for a fixed number of blocks."""
    pairs, differences = wanted_differences(results)
    if not pairs:
        return
    found = dict(zip(pairs, rule.intervals(differences), strict=True))
    for row in compared:
        pair = (row["field"], row["first"], row["second"])
        if pair in found:
            row["score"] = found[pair]._asdict()


def _ranking(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The pay-off tensor of the hero-in-field tables, and the agents by their worst field."""
    told = [table for table in tables if table["field"] != MIXED]
    heroes, fields = (tuple(sorted({table[key] for table in told})) for key in ("hero", "field"))
    values = np.full((len(heroes), len(fields), 3), np.nan)
    for table in told:
        place = heroes.index(table["hero"]), fields.index(table["field"])
        values[place] = [table["score"][end] for end in ("mean", "low", "high")]
    tensor = Payoffs(heroes, fields, values)
    return {"payoffs": tensor.as_dict(), "worst_cases": [case._asdict() for case in worst_cases(tensor)]}


def openskill(blocks: pa.Table, limit: int) -> dict[str, Any]:
    """OpenSkill ratings from the first ``limit`` blocks of the hero-in-field tables of single agents: no evidence."""
    results = Results(blocks)
    heroes = {hero for hero, _ in results.tables}
    games = {}
    for hero, field in results.tables:
        if field in heroes and hero != field:
            score = results.column((hero, field), "score")[:limit]
            games[hero, field] = np.stack([score, -score], axis=1)
    return {name: rating._asdict() for name, rating in openskill_ratings(games).items()} if games else {}


def _intervals(columns: Sequence[NDArray[np.float64]], seed: int) -> list[Interval]:
    """Intervals of columns; those of equal length, mostly all, are resampled together."""
    found: dict[int, Interval] = {}
    for length in {len(column) for column in columns}:
        places = [place for place, column in enumerate(columns) if len(column) == length]
        together = block_intervals(np.stack([columns[place] for place in places], axis=1), seed)
        found |= dict(zip(places, together, strict=True))
    return [found[place] for place in range(len(columns))]


def corrected(blocks: pa.Table, covariates: NDArray[np.float64], seed: int) -> list[dict[str, Any]]:
    """The scores of the hero-in-field tables less what the hands dealt explain (benchmarks.control).

    Args:
        blocks: the block table.
        covariates: (B, K) of blocks 0 … B - 1.
        seed: of the resampling.
    """
    results = Results(blocks)
    tables = [table for table in results.tables if table[1] != MIXED]
    columns = [adjust(results.column(table, "score"), covariates) for table in tables]
    intervals = _intervals(columns, seed)
    return [
        {"hero": hero, "field": field, "score": interval._asdict()}
        for (hero, field), interval in zip(tables, intervals, strict=True)
    ]


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _gain(
    results: Results, pair: tuple[str, str, str], difference: NDArray[np.float64], num_players: int
) -> float | None:
    """How many times fewer deals the paired blocks need than two independent runs without rotation.

    The variance of the difference of two agents on independent single deals, over that of the paired block difference
    per deal played; None for a mixed table, or where the two never differ.
    """
    field, *heroes = pair
    paired = float(difference.var()) * num_players
    if field == MIXED or not paired:
        return None
    apart = 0.0
    for hero in heroes:
        square, mean = (results.column((hero, field), name).mean() for name in ("score_square", "score"))
        apart += float(square) - float(mean) ** 2
    return apart / paired


def _invaders(tables: Sequence[Mapping[str, Any]], results: Results, num_players: int) -> list[dict[str, Any]]:
    """For every field of one agent, whether an agent that comes alone gains against it.

    n - 1 residents and one invader are the same tables as a hero in a field, seen from the other side.
    """
    heroes = {table["hero"] for table in tables}
    told = []
    for field in sorted({table["field"] for table in tables} & heroes):
        invaders = [table for table in tables if table["field"] == field and table["hero"] != field]
        if not invaders:
            continue
        best = max(invaders, key=lambda table: table["score"]["mean"])
        verdict = "undecided"
        if any(table["score"]["low"] > 0 for table in invaders):
            verdict = "invaded"
        elif all(table["score"]["high"] < 0 for table in invaders):
            verdict = "held"
        others = results.column((best["hero"], field), "other_chips") / (num_players * (num_players - 1))
        told.append(
            {
                "residents": field,
                "best_invader": best["hero"],
                "score": best["score"],
                "residents_chips": float(others.mean()),
                "verdict": verdict,
            }
        )
    return told


def summarise_sessions(sessions: pa.Table, seed: int) -> list[dict[str, Any]]:
    """Chips a session and the share of sessions in which the purse was emptied, with intervals over blocks."""
    results = Results(sessions)
    columns = [results.per_deal(table, name) for table in results.tables for name in ("chips", "ruined")]
    intervals = iter(_intervals(columns, seed))
    return [
        {
            "hero": hero,
            "field": field,
            "chips": next(intervals)._asdict(),
            "median_chips": float(np.median(results.per_deal((hero, field), "chips"))),
            "ruined": next(intervals)._asdict(),
            "truncated": int(results.column((hero, field), "truncated").sum()),
        }
        for hero, field in results.tables
    ]


def summarise_behaviour(behaviour: pa.Table) -> list[dict[str, Any]]:
    """Rates by table and agent, all positions together: of verbs per decision of that kind, of the rest per deal."""
    counted = [name for name in behaviour.column_names if name not in KEYS]
    sums = behaviour.group_by(["field", "hero", "agent"]).aggregate([(name, "sum") for name in counted])
    told = []
    for row in sums.sort_by([(key, "ascending") for key in ("field", "hero", "agent")]).to_pylist():
        deals = max(row["deals_sum"], 1)
        rates = {name: row[f"{name}_sum"] / deals for name in counted if name not in ("deals", "play")}
        told.append({key: row[key] for key in ("field", "hero", "agent")} | {"deals": row["deals_sum"]} | rates)
    return told


def summarise_failures(failures: pa.Table | None) -> list[dict[str, Any]]:
    """Failures by agent: how many decisions of each kind, and the first of them."""
    if failures is None or not len(failures):
        return []
    kinds = [name for name in failures.column_names if name not in ("part", "agent", "first")]
    told: dict[str, dict[str, Any]] = {}
    for row in failures.to_pylist():
        entry = told.setdefault(row["agent"], {"agent": row["agent"], "first": row["first"], **dict.fromkeys(kinds, 0)})
        for kind in kinds:
            entry[kind] += row[kind]
    return [told[agent] for agent in sorted(told)]
