"""Luck of the deal taken out of block results: which hands were dealt, against which are dealt on average.

In a block the hero plays every hand of a deal, so the deal's hands are the same luck for every line-up. The covariates
count them by class; their expected values are known exactly, so what they explain can be subtracted without moving the
expected mean. This is the plain form of luck correction (science: a control variate); it knows the hands dealt, not the
cards drawn or what the others did.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from bestia_env import BestiaError, GameBatch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bestia_env import SessionConfig
    from bestia_env.family import Rules
    from bestia_env.rams.rules import RamsRules

__all__ = ["adjust", "class_probabilities", "deal_covariates"]

DEALS_AT_ONCE = 4096
MOST_TRUMPS = 3  # hands with more are one class with them: they are rare, and all of them go in


def deal_covariates(
    rules: Rules, session: SessionConfig, seed: int, blocks: ArrayLike, *, by_position: bool = False
) -> NDArray[np.float64]:
    """How many hands of each class the deals of some blocks have, less how many there are on average.

    The class of a hand is the number of its trumps (1, 2, 3 or more) and the place of the best of them; hands without a
    trump are the rest. Classes that cannot be dealt have no column.

    Args:
        rules: a game of the Rams group.
        session: how the deals begin, as they were played.
        seed: of the deals, as they were played.
        blocks: (B,) numbers of the blocks: the deal of block b is game 0 of row b.
        by_position: whether classes are told apart by the seat's distance from the dealer too.

    Returns:
        (B, K) hands above the expected number. Every column has expected value 0.

    Raises:
        BestiaError: a game without trumps, or no blocks.
    """
    if not hasattr(rules, "turn_up_owner"):
        raise BestiaError(f"rules of {rules.variant}; allowed are games of the Rams group, which have trumps")
    numbers = np.asarray(blocks, np.int64)
    parts = [
        _classes(rules, session, seed, numbers[first : first + DEALS_AT_ONCE])
        for first in range(0, len(numbers), DEALS_AT_ONCE)
    ]
    if not parts:
        raise BestiaError("blocks is empty; allowed are one or more block numbers")
    expected = class_probabilities(rules)  # type: ignore[arg-type]  # rules with turn_up_owner are RamsRules
    found = np.concatenate(parts)  # (B, n) by distance from eldest
    counts = (found[:, :, None] == np.arange(1, expected.shape[1] + 1)) - expected
    counts = counts.reshape(len(found), -1) if by_position else counts.sum(axis=1)
    possible = expected.ravel() if by_position else expected.sum(axis=0)
    columns: NDArray[np.float64] = counts[:, possible > 0]
    return columns


def class_probabilities(rules: RamsRules) -> NDArray[np.float64]:
    """How likely a seat is dealt a hand of each class, counted out.

    Given the turn-up, the hand of a seat is every set of other cards alike. A dealer who owns the turn-up has it among
    his cards.

    Args:
        rules: the game.

    Returns:
        (n, K) by the seat's distance from eldest (the dealer is last) and by class: with 1 trump, the lowest to the
        highest, then with 2, with 3 or more.
    """
    ranks, cards, size = rules.cards.num_ranks, rules.cards.num_cards, rules.hand_size
    seats = np.zeros((rules.num_players, MOST_TRUMPS, ranks))
    for turn_up in range(ranks):
        lower = [rank - (turn_up < rank) for rank in range(ranks)]  # other trumps below a rank
        for trumps in range(1, size + 1):
            row = min(trumps, MOST_TRUMPS) - 1
            for best in range(ranks):
                if best != turn_up:
                    seats[:, row, best] += comb(lower[best], trumps - 1) * comb(cards - ranks, size - trumps)
    seats /= comb(cards - 1, size) * ranks
    if rules.turn_up_owner == "dealer":
        seats[-1] = _owner_of_turn_up(ranks, cards, size)
    return seats.reshape(rules.num_players, -1)


def _owner_of_turn_up(ranks: int, cards: int, size: int) -> NDArray[np.float64]:
    """(3, ranks) the same for the dealer: the turn-up and ``size`` − 1 of the other cards."""
    dealer = np.zeros((MOST_TRUMPS, ranks))
    for turn_up in range(ranks):
        for trumps in range(1, size + 1):
            row, rest = min(trumps, MOST_TRUMPS) - 1, comb(cards - ranks, size - trumps)
            dealer[row, turn_up] += comb(turn_up, trumps - 1) * rest
            if trumps > 1:
                for best in range(turn_up + 1, ranks):
                    dealer[row, best] += comb(best - 1, trumps - 2) * rest
    return dealer / (comb(cards - 1, size - 1) * ranks)


def _classes(rules: Rules, session: SessionConfig, seed: int, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """(B, n) the class of every hand dealt, by the seat's distance from eldest; 0: no trump, else 1 + its column."""
    n, ranks = rules.num_players, rules.cards.num_ranks  # type: ignore[attr-defined]  # of the Rams group
    states = GameBatch(rules, len(blocks), seed=seed, session=session, autoreset=False, rows=blocks).states
    seats = (states["dealer"].astype(np.int64)[:, None] + 1 + np.arange(n)) % n
    hands = np.take_along_axis(states["first_hand"], seats, axis=1)
    first = states["trump"].astype(np.uint64)[:, None] * np.uint64(ranks)  # the id of the lowest trump
    trumps = hands >> first & np.uint64((1 << ranks) - 1)
    count = np.minimum(np.bitwise_count(trumps), MOST_TRUMPS).astype(np.int64)
    best = np.frexp(trumps.astype(np.float64))[1].astype(np.int64) - 1  # the highest bit
    return np.where(count > 0, 1 + (count - 1) * ranks + best, 0)


