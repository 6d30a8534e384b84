"""Which games there are: presets, families, and rules from names or texts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from bestia_env.bettelmann import variants as bettelmann
from bestia_env.errors import RulesError
from bestia_env.rams import variants as rams
from bestia_env.rules_text import parse_call

if TYPE_CHECKING:
    from bestia_env.family import Family, Rules

__all__ = ["default_players", "family_of", "make_rules", "parse_rules", "player_range", "variants"]

# A family: where its presets are, and the module whose FAMILY drives it (imported when a game is first played, because
# it loads the compiler). The family's own name is accepted as a preset without limits.
_FAMILIES: dict[str, tuple[Any, str]] = {
    "rams": (rams, "bestia_env.rams.game"),
    "bettelmann": (bettelmann, "bestia_env.bettelmann.game"),
}


def variants() -> tuple[str, ...]:
    """The name of every preset."""
    return tuple(name for presets, _ in _FAMILIES.values() for name in presets.VARIANTS)


def _presets_with(variant: str) -> Any:
    for family, (presets, _) in _FAMILIES.items():
        if variant in presets.VARIANTS or variant == family:
            return presets
    raise RulesError(f"variant={variant!r}; allowed are {', '.join(variants())}")


def player_range(variant: str) -> tuple[int, int]:
    """Fewest and most seats of a preset.

    Raises:
        RulesError: no such preset.
    """
    presets = _presets_with(variant)
    if variant not in presets.VARIANTS:
        raise RulesError(f"variant={variant!r}; allowed are {', '.join(variants())}")
    low, high = presets.VARIANTS[variant].players
    return low, high


def default_players(variant: str) -> int:
    """The table size of a preset when none is given.

    Raises:
        RulesError: no such preset.
    """
    player_range(variant)
    return int(_presets_with(variant).VARIANTS[variant].default_players)


def make_rules(variant: str, num_players: int | None = None, **changes: Any) -> Rules:
    """The rules of a preset, with some fields changed.

    Raises:
        RulesError: unknown preset or field, a table size the preset does not allow, or values the rules reject.
    """
    return cast("Rules", _presets_with(variant).make(variant, num_players, **changes))


def parse_rules(text: str) -> Rules:
    """The rules of a text such as ``bestia(num_players=5, penalty_cap=30)``: the inverse of ``str``.

    Raises:
        RulesError: the text cannot be read, or the rules are rejected.
    """
    variant, values = parse_call(text)
    if "variant" in values:
        raise RulesError(f"rules text {text!r}: variant is the name before the bracket, not a field")
    return cast("Rules", _presets_with(variant).make(variant, **values))


def family_of(rules: Rules) -> Family:
    """The family that plays these rules; the first call of a process loads its compiled code."""
    for _, (presets, module) in _FAMILIES.items():
        if isinstance(rules, presets.RULES):
            return cast("Family", import_module(module).FAMILY)
    raise RulesError(f"rules={rules!r}; allowed are rules made by make_rules or parse_rules")
