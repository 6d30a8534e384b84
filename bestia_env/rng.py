"""Randomness by address: every random number is a function of where it is used, never of what was drawn before.

An address is (seed, row, game, deal, purpose, index); ``game_key`` and ``deal_key`` fold the first five into one key,
and ``draw`` gives the index-th number of that key. All are the SplitMix64 output function applied to a counter (Steele,
Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np

from bestia_env._bits import Int, Mask
from bestia_env._jit import jit_for

jit = jit_for("shared")

# What a number is for; part of its address, so that one use never shifts another.
PACK_ORDER = 1
RESHUFFLE = 2
FIRST_DEALER = 3
START_CARRY = 4
START_TYPICAL = 5
AGENT = 6
OPPONENT = 7

_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_2 = np.uint64(0x94D0_49BB_1331_11EB)
_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)
_S32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFF_FFFF)


@jit
def mix(x: Mask) -> Mask:
    """SplitMix64's output function: a bijection of 64 bits in which every input bit reaches every output bit."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@jit
def fold(key: Mask, part: Int) -> Mask:
    """A key extended by one part of an address."""
    return mix(key * _GOLDEN + np.uint64(part) + _GOLDEN)


@jit
def game_key(seed: Mask, row: Int, game: Int) -> Mask:
    """The key of everything random in one game."""
    return fold(fold(mix(seed + _GOLDEN), row), game)


@jit
def deal_key(game: Mask, deal: Int, purpose: Int) -> Mask:
    """The key of all numbers of one purpose in one deal of a game."""
    return fold(fold(game, purpose), deal)


@jit
def draw(key: Mask, index: Int) -> Mask:
    """The ``index``-th 64-bit number of a key."""
    return mix(key + np.uint64(index) * _GOLDEN)


@jit
def below(key: Mask, index: Int, bound: Int) -> Int:
    """The ``index``-th number of a key as an integer in [0, bound), bound < 2**31.

    Multiply and shift of the upper 32 bits: the bias is below bound / 2**32, i.e. under 2e-8 for a pack of cards.
    """
    return np.int64(((draw(key, index) >> _S32) * np.uint64(bound)) >> _S32)
