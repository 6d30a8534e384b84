"""What a family of games must offer, and what all families share: the state header and the action layout.

A family is a folder with its rules as data, one state record, a few compiled functions on that record and one View of
it. What drives games (batch, environments, agents, tournaments) knows a family through :class:`Family`; records also
read a few state fields by name, which docs/architecture.md lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bestia_env.cards import Pack, cards_of, mask_of
from bestia_env.errors import IllegalActionError
from bestia_env.session import SessionConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env._loops import Loops

__all__ = ["MAX_SEATS", "ActionLayout", "Family", "Rules", "TensorLayout", "record_dtype", "state_header"]

MAX_SEATS = 10


def record_dtype(fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """An aligned record dtype whose fields are attributes both in plain Python and in compiled code."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


def state_header(chips: str) -> list[tuple[Any, ...]]:
    """The fields every family's state begins with; ``chips`` is the dtype of what a seat wins.

    ``net`` is what each seat won in the latest deal that ended and ``score_top / score_base`` its score (integers, so
    that zero means zero). ``actor`` is -1 once the game is over.
    """
    return [
        ("key", "u8"),  # of everything random in the game: seed, row and game folded into one
        ("deal", "i4"),  # within the game: deals that ended before this one
        ("decision", "i4"),  # within the deal
        ("phase", "i4"),
        ("actor", "i4"),
        ("truncated", "i4"),
        ("over", "i4"),
        ("seed", "u8"),
        ("row", "i8"),
        ("game", "i8"),
        ("score_base", "i8"),
        ("score_top", "i8", MAX_SEATS),
        ("net", chips, MAX_SEATS),
    ]


@dataclass(frozen=True)
class ActionLayout:
    """Integer ranges of actions: verbs, then exchange subsets, then cards (design 7).

    Args:
        verbs: names of the verbs the game needs, in the order of their actions.
        exchange_hand: most cards an exchange chooses from; 0: the game has no exchange. Action
            ``first_exchange + bits`` lays off the cards of the hand, sorted by id, whose bit is set.
        pack: the pack whose cards are the last actions; None: no card is ever chosen.
    """

    verbs: tuple[str, ...]
    exchange_hand: int = 0
    pack: Pack | None = None

    @property
    def first_exchange(self) -> int:
        """Action of the empty exchange."""
        return len(self.verbs)

    @property
    def first_card(self) -> int:
        """Action of card 0."""
        return self.first_exchange + (1 << self.exchange_hand if self.exchange_hand else 0)

    @property
    def num_actions(self) -> int:
        """Size of the action space."""
        return self.first_card + (self.pack.num_cards if self.pack else 0)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Neutral names of all actions, such as ``knock``, ``exchange[011]`` (lowest card first), ``play[Ah]``."""
        exchanges = range(self.first_card - self.first_exchange)
        width = self.exchange_hand
        cards = range(self.pack.num_cards if self.pack else 0)
        return (
            *self.verbs,
            *(f"exchange[{''.join(str(bits >> place & 1) for place in range(width))}]" for bits in exchanges),
            *(f"play[{self.pack.text(card)}]" for card in cards if self.pack),
        )

    def name(self, action: int) -> str:
        """The neutral name of an action.

        Raises:
            IllegalActionError: not an action of this game.
        """
        return self.names[self.check(action)]

    def check(self, action: object) -> int:
        """The action as an int.

        Raises:
            IllegalActionError: not an integer of the action space.
        """
        if isinstance(action, bool) or not isinstance(action, int | np.integer) or not 0 <= action < self.num_actions:
            raise IllegalActionError(f"action={action!r}; allowed are integers from 0 to {self.num_actions - 1}")
        return int(action)

    def text(self, action: int, exchange_cards: int = 0) -> str:
        """An action as players say it: ``knock``, ``exchange 7s 2d``, ``play Ah``.

        Args:
            action: an action of the layout.
            exchange_cards: mask of the cards the actor may lay off, from his own view.
        """
        action = self.check(action)
        if action < self.first_exchange:
            return self.verbs[action]
        assert self.pack is not None
        if action >= self.first_card:
            return f"play {self.pack.text(action - self.first_card)}"
        bits = action - self.first_exchange
        hand = cards_of(exchange_cards)
        if bits >> len(hand):
            raise IllegalActionError(f"action {self.name(action)} lays off more cards than the {len(hand)} in hand")
        chosen = [card for place, card in enumerate(hand) if bits >> place & 1]
        return " ".join(["exchange", *(self.pack.text(card) for card in chosen)])

    def action(self, text: str, exchange_cards: int = 0) -> int:
        """The action of a text: the inverse of :meth:`text`; cards may be named in any order.

        Raises:
            IllegalActionError: no action of this game reads so, or an exchange names a card not in hand.
        """
        words = text.split()
        if len(words) == 1 and words[0] in self.verbs:
            return self.verbs.index(words[0])
        if self.pack is not None and len(words) == 2 and words[0] == "play":
            return self.first_card + self.pack.card(words[1])
        if self.pack is not None and self.exchange_hand and words[:1] == ["exchange"]:
            chosen = mask_of(self.pack.cards(" ".join(words[1:])))
            if chosen & ~exchange_cards:
                missing = self.pack.texts(cards_of(chosen & ~exchange_cards))
                raise IllegalActionError(f"action {text!r}: {missing} not in hand")
            hand = cards_of(exchange_cards)
            return self.first_exchange + sum(1 << place for place, card in enumerate(hand) if chosen >> card & 1)
        known = [
            *self.verbs,
            *(["exchange CARDS"] if self.exchange_hand else []),
            *(["play CARD"] if self.pack else []),
        ]
        raise IllegalActionError(f"action {text!r}; allowed are {', '.join(known)}")


@dataclass(frozen=True)
class TensorLayout:
    """Named slices of the observation tensor (float32 in [0, 1]) and the record its compiled encoder reads."""

    slices: Mapping[str, slice]
    shapes: Mapping[str, tuple[int, ...]]
    meanings: Mapping[str, str]
    parameters: NDArray[Any]

    @property
    def size(self) -> int:
        """Numbers in the tensor."""
        return max(int(part.stop) for part in self.slices.values())


class Rules(Protocol):
    """What drivers may ask of any family's rules."""

    @property
    def variant(self) -> str:
        """The preset's name."""

    @property
    def num_players(self) -> int:
        """Seats."""

    def full_text(self) -> str:
        """The rules with every field spelled out."""


