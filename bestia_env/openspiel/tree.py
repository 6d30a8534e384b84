"""One deal as a tree of positions: the engine plays it, chance names each card when somebody gets to see it.

Nothing here knows OpenSpiel. A :class:`Node` never changes, so a copy of a game is the same node. Cards that go
together are named in ascending order with the probabilities that make every set of them equally likely: no order of
dealing blows up the tree. What a family draws, and where its record keeps it, is said by its ``Cards``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bestia_env.batch import GameBatch
from bestia_env.cards import cards_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.cards import Pack
    from bestia_env.family import Rules
    from bestia_env.session import SessionConfig

__all__ = ["Cards", "Draw", "Node", "Tree"]


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance's next question: which ``size`` members of ``pool``, all such sets being equally likely.

    Args:
        source: where they come from, for the family's ``Cards``.
        what: the question in words; an outcome reads ``what`` and the card.
        pool: mask of card ids (of seats, where the dealer is drawn).
        size: how many.
    """

    source: str
    what: str
    pool: int
    size: int

    def outcomes(self, chosen: Sequence[int]) -> list[tuple[int, float]]:
        """What may come after ``chosen``, ascending, with its probability."""
        left = [card for card in cards_of(self.pool) if not chosen or card > chosen[-1]]
        wanted = self.size - len(chosen)
        ways = comb(len(left), wanted)
        last = len(left) - wanted
        return [(card, comb(len(left) - 1 - place, wanted - 1) / ways) for place, card in enumerate(left[: last + 1])]


class Cards(Protocol):
    """What a family draws: the one thing the engine's rules do not say by themselves.

    Attributes:
        derived: keys of the family's ``view_dict`` that follow from its other keys and the rules.
    """

    derived: frozenset[str]

    def opening(self, drawn: Sequence[tuple[int, ...]]) -> Draw | None:
        """The next draw of the deal after those in ``drawn``; None: everything that is seen has been dealt."""

    def deal(self, drawn: Sequence[tuple[int, ...]]) -> Mapping[str, Any]:
        """The deal to inject (design 8.2)."""

    def needed(self, before: Any, after: Any) -> tuple[Draw, ...]:
        """What an action drew from cards that nobody has seen: told from the records before and after it."""

    def place(self, record: Any, draws: Sequence[Draw], drawn: Sequence[tuple[int, ...]]) -> None:
        """Arranges the unseen cards of a record so that the action about to be played draws ``drawn``."""

    def note(self, record: Any) -> int:
        """What a resample must know of a decision about to be made: the cards an exchange chooses from, or shows."""

    def seen(self, record: Any, seat: int, notes: Sequence[int]) -> int:
        """Mask of the cards that a seat has seen, ``notes`` being those of all decisions so far."""

    def bounds(self, pot: int) -> dict[str, tuple[float, float]]:
        """The least and most of each kind of reward that a deal with ``pot`` chips before stakes can bring a seat."""

    def max_decisions(self) -> int:
        """More decisions than this no deal has."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A position.

    Args:
        record: the engine's state, one row; before ``action`` while chance has yet to name what the action draws; None
            until the cards are dealt. Never written to.
        draws: what chance is asked for the deal or for ``action``; empty where a seat decides and at the end.
        drawn: the complete answers, as many as questions are settled.
        chosen: the answer to the next question so far.
        action: the decision that waits for its cards.
        script: what a resampled deal is made from: complete draws with their cards, and (None, (decision, note)).
        exchanges: by seat, what it laid off and drew at each exchange; the View keeps only the sets of all of them.
    """

    record: NDArray[Any] | None = None
    draws: tuple[Draw, ...] = ()
    drawn: tuple[tuple[int, ...], ...] = ()
    chosen: tuple[int, ...] = ()
    action: int | None = None
    script: tuple[tuple[Draw | None, tuple[int, ...]], ...] = ()
    exchanges: tuple[str, ...] = ()
    views: dict[int, Any] = field(default_factory=dict)  # by seat, filled when first asked for

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    @property
    def is_chance(self) -> bool:
        """Whether chance is asked."""
        return bool(self.draws)

    @property
    def draw(self) -> Draw:
        """The open question; only at a chance node."""
        return self.draws[len(self.drawn)]

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        return self.record is not None and not self.draws and bool(self.record["over"][0])

    @property
    def actor(self) -> int:
        """The seat that decides, -1: none."""
        return -1 if self.record is None or self.draws else int(self.record["actor"][0])


