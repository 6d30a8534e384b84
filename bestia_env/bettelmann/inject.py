"""Setting up a deal: the schema that ``reset``, ``GameBatch.reset`` and deal records share (design 8.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.errors import RecordError, RulesError

__all__ = ["DEAL_KEYS", "inject"]

DEAL_KEYS = frozenset({"stacks"})
NUMBER = "-"


def inject(rules: BettelmannRules, state: Any, deal: Mapping[str, Any], rng_key: int) -> None:
    """Sets up the stacks of a game; see :meth:`bestia_env.family.Family.inject`.

    ``stacks`` is a list with one text a seat, top card first: card texts (``"Ah 3s 10d"``) or a pattern in which ``-``
    is any number card and a rank any card of that rank (``"---AJ--Q"``); the two may differ from seat to seat. Cards
    that no stack names are left out of the game. Without ``stacks`` the whole pack is dealt at random.
    """
    rng = np.random.Generator(np.random.PCG64(rng_key))
    n = rules.num_players
    if "stacks" in deal:
        stacks = _stacks(rules, deal["stacks"], rng)
    else:
        order = [int(card) for card in rng.permutation(rules.cards.num_cards)]
        stacks = [order[seat::n] for seat in range(n)]
    state["held"][:] = 0
    for seat, stack in enumerate(stacks):
        state["stack"][seat, : len(stack)] = stack
        state["held"][seat] = len(stack)


def _stacks(rules: BettelmannRules, texts: object, rng: np.random.Generator) -> list[list[int]]:
    n = rules.num_players
    if isinstance(texts, str) or not isinstance(texts, Sequence) or len(texts) != n:
        raise RecordError(f"stacks={texts!r}; allowed is a list of {n} texts, one a seat")
    named = [_named(rules, f"stacks[{seat}]", text) for seat, text in enumerate(texts)]
    used = [card for cards in named for card in cards or []]
    for card in used:
        if used.count(card) > 1:
            raise RecordError(f"card {rules.cards.text(card)} is given twice in stacks")
    rest = [int(card) for card in rng.permutation(rules.cards.num_cards) if card not in set(used)]
    stacks = [
        _filled(rules, f"stacks[{seat}]", text, rest) if cards is None else cards
        for seat, (text, cards) in enumerate(zip(texts, named, strict=True))
    ]
    if sum(len(stack) > 0 for stack in stacks) < 2:
        raise RecordError(f"stacks={texts!r}; allowed are stacks of which two or more hold cards")
    return stacks


def _named(rules: BettelmannRules, name: str, text: object) -> list[int] | None:
    """The cards of a stack given by card texts, None for a pattern."""
    if not isinstance(text, str):
        raise RecordError(f"{name}={text!r}; allowed are card texts separated by blanks, or a pattern")
    try:
        return rules.cards.cards(text)
    except RulesError as error:
        if text and all(mark == NUMBER or mark in dict(rules.penalties) for mark in text):
            return None
        marks = " ".join([NUMBER, *(rank for rank, _ in rules.penalties if len(rank) == 1)])
        raise RecordError(f"{name}={text!r}: {error}; a pattern may hold {marks}") from error


def _filled(rules: BettelmannRules, name: str, pattern: str, rest: list[int]) -> list[int]:
    """The cards of a pattern, taken at random out of ``rest``."""
    penalties = dict(rules.penalties)
    stack = []
    for mark in pattern:
        fitting = (card for card in rest if _mark(rules, card, penalties) == mark)
        card = next(fitting, None)
        if card is None:
            raise RecordError(f"{name}={pattern!r}: the pack has no card left for {mark!r}")
        rest.remove(card)
        stack.append(card)
    return stack


def _mark(rules: BettelmannRules, card: int, penalties: Mapping[str, int]) -> str:
    rank = rules.cards.text(card)[:-1]
    return rank if rank in penalties else NUMBER
