"""What the rules of every family share: presets as rows of values, the text form, checks that name the field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Self

from bestia_env.cards import Pack, pack_named
from bestia_env.errors import RulesError
from bestia_env.rules_text import format_call

__all__ = ["PresetRules", "Variant", "check_kinds", "require", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A documented game.

    Args:
        players: fewest and most seats; hard limits of the preset.
        default_players: the table size when none is given.
        source: where the game is described.
        values: what differs from the defaults of the family's rules.
        packs: (most players, pack) pairs where the pack depends on the table size, ascending.
        listed: False: no documented game of the rule book.
        mini: True: a game small enough to be solved; else an unlisted name is one for rules given as data.
    """

    players: tuple[int, int]
    default_players: int
    source: str
    values: dict[str, object]
    packs: tuple[tuple[int, str], ...] = ()
    listed: bool = True
    mini: bool = False

    def defaults(self, num_players: object) -> dict[str, object]:
        """The preset's values for a table of ``num_players``."""
        for most, pack in self.packs:
            if type(num_players) is int and num_players <= most:
                return self.values | {"pack": pack}
        return dict(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetRules:
    """Base of a family's rules: a frozen dataclass, every field with a default, whose presets are rows of values.

    Args:
        variant: the preset whose values are the defaults of the text form; a label, never compared by an engine.
        num_players: seats.
        pack: a pack's name or a :class:`~bestia_env.cards.Pack`.
    """

    variant: str
    num_players: int
    pack: str | Pack

    @classmethod
    def presets(cls) -> Mapping[str, Variant]:
        """Every name that rules of this family may be labelled with."""
        raise NotImplementedError  # each family names its own; a base without presets has no rules to make

    @classmethod
    def make(cls, variant: str, num_players: int | None = None, **changes: object) -> Self:
        """The rules of a preset with some fields changed.

        Raises:
            RulesError: unknown preset or field, table size out of the preset's range, or values the rules reject.
        """
        preset = cls._preset(variant)
        players = preset.default_players if num_players is None else num_players
        known = [spec.name for spec in fields(cls) if spec.name not in ("variant", "num_players")]
        for field in changes:
            if field not in known:
                raise RulesError(f"unknown field {field!r} of {variant}; allowed are {', '.join(known)}")
        values = preset.defaults(players) | changes
        return cls(variant=variant, num_players=players, **values)  # type: ignore[arg-type]  # checked by the record

    @classmethod
    def _preset(cls, variant: str) -> Variant:
        if variant not in cls.presets():
            raise RulesError(f"variant={variant!r}; allowed are {', '.join(cls.presets())}")
        return cls.presets()[variant]

    @property
    def table_sizes(self) -> tuple[int, int]:
        """Fewest and most seats of the preset these rules are labelled with.

        Raises:
            RulesError: the label is no preset; only with one the text form can be read back.
        """
        return self._preset(self.variant).players

    @property
    def cards(self) -> Pack:
        """The pack of cards."""
        return self.pack if isinstance(self.pack, Pack) else pack_named(self.pack)

    def values(self) -> dict[str, object]:
        """Every field but the label, by name."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self) if spec.name != "variant"}

    def full_text(self) -> str:
        """The rules with every field spelled out, as deal records keep them."""
        return format_call(self.variant, self.values())

    def __str__(self) -> str:
        """The table size and every field in which the rules differ from their preset."""
        return _text(self)


@lru_cache(maxsize=256)
def _text(rules: PresetRules) -> str:
    """Kept, because every View as text or as plain values names the rules."""
    plain = rules.make(rules.variant, rules.num_players).values()
    changed = {name: value for name, value in rules.values().items() if value != plain[name]}
    return format_call(rules.variant, {"num_players": rules.num_players} | changed)


def require(rules: PresetRules, field: str, ok: bool, allowed: str) -> None:
    """Refuses a field's value unless ``ok``.

    Raises:
        RulesError: naming the field, its value and what is allowed.
    """
    if not ok:
        raise RulesError(f"{field}={getattr(rules, field)!r}; allowed is {allowed}")


def whole(value: object, low: int, high: int) -> bool:
    """Whether a value is an integer from ``low`` to ``high``; True and False are none."""
    return type(value) is int and low <= value <= high


def check_kinds(rules: PresetRules, choices: Mapping[str, tuple[str, ...]]) -> None:
    """Refuses words that are not among a field's ``choices``, booleans that are none, and a pack of another type.

    Raises:
        RulesError: naming the field, its value and what is allowed.
    """
    for field, words in choices.items():
        require(rules, field, getattr(rules, field) in words, f"one of {', '.join(words)}")
    for spec in fields(rules):
        if spec.type == "bool":
            require(rules, spec.name, type(getattr(rules, spec.name)) is bool, "True or False")
    require(rules, "pack", isinstance(rules.pack, str | Pack), "a pack's name or a Pack")