class Tree:
    """The positions of one deal.

    Args:
        rules: of the game.
        session: one deal; its carry is a number of chips.
        cards: what the family draws.

    Attributes:
        batch: the engine, a batch of one game that is set to a node's record for each question.
    """

    def __init__(self, rules: Rules, session: SessionConfig, cards: Cards) -> None:
        self.rules = rules
        self.cards = cards
        self.batch = GameBatch(rules, 1, seed=0, session=session, autoreset=False)
        self.layout = self.batch.layout
        self.pack: Pack = rules.cards  # type: ignore[attr-defined]  # every family's rules have a pack
        self.num_cards = self.pack.num_cards
        self.pot = int(self._begun({})["pot_before"][0]) if "pot_before" in (self.batch.states.dtype.names or ()) else 0

    def _begun(self, deal: Mapping[str, Any]) -> NDArray[Any]:
        self.batch.states = self.batch.states.copy()  # the old array is some node's record
        self.batch.reset(deals=[deal], games=[(0, 0)])
        return self.batch.states

    def root(self) -> Node:
        """The position before anything is dealt."""
        first = self.cards.opening(())
        assert first is not None
        nobody = ("",) * self.rules.num_players
        return self._settled(Node(draws=(first,), exchanges=nobody))

    # --- what may happen ----------------------------------------------------------------------------------------------

    def outcomes(self, node: Node) -> list[tuple[int, float]]:
        """What chance may answer, with probabilities."""
        return node.draw.outcomes(node.chosen)

    def legal(self, node: Node) -> list[int]:
        """The actor's legal actions, ascending."""
        self._set(node)
        legal: list[int] = np.flatnonzero(self.batch.legal()[0]).tolist()
        return legal

    def child(self, node: Node, action: int) -> Node:
        """The position after an outcome of chance or a decision.

        Raises:
            IllegalActionError: the actor may not take the action.
        """
        if node.draws:
            return self._settled(replace(node, chosen=(*node.chosen, action)))
        assert node.record is not None
        after = self._played(node.record, action)
        acted = replace(
            node, action=action, views={}, script=(*node.script, (None, (action, self.cards.note(node.record[0]))))
        )
        draws = self.cards.needed(node.record[0], after[0])
        if draws:
            return self._settled(replace(acted, draws=draws, views=node.views))
        return self._arrived(acted, after)

    def _played(self, record: NDArray[Any], action: int) -> NDArray[Any]:
        self.batch.states = record.copy()
        self.batch.step(np.array([action]))
        return self.batch.states

    def _settled(self, node: Node) -> Node:
        """Goes on while chance has but one answer, to its next question or the next decision."""
        while len(node.drawn) < len(node.draws):
            draw = node.draw
            while len(node.chosen) < draw.size and len(answers := draw.outcomes(node.chosen)) == 1:
                node = replace(node, chosen=(*node.chosen, answers[0][0]))
            if len(node.chosen) < draw.size:
                return node
            script = (*node.script, (draw, node.chosen))
            node = replace(node, chosen=(), drawn=(*node.drawn, node.chosen), script=script)
            if node.record is None and (following := self.cards.opening(node.drawn)):
                node = replace(node, draws=(*node.draws, following))
        return self._decided(node)

    def _decided(self, node: Node) -> Node:
        """The position once chance has answered everything that the deal or the open action asked."""
        if node.record is None:
            return replace(node, record=self._begun(self.cards.deal(node.drawn)), draws=(), drawn=(), views={})
        assert node.action is not None
        arranged = node.record.copy()
        made = int(arranged["reshuffles"][0])
        arranged["reshuffles"] = 0  # the engine knows plans for the first few of a deal only
        self.cards.place(arranged[0], node.draws, node.drawn)
        after = self._played(arranged, node.action)
        after["reshuffles"] += made
        after["planned"][:, :, 0] = -1
        return self._arrived(replace(node, draws=(), drawn=()), after)

    def _arrived(self, node: Node, after: NDArray[Any]) -> Node:
        """The position after the open action, of which the actor remembers what he exchanged."""
        assert node.record is not None
        assert node.action is not None
        told = list(node.exchanges)
        if self.layout.first_exchange <= node.action < self.layout.first_card:
            seat, before = int(node.record["actor"][0]), node.record[0]
            laid = self.layout.text(node.action, int(before["exchange_cards"])).removeprefix("exchange").strip()
            new = self.pack.texts(cards_of(int(after["hand"][0][seat]) & ~int(before["hand"][seat])))
            told[seat] += f"{'; ' if told[seat] else ''}{laid or '-'} for {new or '-'}"
        return replace(node, record=after, action=None, exchanges=tuple(told), views={})

    # --- what is seen -------------------------------------------------------------------------------------------------

    def _set(self, node: Node) -> None:
        assert node.record is not None
        self.batch.states = node.record

    def view(self, node: Node, seat: int) -> NDArray[Any] | None:
        """(1,) the View of a seat: at a chance node that of the decision before it; None before the cards are dealt."""
        if node.record is None:
            return None
        if seat not in node.views:
            self._set(node)
            node.views[seat] = self.batch.view(seat)
        view: NDArray[Any] = node.views[seat]
        return view

    def returns(self, node: Node, reward: str) -> list[float]:
        """By seat, score or net chips of a deal that has ended."""
        assert node.record is not None
        record, n = node.record[0], self.rules.num_players
        if reward == "chips":
            return [float(chips) for chips in record["net"][:n]]
        return [int(top) / int(record["score_base"]) for top in record["score_top"][:n]]

    def alike(self, node: Node, other: Node, seat: int) -> bool:
        """Whether a seat knows the same in two positions."""
        one, two = self.view(node, seat), self.view(other, seat)
        if one is None or two is None:
            return one is two
        return node.actor == other.actor and node.exchanges[seat] == other.exchanges[seat] and bool((one == two).all())

    def encode(self, node: Node, seat: int, out: NDArray[np.float32]) -> None:
        """Writes the tensor of what a seat knows; zeros before the cards are dealt."""
        view = self.view(node, seat)
        if view is None:
            out[:] = 0
        else:
            out[:] = self.batch.encode(view)[0]

    def told(self, node: Node, seat: int, *, public: bool = True, private: bool = True, recall: bool = True) -> str:
        """One line of what a seat knows: its View, and with ``recall`` which cards each of its exchanges moved.

        What is empty, zero or follows from the rest is left out.
        """
        view = self.view(node, seat)
        if view is None:
            return "before the deal"
        family = self.batch.family
        words = [
            f"{key}={word}"
            for key, value in family.view_dict(self.rules, view[0]).items()
            if key not in self.cards.derived and (word := _word(value))
            if (public if key in family.public_keys() else private)
        ]
        if recall and private and node.exchanges[seat]:
            words.append(f"exchanged={node.exchanges[seat]}")
        return f"seat {seat} | {' | '.join(words)}" if public else " | ".join(words)

    def text(self, node: Node, seat: int, action: int) -> str:
        """An outcome of chance or an action in words: as its actor says it, for others by its neutral name."""
        if seat < 0:
            draw = node.draw
            if draw.source == "dealer":
                return f"{draw.what} {action}"
            return f"{draw.what}: {self.pack.text(action)}"
        if seat != node.actor or not self.layout.exchange_hand:
            return self.layout.name(action)
        assert node.record is not None
        return self.layout.text(action, int(node.record["exchange_cards"][0]))

    def node_text(self, node: Node) -> str:
        """A position with everything hidden: for debugging."""
        open_question = f"chance: {node.draw.what} {node.chosen}" if node.is_chance else ""
        if node.record is None:
            return f"{self.rules}\n{open_question} after {node.drawn}"
        state = self.batch.family.full_state(self.rules, node.record[0])
        shown = [f"{key}: {word}" for key, value in state.items() if key != "address" and (word := _word(value))]
        return "\n".join([str(self.rules), *shown, *([open_question] if open_question else [])])


def _word(value: Any) -> str:
    """A value of a View as a word, empty for nothing; of lists in lists only those that say something."""
    if not isinstance(value, list):
        return str(value) if value else ""
    if any(isinstance(part, list) for part in value):
        return ", ".join(" ".join(map(_entry, part)) for part in value if any(item is not None for item in part))
    return ",".join(map(_entry, value))


def _entry(value: Any) -> str:
    return "-" if value is None else str(value)
