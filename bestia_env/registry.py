"""Which games there are: presets, families, and rules from names or texts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.errors import RulesError
from bestia_env.presets import PresetRules, Variant
from bestia_env.rams.rules import RamsRules
from bestia_env.rules_text import parse_call

if TYPE_CHECKING:
    from bestia_env.family import Family, Rules

__all__ = ["default_players", "family_of", "make_rules", "mini_variants", "parse_rules", "player_range", "variants"]

# A family: the class of its rules, and the module whose FAMILY drives it (imported when a game is first played, because
# it loads the compiler).
_FAMILIES: tuple[tuple[type[PresetRules], str], ...] = (
    (RamsRules, "bestia_env.rams.game"),
    (BettelmannRules, "bestia_env.bettelmann.game"),
)


def variants() -> tuple[str, ...]:
    """The name of every preset that is a documented game."""
    return tuple(name for rules, _ in _FAMILIES for name, row in rules.presets().items() if row.listed)


def mini_variants() -> tuple[str, ...]:
    """The name of every mini game: presets small enough to be solved, made for research and played by nobody."""
    return tuple(name for rules, _ in _FAMILIES for name, row in rules.presets().items() if row.mini)


def _rules_with(variant: str) -> type[PresetRules]:
    for rules, _ in _FAMILIES:
        if variant in rules.presets():
            return rules
    raise RulesError(f"variant={variant!r}; allowed are {', '.join(variants() + mini_variants())}")


def _named(variant: str) -> Variant:
    if variant not in variants() + mini_variants():
        raise RulesError(f"variant={variant!r}; allowed are {', '.join(variants() + mini_variants())}")
    return _rules_with(variant).presets()[variant]


def player_range(variant: str) -> tuple[int, int]:
    """Fewest and most seats of a preset.

    Raises:
        RulesError: no such preset.
    """
    return _named(variant).players


def default_players(variant: str) -> int:
    """The table size of a preset when none is given.

    Raises:
        RulesError: no such preset.
    """
    return _named(variant).default_players


def make_rules(variant: str, num_players: int | None = None, **changes: Any) -> Rules:
    """The rules of a preset, with some fields changed.

    Raises:
        RulesError: unknown preset or field, a table size the preset does not allow, or values the rules reject.
    """
    return _rules_with(variant).make(variant, num_players, **changes)


def parse_rules(text: str) -> Rules:
    """The rules of a text such as ``bestia(num_players=5, penalty_cap=30)``: the inverse of ``str``.

    Raises:
        RulesError: the text cannot be read, or the rules are rejected.
    """
    variant, values = parse_call(text)
    if "variant" in values:
        raise RulesError(f"rules text {text!r}: variant is the name before the bracket, not a field")
    return _rules_with(variant).make(variant, **values)  # type: ignore[arg-type]  # checked by make


def family_of(rules: Rules) -> Family:
    """The family that plays these rules; the first call of a process loads its compiled code."""
    for rules_class, module in _FAMILIES:
        if isinstance(rules, rules_class):
            return cast("Family", import_module(module).FAMILY)
    raise RulesError(f"rules={rules!r}; allowed are rules made by make_rules or parse_rules")
