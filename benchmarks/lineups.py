"""Who sits at a table: one hero in a field of agents, or all agents mixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FIELDS", "MIXED", "Table", "named_fields", "windows"]

FIELDS: dict[str, tuple[str, ...]] = {
    "thumbs": ("loose", "medium", "tight"),
    "wild": ("always", "loose", "random"),
    "all": ("always", "loose", "medium", "random", "tight"),
}
"""Fields of several agents by name; docs/tournament.md lists them."""

MIXED = "mixed"
"""The name of the table without a hero."""

_STREAM = 0xB1BD  # apart from deals and resampling, which share the seed


@dataclass(frozen=True)
class Table:
    """One kind of table, played over many blocks.

    Args:
        hero: the agent in position 0 of every line-up; None: the members take all seats (a mixed table).
        field: the name of the field.
        members: the agents of the field, each once.
    """

    hero: str | None
    field: str
    members: tuple[str, ...]

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent at the table once, the hero first."""
        return tuple(dict.fromkeys((self.hero, *self.members) if self.hero is not None else self.members))

    @property
    def is_self_play(self) -> bool:
        """Whether one agent takes all seats."""
        return len(self.agents) == 1

    def places(self, blocks: NDArray[np.int64], num_players: int, seed: int) -> NDArray[np.int64]:
        """(B, n) which of ``agents`` takes each position of the line-up, by block."""
        agents = self.agents
        order = np.array([agents.index(member) for member in self.members])
        if self.hero is None:
            return order[windows(len(order), num_players, blocks, seed)]
        others = order[windows(len(order), num_players - 1, blocks, seed)]
        return np.concatenate([np.zeros((len(blocks), 1), np.int64), others], axis=1)


def windows(members: int, size: int, blocks: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """(B, size) which member of a field takes which of its places: balanced, and in both directions.

    Each group of ``2 x members`` blocks goes through the members in one random order: block k of the group takes
    ``size`` of them in a row, beginning with the k-th, around the end; the second half of the group the same in
    reverse, because who sits left of whom matters where seats speak in turn. In a group every member takes
    ``2 x size`` places.
    A block's line-up is a function of seed and block number alone.
    """
    places = np.zeros((len(blocks), size), np.int64)
    if members == 1:
        return places
    groups, turns = np.divmod(blocks, 2 * members)
    for group in np.unique(groups).tolist():
        order = np.random.default_rng([seed, _STREAM, group]).permutation(members)
        inside = np.flatnonzero(groups == group)
        chosen = order[(turns[inside, None] + np.arange(size)) % members]
        backwards = turns[inside] >= members
        chosen[backwards] = chosen[backwards, ::-1]
        places[inside] = chosen
    return places


def named_fields(words: Sequence[str], agents: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Fields by name, from the words of a command line, in alphabetical order.

    Args:
        words: an agent (copies of it are the field), a name out of ``FIELDS``, or ``name=agent,agent``. No words: every
            one of ``agents`` is a field.
        agents: the heroes.

    Raises:
        BestiaError: a field named twice, or a word that cannot be read.
    """
    fields: dict[str, tuple[str, ...]] = {}
    for word in words or agents:
        name, equals, listed = word.partition("=")
        members = tuple(listed.split(",")) if equals else FIELDS.get(word, (word,))
        if not name or not all(members) or len(set(members)) != len(members):
            raise BestiaError(f"field {word!r}; allowed are an agent, {', '.join(FIELDS)}, or name=agent,agent,...")
        if name in fields or name == MIXED:
            raise BestiaError(
                f"field {name!r} is given twice or reserved; allowed is each name once, but not {MIXED!r}"
            )
        fields[name] = tuple(sorted(members))
    return dict(sorted(fields.items()))
