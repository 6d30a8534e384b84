"""How a summary is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.lineups import MIXED
from benchmarks.power import blocks_needed
from benchmarks.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["report"]

_ENDS = ("score", "low", "high")


def report(summary: Mapping[str, Any], order: Sequence[str], detect: float | None = None) -> str:
    """The summary as a text, agents in the order of the command line.

    Args:
        summary: see :func:`summarise`.
        order: names.
        detect: a difference in pots per deal; told is how many blocks find it four times of five.
    """

    def place(row: Mapping[str, Any]) -> list[Any]:
        keys = [row[key] for key in ("field", "residents", "hero", "agent", "first", "second") if key in row]
        return [(order.index(name), "") if name in order else (len(order), name) for name in keys]

    names = [row[key] for row in summary["tables"] for key in ("hero", "field")]
    width = max(5, *map(len, names))
    lines = [f"{'field':{width}}  {'hero':{2 * width + 3}} {_header()}"]
    for row in sorted(summary["tables"], key=place):
        lines.append(f"{row['field']:{width}}  {row['hero']:{2 * width + 3}} {_numbers(row)}")
    if summary["differences"]:
        lines += ["", f"{'field':{width}}  {'first − second':{2 * width + 3}} {_header()}{'differ':>8}{'gain':>7}"]
        lines[-1] += "" if detect is None else f"{f'blocks for {detect:g}':>19}"
    for row in sorted(summary["differences"], key=place):
        first, second, sign = row["first"], row["second"], 1
        if place({"hero": first}) > place({"hero": second}):
            first, second, sign = second, first, -1
        pair = f"{first} − {second}"
        gain = "-" if row["gain"] is None else f"{row['gain']:.1f}"
        line = f"{row['field']:{width}}  {pair:{2 * width + 3}} {_numbers(row, sign)}{row['differ']:>8.1%}{gain:>7}"
        lines.append(line + ("" if detect is None else f"{blocks_needed(row['deviation'], detect):>19,}"))
    lines += _told_corrected(sorted(summary.get("corrected", ()), key=place), width)
    lines += _told_invaders(sorted(summary["invaders"], key=place), width)
    lines += _told_ranking(summary, width)
    lines += _told_behaviour(sorted(summary.get("behaviour", ()), key=place), width)
    lines += _told_sessions(sorted(summary.get("sessions", ()), key=place), width)
    lines += _told_failures(summary.get("failures", ()))
    return "\n".join(lines)


def _told_corrected(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    if not rows:
        return []
    lines = ["", f"{'field':{width}}  {'hero, luck of the deal taken out':{2 * width + 3}} "]
    lines[-1] += "".join(f"{t:>10}" for t in _ENDS)
    for row in rows:
        score = "".join(f"{_number(row['score'][end], 4):>10}" for end in ("mean", "low", "high"))
        lines.append(f"{row['field']:{width}}  {row['hero']:{max(2 * width + 3, 32)}} {score}")
    return lines


def _told_invaders(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    if not rows:
        return []
    lines = [
        "",
        f"{'residents':{max(width, 9)}}  {'best invader':{max(width, 12)}}{'score':>10}{'low':>10}{'high':>10}",
    ]
    for row in rows:
        score = "".join(f"{_number(row['score'][end], 4):>10}" for end in ("mean", "low", "high"))
        lines.append(
            f"{row['residents']:{max(width, 9)}}  {row['best_invader']:{max(width, 12)}}{score}  {row['verdict']}"
        )
    return lines


def _told_ranking(summary: Mapping[str, Any], width: int) -> list[str]:
    ratings = summary.get("openskill")
    lines = ["", f"{'agent':{width}}  {'worst field':{max(width, 11)}}" + "".join(f"{t:>10}" for t in _ENDS)]
    lines[-1] += f"{'OpenSkill':>11} (no evidence)" if ratings else ""
    for row in summary["worst_cases"]:
        score = "".join(f"{_number(row[end], 4):>10}" for end in ("mean", "low", "high"))
        rating = f"{ratings[row['agent']]['mu']:>11.1f}" if ratings and row["agent"] in ratings else ""
        lines.append(f"{row['agent']:{width}}  {row['setting']:{max(width, 11)}}{score}{rating}")
    return lines


def _told_behaviour(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    own = [row for row in rows if row["hero"] in (row["agent"], MIXED)]
    if not own:
        return []
    rates = [name for name in own[0] if name not in ("field", "hero", "agent", "deals", "failed")]
    lines = ["", f"{'field':{width}}  {'per deal':{width}}{''.join(f'{name:>11}' for name in rates)}"]
    for row in own:
        lines.append(
            f"{row['field']:{width}}  {row['agent']:{width}}" + "".join(f"{row[name]:>11.3f}" for name in rates)
        )
    return lines


def _told_sessions(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    if not rows:
        return []
    titles = "".join(f"{title:>10}" for title in ("chips", "low", "high", "median", "ruined", "low", "high"))
    lines = ["", f"{'field':{width}}  {'a session':{width}}{titles}"]
    for row in rows:
        texts = [_number(row["chips"][end], 1) for end in ("mean", "low", "high")]
        texts.append(_number(row["median_chips"], 1))
        texts += [f"{row['ruined'][end]:.1%}" for end in ("mean", "low", "high")]
        cut = f"  {row['truncated']} cut short: the pot outgrew 2^53 chips" if row["truncated"] else ""
        lines.append(f"{row['field']:{width}}  {row['hero']:{width}}" + "".join(f"{text:>10}" for text in texts) + cut)
    return lines


def _told_failures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [""] if rows else []
    for row in rows:
        counts = ", ".join(f"{row[kind]:,} {kind.replace('_', ' ')}" for kind in row if kind not in ("agent", "first"))
        lines.append(f"FAILED: {row['agent']} forfeited its game at decisions that {counts}; first: {row['first']}")
    return lines


def _header() -> str:
    return "".join(f"{title:>10}" for title in ("score", "low", "high", "chips", "low", "high"))


def _numbers(row: Mapping[str, Any], sign: int = 1) -> str:
    texts = []
    for quantity, digits in (("score", 4), ("chips", 2)):
        interval = Interval(**row[quantity])
        ends = (interval.low, interval.high) if sign > 0 else (-interval.high, -interval.low)
        texts += [_number(value, digits) for value in (sign * interval.mean, *ends)]
    return "".join(f"{text:>10}" for text in texts)


def _number(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    return f"{value:+z.{digits}f}" if abs(value) < 1e6 else f"{value:+.3g}"