class Family(Protocol):
    """A family of games: everything the drivers know of it.

    ``phases`` are the names of the values that the state's ``phase`` takes, in order.
    """

    name: str
    phases: tuple[str, ...]
    state_dtype: np.dtype[Any]
    view_dtype: np.dtype[Any]
    reward_dtype: np.dtype[Any]
    loops: Loops

    def layout(self, rules: Any) -> ActionLayout:
        """The action layout of a game."""

    def parameters(self, rules: Any, session: SessionConfig) -> NDArray[Any]:
        """Rules and session as the one-element record array the compiled functions read.

        Raises:
            RulesError: the session does not fit the rules.
        """

    def tensor(self, rules: Any, pad_players: int | None = None) -> TensorLayout:
        """The tensor's layout; ``pad_players`` gives one size for all table sizes up to it."""

    def decode(self, tensor: NDArray[np.float32], layout: TensorLayout, rules: Any) -> dict[str, Any]:
        """What a tensor says, in the View's terms: the proof that it tells neither less nor more."""

    def inject(self, rules: Any, state: Any, deal: Mapping[str, Any], rng_key: int) -> None:
        """Sets up a game that is about to begin: what ``deal`` does not say is completed at random.

        Args:
            rules: the rules of the game.
            state: the record to fill; its address is set already, a compiled ``begin`` follows.
            deal: the deal schema of design 8.2.
            rng_key: key of the random completion.

        Raises:
            RecordError: the deal contradicts itself or the rules; the state is untouched.
        """

    def deal_keys(self) -> frozenset[str]:
        """The keys that ``inject`` understands."""

    def public_keys(self) -> frozenset[str]:
        """The keys of ``view_dict`` that the whole table knows; every other is the seat's own."""

    def view_text(self, rules: Any, view: Any) -> str:
        """A View for people."""

    def view_dict(self, rules: Any, view: Any) -> dict[str, Any]:
        """A View as plain JSON-able values."""

    def full_state(self, rules: Any, state: Any) -> dict[str, Any]:
        """Perfect information about a game, apart from any observation."""

    def settlement(self, rules: Any, state: Any) -> dict[str, Any]:
        """The latest deal that ended: tricks, shares, penalties, pot, carry, score; a new dict at every call."""

    def sides(self, rules: Any) -> tuple[tuple[int, ...], ...]:
        """Seats that share a reward, one tuple a side; every seat is alone unless a family says otherwise."""
        return tuple((seat,) for seat in range(rules.num_players))