def adjust(values: ArrayLike, covariates: ArrayLike, folds: int = 5) -> NDArray[np.float64]:
    """Block values less what the covariates explain; their mean is the estimate, with the same expected value.

    The coefficients of least squares that are applied to a block are fitted without it: blocks are dealt into
    ``folds``, and each fold uses the coefficients of the others (cross-fitting: Chernozhukov and others, Econometrics
    Journal 21, 2018). Fitted on the very blocks they correct, they would lean towards what they should find.
    Coefficients are linear in the values, so the adjusted difference of two columns is the difference of the adjusted
    columns.

    Args:
        values: (B,) or (B, C), one row a block.
        covariates: (B, K), of expected value 0. Any other expected value would go into the mean.
        folds: block number i of the array is in fold i mod ``folds``.

    Returns:
        Adjusted values, in the shape of ``values``. Intervals over blocks are made of them as of any others.

    Raises:
        BestiaError: unequal numbers of blocks, or too few of them for the covariates: at least 2 blocks a covariate
            must be left to fit on.
    """
    given, x = np.asarray(values, np.float64), np.asarray(covariates, np.float64)
    if x.ndim != 2 or given.ndim not in (1, 2) or len(given) != len(x):
        raise BestiaError(
            f"values of shape {given.shape}, covariates of {x.shape}; allowed are (B,) or (B, C), and (B, K)"
        )
    if folds < 2:
        raise BestiaError(f"folds={folds}; allowed are integers from 2")
    blocks, columns = x.shape
    if blocks - -(-blocks // folds) < max(2, 2 * columns):
        raise BestiaError(f"{blocks} blocks in {folds} folds; {columns} covariates allow no fewer than twice as many")
    table = given.reshape(blocks, -1)
    adjusted = table.copy()
    fold = np.arange(blocks) % folds
    for number in range(folds):
        held, others = fold == number, fold != number
        centred = x[others] - x[others].mean(axis=0), table[others] - table[others].mean(axis=0)
        coefficients = np.linalg.lstsq(*centred, rcond=None)[0]
        adjusted[held] -= x[held] @ coefficients
    return adjusted.reshape(given.shape)
