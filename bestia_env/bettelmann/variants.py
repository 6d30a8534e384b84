"""The documented forms of Bettelmann, one entry each: the table of rules: bettelmann 3.6 as rows of values."""

from __future__ import annotations

from dataclasses import dataclass

from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.errors import RulesError

__all__ = ["RULES", "VARIANTS", "Variant", "differences", "make"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A documented game.

    Args:
        players: fewest and most seats; hard limits of the preset.
        default_players: the table size when none is given.
        source: where the game is described.
        values: what differs from :class:`~bestia_env.bettelmann.rules.BettelmannRules`'s defaults.
    """

    players: tuple[int, int]
    default_players: int
    source: str
    values: dict[str, object]


RULES = BettelmannRules

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


def make(variant: str, num_players: int | None = None, **changes: object) -> BettelmannRules:
    """The rules of a preset with some fields changed.

    Raises:
        RulesError: unknown preset or field, table size out of the preset's range, or values the rules reject.
    """
    if variant not in VARIANTS:
        raise RulesError(f"variant={variant!r}; allowed are {', '.join(VARIANTS)}")
    preset = VARIANTS[variant]
    players = preset.default_players if num_players is None else num_players
    low, high = preset.players
    if type(players) is not int or not low <= players <= high:
        raise RulesError(f"num_players={players!r}; {variant} allows {low} to {high}")
    known = [name for name in BettelmannRules.__dataclass_fields__ if name not in ("variant", "num_players")]
    for field in changes:
        if field not in known:
            raise RulesError(f"unknown field {field!r} of {variant}; allowed are {', '.join(known)}")
    values = preset.values | changes
    return BettelmannRules(variant=variant, num_players=players, **values)  # type: ignore[arg-type]  # checked by the record


def differences(rules: BettelmannRules) -> dict[str, object]:
    """The table size and every field in which rules differ from the preset they are labelled with."""
    preset = VARIANTS.get(rules.variant)
    values = preset.values if preset else {}
    base = BettelmannRules(variant=rules.variant, num_players=rules.num_players, **values)  # type: ignore[arg-type]  # a row of the table
    changed = {name: value for name, value in rules.values().items() if value != getattr(base, name)}
    return {"num_players": rules.num_players} | changed
