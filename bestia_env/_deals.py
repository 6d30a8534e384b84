"""Deals that are set up (design 8.2) on their way from the caller into state records."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env._rows import check_seed, integers
from bestia_env.errors import BestiaError, RecordError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bestia_env.family import Family, Rules

__all__ = ["DRIVER_KEYS", "check_deals", "known_part", "put_addresses", "put_deal"]

DRIVER_KEYS = frozenset({"seed", "game"})
"""The keys of a deal that say which game it is; a family knows the others."""


def check_deals(deals: object, rows: int) -> Sequence[Mapping[str, Any] | None]:
    """A list of as many deals as rows.

    Raises:
        RecordError: no list, or something in it that is neither a mapping nor None.
        BestiaError: another number of deals.
    """
    if isinstance(deals, str | Mapping) or not isinstance(deals, Sequence):
        raise RecordError(f"deals={deals!r}; allowed is a list, one deal or None a row")
    if wrong := [deal for deal in deals if not isinstance(deal, Mapping | None)]:
        raise RecordError(f"deals: {wrong[0]!r}; allowed are mappings and None")
    if len(deals) != rows:
        raise BestiaError(f"deals: {len(deals)} given for {rows} rows; allowed is one a row")
    return deals


def known_part(family: Family, rules: Rules, deal: Mapping[str, Any]) -> dict[str, Any]:
    """A deal without the keys that mean nothing here; warns of them, at the line that called ``reset``."""
    known = family.deal_keys() | DRIVER_KEYS
    for key in sorted(set(deal) - known):
        warnings.warn(
            f"deal key {key!r} is not known to {rules.variant} and ignored; known are {', '.join(sorted(known))}",
            UserWarning,
            stacklevel=4,
        )
    return {key: value for key, value in deal.items() if key in known}


def put_addresses(states: NDArray[Any], games: ArrayLike | None, deals: Sequence[Mapping[str, Any] | None]) -> None:
    """Writes where games begin: as their deals say, else at ``games``, (n, 2) of (row, game), else at the next game.

    Raises:
        RecordError: ``game`` of a deal is no pair (row, game).
        BestiaError: ``seed`` of a deal is no seed, or ``games`` are no addresses.
    """
    if games is None:
        states["game"] += 1
    else:
        addresses = integers("games", games, 2**63 - 1)
        if addresses.shape != (len(states), 2):
            raise BestiaError(f"games of shape {addresses.shape}; allowed is ({len(states)}, 2)")
        states["row"], states["game"] = addresses[:, 0], addresses[:, 1]
    for place, deal in enumerate(deals):
        if deal and "seed" in deal:
            states["seed"][place] = check_seed(deal["seed"])
        if deal and "game" in deal:
            states["row"][place], states["game"][place] = _pair(deal["game"])


def _pair(game: Any) -> tuple[int, int]:
    pair = game.tolist() if isinstance(game, np.ndarray) else game
    ok = isinstance(pair, Sequence) and len(pair) == 2 and all(type(part) is int for part in pair)
    if not ok or not 0 <= min(pair) <= max(pair) < 2**63:
        raise RecordError(f"game={game!r}; allowed is a pair (row, game) of integers from 0 to 2^63 - 1")
    return pair[0], pair[1]


def put_deal(family: Family, rules: Rules, state: NDArray[Any], deal: Mapping[str, Any]) -> None:
    """Sets up a prepared game in a one-row array of states; chance completes the deal, by the game's address.

    Raises:
        RecordError: the deal contradicts itself or the rules.
    """
    address = np.random.SeedSequence([int(state[name][0]) for name in ("seed", "row", "game")])
    family.inject(rules, state[0], deal, int(address.generate_state(1, np.uint64)[0]))
