"""How many blocks a question needs, and what pairing and rotation save."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Gain", "blocks_needed", "detectable_difference", "pairing_gain"]


def blocks_needed(
    deviation: float, difference: float, *, alpha: float = 0.05, power: float = 0.8, comparisons: int = 1
) -> int:
    """Blocks with which a two-sided test finds a true difference with the given probability.

    N = (z(1 − α/2m) + z(power))² σ² / δ², the large-sample formula for one mean (Chow, Shao and Wang, *Sample Size
    Calculations in Clinical Research*, "one-sample design"), with α shared out among m comparisons (Bonferroni). With
    the defaults that is 7.85 σ²/δ².

    Args:
        deviation: σ, the standard deviation of the block differences, in the unit of ``difference``. That of a
            pilot's paired differences, not of one agent's results.
        difference: δ, the difference to be found; its sign does not matter.
        alpha: probability of finding one where there is none.
        power: probability of finding it.
        comparisons: m, how many differences are asked for at once.

    Returns:
        N, at least 2. Below some 50 blocks the formula is too small by about two.

    Raises:
        BestiaError: an argument out of range.
    """
    _need("difference", difference, math.isfinite(difference) and difference != 0, "numbers other than 0")
    return max(2, math.ceil((_quantiles(deviation, alpha, power, comparisons) * deviation / difference) ** 2))


def detectable_difference(
    deviation: float, blocks: int, *, alpha: float = 0.05, power: float = 0.8, comparisons: int = 1
) -> float:
    """The smallest true difference that so many blocks find with the given probability: the reverse.

    Args:
        deviation: as for :func:`blocks_needed`.
        blocks: N.
        alpha: as there.
        power: as there.
        comparisons: as there.

    Returns:
        δ in the unit of ``deviation``.

    Raises:
        BestiaError: an argument out of range.
    """
    _need("blocks", blocks, blocks >= 2, "integers from 2")
    return _quantiles(deviation, alpha, power, comparisons) * deviation / math.sqrt(blocks)


class Gain(NamedTuple):
    """By what factor the variance of a difference falls, per deal played. 10 means: a tenth of the deals will do.

    Attributes:
        rotation: blocks in all rotations instead of single deals in a random seat, different deals for the two heroes.
        pairing: the same single deals for both heroes instead of different ones.
        both: the same blocks for both heroes. Not the product: each removes luck that the other would remove as well.
    """

    rotation: float
    pairing: float
    both: float


def pairing_gain(first: ArrayLike, second: ArrayLike) -> Gain:
    """What rotation and common deals save for the difference of two heroes.

    With D deals a hero, the difference of two independent runs of single deals has the variance (σ₁² + σ₂²)/D, with
    σ the standard deviation of single deals. It is (β₁² + β₂²) n/D for independent runs of D/n blocks, with β that of
    block means; γ²/D for the same single deals, with γ that of their differences; δ² n/D for the same blocks, with δ
    that of the differences of block means. The gains are the ratios of the first to the others.

    Args:
        first: (B, n) a hero's results by block and rotation, such as ``play_blocks(...).scores[:, :, 0]``.
        second: (B, n) another hero's, in the same blocks and field.

    Returns:
        The gains; infinite where nothing is left to vary, 1 where nothing varied before.

    Raises:
        BestiaError: shapes that differ or are not two-dimensional, or fewer than two blocks.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape or one.ndim != 2 or len(one) < 2:
        raise BestiaError(
            f"first of shape {one.shape}, second of {other.shape}; allowed are equal shapes (blocks, rotations), "
            "two or more blocks"
        )
    n, difference = one.shape[1], one - other
    single = one.var() + other.var()
    rotated = n * (one.mean(axis=1).var() + other.mean(axis=1).var())
    return Gain(*(_ratio(single, few) for few in (rotated, difference.var(), n * difference.mean(axis=1).var())))


def _ratio(many: float, few: float) -> float:
    return float(many / few) if few > 0 else (math.inf if many > 0 else 1.0)


def _quantiles(deviation: float, alpha: float, power: float, comparisons: int) -> float:
    """z(1 − α/2m) + z(power), for arguments that are in range."""
    _need("deviation", deviation, math.isfinite(deviation) and deviation >= 0, "numbers from 0")
    _need("alpha", alpha, 0 < alpha < 1, "numbers between 0 and 1")
    _need("power", power, alpha < power < 1, "numbers between alpha and 1")
    _need("comparisons", comparisons, comparisons >= 1, "integers from 1")
    return float(ndtri(1 - alpha / (2 * comparisons)) + ndtri(power))


def _need(name: str, value: float, ok: bool, allowed: str) -> None:
    if not ok:
        raise BestiaError(f"{name}={value!r}; allowed are {allowed}")
