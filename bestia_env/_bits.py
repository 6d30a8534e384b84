"""Compiled helpers on bit masks of cards (uint64), shared by all families.

Every constant is a named ``uint64``: a bare literal next to a mask would become an int64 in compiled code and a
different type in plain Python.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bestia_env._jit import jit_for

# What compiled functions work on, for readers and type checkers: Numba infers the types from the call.
Int: TypeAlias = "int | np.integer[Any]"
Mask: TypeAlias = np.uint64
Array: TypeAlias = Any

jit = jit_for("shared")

EMPTY = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

_TWO = np.uint64(2)
_FOUR = np.uint64(4)
_LAST_BYTE = np.uint64(56)
_PAIRS = np.uint64(0x5555_5555_5555_5555)
_NIBBLES = np.uint64(0x3333_3333_3333_3333)
_BYTES = np.uint64(0x0F0F_0F0F_0F0F_0F0F)
_SUM = np.uint64(0x0101_0101_0101_0101)
_SHIFTS = tuple(np.uint64(1 << step) for step in range(6))


@jit
def bit(card: Int) -> Mask:
    """The mask of one card."""
    return ONE << np.uint64(card)


@jit
def above(card: Int) -> Mask:
    """The mask of all ids greater than ``card`` (0 <= card < 63)."""
    return ALL << np.uint64(card + 1)


@jit
def count(mask: Mask) -> Int:
    """How many cards a mask holds: sums of neighbouring bits, pairs, nibbles, then all bytes by one product."""
    mask = mask - ((mask >> ONE) & _PAIRS)
    mask = (mask & _NIBBLES) + ((mask >> _TWO) & _NIBBLES)
    mask = (mask + (mask >> _FOUR)) & _BYTES
    return np.int64((mask * _SUM) >> _LAST_BYTE)


@jit
def lowest(mask: Mask) -> Int:
    """The smallest id of a mask that is not empty."""
    return count((mask & (~mask + ONE)) - ONE)


@jit
def highest(mask: Mask) -> Int:
    """The greatest id of a mask that is not empty: every bit below it is set, then counted."""
    for shift in _SHIFTS:
        mask |= mask >> shift
    return count(mask) - 1


@jit
def nth(mask: Mask, index: Int) -> Int:
    """The ``index``-th smallest id of a mask (0 = the smallest)."""
    for _ in range(int(index)):
        mask &= mask - ONE
    return lowest(mask)


@jit
def subset(mask: Mask, chosen: Int) -> Mask:
    """The cards of ``mask`` that ``chosen`` picks: bit i of ``chosen`` is the i-th smallest card."""
    picked = EMPTY
    index = 0
    while mask != EMPTY:
        low = mask & (~mask + ONE)
        if chosen >> index & 1:
            picked |= low
        mask ^= low
        index += 1
    return picked
