"""Other deals that a seat cannot tell from the one that is played.

The history of a deal is a list of cards named by chance and of decisions. Changing the cards that the seat has never
seen for each other gives another history with the same public facts; it holds if every decision in it is legal and the
seat knows the same in the end. All histories that hold are equally likely: whole permutations are drawn until one
holds; where that is too rare, a chain of single changes that begins with the true history is run instead.

The family's ``redeal`` deals the same cards as evenly, but makes a position without a history and does not ask whether
earlier tricks could have been played so; OpenSpiel wants both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bestia_env.cards import cards_of
from bestia_env.errors import IllegalActionError
from bestia_env.openspiel.tree import Node, Tree

__all__ = ["resampled"]

WHOLE_TRIES = 100
CHAIN_LENGTH = 3  # changes tried, for each unseen card


def resampled(tree: Tree, root: Node, node: Node, seat: int, uniform: Callable[[], float]) -> list[int]:
    """The actions, chance's included, from the root to a position that is like ``node`` to ``seat``.

    Args:
        tree: the positions.
        root: where histories begin.
        node: a position; one where chance is asked is its own resample, since nobody decides there.
        seat: who looks.
        uniform: gives uniform numbers in [0, 1).
    """
    unchanged = _replayed(tree, root, node, {})
    assert unchanged is not None
    if node.is_chance:
        return unchanged[1]
    assert node.record is not None
    notes = [answer[1] for draw, answer in node.script if draw is None]
    unseen = cards_of(((1 << tree.num_cards) - 1) & ~tree.cards.seen(node.record[0], seat, notes))

    def trial(order: list[int]) -> list[int] | None:
        other = _replayed(tree, root, node, dict(zip(unseen, order, strict=True)))
        return other[1] if other and tree.alike(node, other[0], seat) else None

    for _ in range(WHOLE_TRIES):
        order = list(unseen)
        for place in range(len(order) - 1):
            _change(order, place, place + int(uniform() * (len(order) - place)))
        if found := trial(order):
            return found
    order, best = list(unseen), unchanged[1]
    for _ in range(CHAIN_LENGTH * len(unseen)):
        changed = list(order)
        _change(changed, int(uniform() * len(order)), int(uniform() * len(order)))
        if found := trial(changed):
            order, best = changed, found
    return best


def _change(order: list[int], one: int, other: int) -> None:
    order[one], order[other] = order[other], order[one]


def _replayed(tree: Tree, root: Node, node: Node, swap: Mapping[int, int]) -> tuple[Node, list[int]] | None:
    """The position after the history of ``node`` with cards changed, and its actions; None: it cannot be played so."""
    new, actions = root, []
    script = [*node.script, *([(node.draw, node.chosen)] if node.chosen else [])]
    while len(new.script) < len(script):
        draw, answer = script[len(new.script)]
        if draw is None:
            action = _moved(tree, answer, new, swap)
            if action is None or new.is_chance:
                return None
        else:
            wanted = sorted(answer if draw.source == "dealer" else (swap.get(card, card) for card in answer))
            if not new.is_chance or list(new.chosen) != wanted[: len(new.chosen)]:
                return None
            if len(new.chosen) == len(wanted):
                break  # as far as the open draw of the node had come
            action = wanted[len(new.chosen)]
            if action not in (outcome for outcome, _ in tree.outcomes(new)):
                return None
        try:
            new = tree.child(new, action)
        except IllegalActionError:
            return None
        actions.append(action)
    return new, actions


def _moved(tree: Tree, answer: tuple[int, ...], new: Node, swap: Mapping[int, int]) -> int | None:
    """A decision with its cards changed: an exchange lays off the cards that stand where the old ones stood."""
    action, offered = answer
    layout = tree.layout
    if new.record is None or not layout.first_exchange <= action < layout.first_card:
        return action
    hand = cards_of(int(new.record["exchange_cards"][0]))
    laid = [
        swap.get(card, card)
        for place, card in enumerate(cards_of(offered))
        if action - layout.first_exchange >> place & 1
    ]
    if not set(laid) <= set(hand):
        return None
    return layout.first_exchange + sum(1 << hand.index(card) for card in laid)
