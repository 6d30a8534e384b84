"""Packs as data, card ids and card texts.

A card is an integer id: suits run in the pack's order, low rank to high within a suit, so inside one suit the higher
id is the better card. A set of cards is a 64-bit mask with bit ``id``. The text of a card is its rank followed by its
suit: ``Ah``, ``3s``, ``10d`` (rules: rams 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bestia_env.errors import RulesError

__all__ = ["MAX_CARDS", "PACKS", "Pack", "cards_of", "mask_of", "pack_named"]

MAX_CARDS = 52
SUITS = "cdhs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A pack of cards.

    Args:
        name: the name it is printed under; a pack given as data may leave it empty.
        suits: one letter a suit, out of ``cdhs``, in the order of the card ids.
        ranks: rank texts, high to low, equal in every suit.

    Raises:
        RulesError: repeated or unknown suits, repeated ranks, fewer than two ranks, more than 52 cards.
    """

    name: str = ""
    suits: str = SUITS
    ranks: tuple[str, ...]

    def __post_init__(self) -> None:
        for field in ("suits", "ranks"):
            if not isinstance(getattr(self, field), Sequence):
                raise RulesError(f"pack: {field}={getattr(self, field)!r}; allowed are letters and rank texts in order")
        object.__setattr__(self, "ranks", tuple(self.ranks))
        if not self.suits or len(set(self.suits)) != len(self.suits) or not set(self.suits) <= set(SUITS):
            raise RulesError(f"pack: suits={self.suits!r}; allowed are different letters out of {SUITS!r}")
        plain = all(isinstance(rank, str) and rank.isalnum() for rank in self.ranks)
        if not plain or len(self.ranks) < 2 or len(set(self.ranks)) != len(self.ranks):
            raise RulesError(
                f"pack: ranks={self.ranks!r}; allowed are different texts of letters and digits, high to low"
            )
        if self.num_cards > MAX_CARDS:
            raise RulesError(f"pack: {self.num_cards} cards; at most {MAX_CARDS} are allowed")

    @property
    def num_ranks(self) -> int:
        """Cards in one suit."""
        return len(self.ranks)

    @property
    def num_cards(self) -> int:
        """Cards in the pack."""
        return len(self.suits) * len(self.ranks)

    def text(self, card: int) -> str:
        """The text of a card id, such as ``Ah``."""
        suit, rank = divmod(int(card), self.num_ranks)
        return f"{self.ranks[self.num_ranks - 1 - rank]}{self.suits[suit]}"

    def texts(self, cards: Iterable[int]) -> str:
        """Card ids as one line of texts, in the order given."""
        return " ".join(self.text(card) for card in cards)

    def card(self, text: str) -> int:
        """The id of a card text.

        Raises:
            RulesError: the pack has no such card.
        """
        rank, suit = text[:-1], text[-1:]
        if suit not in self.suits or not suit or rank not in self.ranks:
            raise RulesError(
                f"card {text!r} is not in the pack {self.name or 'given'}: "
                f"ranks {' '.join(self.ranks)}, suits {self.suits}"
            )
        return self.suits.index(suit) * self.num_ranks + self.num_ranks - 1 - self.ranks.index(rank)

    def cards(self, text: str) -> list[int]:
        """The ids of card texts separated by blanks, in the order given.

        Raises:
            RulesError: a card the pack does not have, or a card named twice.
        """
        cards = [self.card(word) for word in text.split()]
        if len(set(cards)) != len(cards):
            twice = next(card for card in cards if cards.count(card) > 1)
            raise RulesError(f"card {self.text(twice)} is named twice in {text!r}")
        return cards


def mask_of(cards: Iterable[int]) -> int:
    """The bit mask of card ids."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


def cards_of(mask: int) -> list[int]:
    """The card ids of a bit mask, ascending."""
    mask = int(mask)
    return [card for card in range(mask.bit_length()) if mask >> card & 1]


def _pack(name: str, ranks: str) -> Pack:
    return Pack(name=name, ranks=tuple(ranks.split()))


PACKS: dict[str, Pack] = {
    pack.name: pack
    for pack in (
        _pack("italian40", "A 3 K Q J 7 6 5 4 2"),
        _pack("italian36", "A 3 K Q J 7 6 5 4"),
        _pack("piquet32", "A K Q J 10 9 8 7"),
        _pack("french52", "A K Q J 10 9 8 7 6 5 4 3 2"),
    )
}


def plain_pack(pack: str | Pack) -> str | Pack:
    """A pack as its text form names it: a known pack by its name, any other without one."""
    if isinstance(pack, str):
        return pack
    for name, known in PACKS.items():
        if (known.suits, known.ranks) == (pack.suits, pack.ranks):
            return name
    return Pack(suits=pack.suits, ranks=pack.ranks)


def pack_named(name: str) -> Pack:
    """The pack of that name.

    Raises:
        RulesError: no such pack.
    """
    if name not in PACKS:
        raise RulesError(f"pack={name!r}; allowed are {', '.join(PACKS)} or a Pack given as data")
    return PACKS[name]
