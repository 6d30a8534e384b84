"""Which interface is compared with which, and what the rounds of a comparison come to."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.peers import openspiel, ours, pettingzoo, pgx, rlcard
from benchmarks.throughput import FUSED, WITH_MASK, WITH_TENSOR
from bestia_env import BestiaError

Row = dict[str, Any]


class Comparison(NamedTuple):
    """What a kind of interface of a peer is compared with."""

    ours: str
    wanted: float | None = None
    """The ratio we want to reach against the fastest game of this kind; measured, never asserted."""


COMPARED: dict[str, dict[str, Comparison]] = {
    "openspiel": {
        openspiel.PYTHON: Comparison(WITH_MASK, 20),
        openspiel.TENSOR: Comparison(WITH_TENSOR, 8),
        openspiel.BOTS: Comparison(FUSED, 8),
        openspiel.BOTS_DEALT: Comparison(FUSED),  # ours deals all the same
    },
    "pettingzoo": {pettingzoo.ENV: Comparison(ours.AEC, 12), pettingzoo.RAW: Comparison(ours.AEC)},
    "rlcard": {rlcard.STEP: Comparison(ours.AEC)},
    # Pgx makes observations in every step, so it is compared with the interface of ours that does
    "pgx": {pgx.CALLS: Comparison(WITH_TENSOR), pgx.SCAN: Comparison(WITH_TENSOR)},
}
"""Peer → kind of interface → comparison."""


class Sample(NamedTuple):
    """One round of one peer: what its script and ours printed, one right after the other."""

    ours: list[Row]
    theirs: list[Row]


def parse_lines(text: str, source: str) -> list[Row]:
    """Reads what a script printed; lines that are no JSON object are a library's own talk.

    Args:
        text: the script's output.
        source: the script, for the error.

    Raises:
        BestiaError: a row lacks a field or a rate is no number above 0, or there is no row.
    """
    rows = []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        for rate in ("best", "median"):
            value = row.get(rate)
            if not isinstance(value, int | float) or not 0 < value < math.inf:
                raise BestiaError(f"{source}: {rate}={value!r} in {line!r}; allowed are numbers above 0")
        missing = {"kind", "game", "decisions_a_game", "versions"} - set(row)
        if missing:
            raise BestiaError(f"{source}: {', '.join(sorted(missing))} missing in {line!r}")
        rows.append(row)
    if not rows:
        raise BestiaError(f"{source}: printed no JSON line, but {text[-500:]!r}")
    return rows


def compare(peer: str, samples: Sequence[Sample]) -> list[Row]:
    """What the rounds of one peer come to: a row for each of its interfaces.

    ``best`` is the best of all rounds, which other work on the machine disturbs least, ``median`` the median of the
    rounds' medians; ``times_best`` is best over best, ``times_median`` the median of the rounds' own ratios. Ours are
    taken from this peer's rounds alone, so neither side had more tries. ``counts`` marks the fastest of a kind.
    """
    rows = []
    for first in samples[0].theirs:
        comparison = COMPARED[peer][first["kind"]]
        own = [_row(sample.ours, comparison.ours) for sample in samples]
        theirs = [_row(sample.theirs, first["kind"], first["game"]) for sample in samples]
        best, our_best = max(row["best"] for row in theirs), max(row["best"] for row in own)
        ratios = [mine["median"] / row["median"] for mine, row in zip(own, theirs, strict=True)]
        rows.append(
            {
                "peer": peer,
                "kind": first["kind"],
                "game": first["game"],
                "best": best,
                "median": statistics.median(row["median"] for row in theirs),
                "decisions_a_game": statistics.mean(row["decisions_a_game"] for row in theirs),
                "ours": comparison.ours,
                "ours_game": own[0]["game"],
                "ours_best": our_best,
                "ours_median": statistics.median(row["median"] for row in own),
                "ours_decisions_a_game": statistics.mean(row["decisions_a_game"] for row in own),
                "times_best": our_best / best,
                "times_median": statistics.median(ratios),
                "wanted": comparison.wanted,
            }
        )
    fastest = {row["kind"]: row["game"] for row in sorted(rows, key=lambda row: row["best"])}
    return [row | {"counts": fastest[row["kind"]] == row["game"]} for row in rows]


def _row(rows: Iterable[Row], kind: str, game: str | None = None) -> Row:
    """The one row of a kind, and of a game where there are several."""
    (row,) = [row for row in rows if row["kind"] == kind and game in (None, row["game"])]
    return row


def table(rows: Sequence[Row]) -> str:
    """The comparison as Markdown; the fastest game of a kind in bold, since its ratio is the one that counts."""
    head = ("library", "interface", "game", "decisions a game", "decisions/s", "ours", "decisions/s")
    lines = [(*head, "ratio, best", "ratio, median", "wanted"), ("---",) * 3 + ("---:",) * 2 + ("---",) + ("---:",) * 4]
    for row in rows:
        mark = "**" if row["counts"] else ""
        lines.append(
            (
                row["peer"],
                row["kind"],
                row["game"],
                f"{row['decisions_a_game']:.1f}",
                _rounded(row["best"]),
                row["ours"],
                _rounded(row["ours_best"]),
                f"{mark}{_rounded(row['times_best'])}{mark}",
                f"{mark}{_rounded(row['times_median'])}{mark}",
                f"{row['wanted']:g}" if row["counts"] and row["wanted"] else "",
            )
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _rounded(value: float) -> str:
    """Three digits are more than the noise leaves: 1234567 → 1,230,000, and 3.14159 → 3.14."""
    digits = 2 - math.floor(math.log10(value))
    return f"{round(value, digits):,.{max(digits, 0)}f}"
