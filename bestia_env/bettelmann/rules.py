"""The rules of Bettelmann as data: one frozen record with a field for every row of rules: bettelmann 3.6."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from bestia_env.bettelmann.variants import VARIANTS
from bestia_env.cards import Pack, plain_pack
from bestia_env.errors import RulesError
from bestia_env.presets import PresetRules, Variant, check_kinds, require, whole

__all__ = ["CHOICES", "MAX_CAP", "MAX_PENALTY", "MAX_PLAYERS", "BettelmannRules"]

MAX_PLAYERS = 4
MAX_PENALTY = 10
MAX_CAP = 250_000  # up to here float32 logarithms tell any two counts of cards apart

# Every field that takes one of a few words; a word's place is its number in compiled code.
CHOICES: dict[str, tuple[str, ...]] = {
    "partial": ("close", "pass_on"),
    "elimination": ("late", "immediate"),
    "on_limit": ("stacks_only", "finish_pile"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BettelmannRules(PresetRules):
    """How a game of Bettelmann is played; one deal is one game. Counts are cards laid.

    Every field is one row of the table in rules: bettelmann 3.6; the defaults are the game of the source. A preset is
    one value of this record (:mod:`bestia_env.bettelmann.variants`).

    Args:
        variant: the preset whose values are the defaults of the text form; a label, never compared by the engine.
        num_players: seats, 2 to 4.
        pack: a pack's name or a :class:`~bestia_env.cards.Pack`.
        penalties: pairs (rank, cards the next seat must pay), also accepted as a mapping; kept in order of value.
        partial: a seat runs out while it pays: ``close``: the payment counts as made; ``pass_on``: the next active seat
            owes what is still due, and if that is the owner of the debt he takes the pile.
        elimination: ``late``: a seat without cards is out when it would have to lay; ``immediate``: with its last card,
            unless it owns the pending penalty.
        limit_cards: cards laid after which the largest stack wins; None: no limit.
        on_limit: at the limit ``stacks_only`` stops at once, pile cards count for nobody; ``finish_pile`` waits until
            the pile is taken.
        detect_cycle: whether a game ends as a draw when a position at the start of a pile comes back. Without it an
            endless game runs to ``hard_cap``, which is warned about.
        hard_cap: cards laid after which the seats that still hold cards draw.

    Raises:
        RulesError: a value out of range.
    """

    variant: str = "bettelmann"
    num_players: int = 2
    pack: str | Pack = "french52"
    penalties: tuple[tuple[str, int], ...] = (("J", 1), ("Q", 2), ("K", 3), ("A", 4))
    partial: str = "close"
    elimination: str = "late"
    limit_cards: int | None = None
    on_limit: str = "stacks_only"
    detect_cycle: bool = True
    hard_cap: int = 100_000

    def __post_init__(self) -> None:
        low, high = self.table_sizes
        if not whole(self.num_players, low, high):
            raise RulesError(f"num_players={self.num_players!r}; {self.variant} allows {low} to {high}")
        check_kinds(self, CHOICES)
        enough = self.cards.num_cards >= self.num_players
        require(self, "pack", enough, f"a pack of at least {self.num_players} cards (num_players)")
        object.__setattr__(self, "pack", plain_pack(self.pack))
        object.__setattr__(self, "penalties", _penalties(self.penalties, self.cards))
        require(self, "hard_cap", whole(self.hard_cap, 1, MAX_CAP), f"an integer from 1 to {MAX_CAP}")
        limited = self.limit_cards is None or whole(self.limit_cards, 1, self.hard_cap)
        require(self, "limit_cards", limited, f"None or an integer from 1 to {self.hard_cap} (hard_cap)")
        if not self.detect_cycle:
            warnings.warn(
                f"detect_cycle=False: an endless game lasts until hard_cap={self.hard_cap} cards", stacklevel=3
            )

    @classmethod
    def presets(cls) -> Mapping[str, Variant]:
        """The documented forms of the game."""
        return VARIANTS


def _penalties(given: object, pack: Pack) -> tuple[tuple[str, int], ...]:
    """Penalties as pairs in ascending order of value, then of rank; a rank that was read as a number is text again."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, tuple | list) or not pairs or not all(_is_pair(pair) for pair in pairs):
        raise RulesError(f"penalties={given!r}; allowed are one or more pairs (rank, cards to pay)")
    values = [(str(rank), cards) for rank, cards in pairs]
    ranks = [rank for rank, _ in values]
    for rank, cards in values:
        if rank not in pack.ranks or ranks.count(rank) > 1:
            raise RulesError(f"penalties: rank {rank!r} in {given!r}; allowed, once each, are {' '.join(pack.ranks)}")
        if not whole(cards, 1, MAX_PENALTY):
            raise RulesError(f"penalties: {rank}={cards!r}; allowed is an integer from 1 to {MAX_PENALTY}")
    return tuple(sorted(values, key=lambda pair: (pair[1], -pack.ranks.index(pair[0]))))


def _is_pair(pair: object) -> bool:
    return isinstance(pair, tuple | list) and len(pair) == 2 and type(pair[0]) in (str, int)
