"""The documented forms of Bettelmann, one entry each: the table of rules: bettelmann 3.6 as rows of values."""

from __future__ import annotations

from bestia_env.presets import Variant

__all__ = ["VARIANTS"]

VARIANTS: dict[str, Variant] = {
    "bettelmann": Variant(players=(2, 4), default_players=2, source="002", values={}),
    # 20 minutes at one card a second
    "bettelmann_20min": Variant(players=(2, 4), default_players=2, source="002", values={"limit_cards": 1200}),
    "bettelmann_records": Variant(players=(2, 2), default_players=2, source="Mann's list of records", values={}),
    "camicia": Variant(
        players=(2, 4),
        default_players=2,
        source="Italian Wikipedia; timendum/carte",
        values={"pack": "italian40", "penalties": (("A", 1), ("2", 2), ("3", 3))},
    ),
}
