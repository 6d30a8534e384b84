"""The state of one game of Bettelmann as one NumPy record, its View and its compiled parameters.

Nothing about a game lives anywhere else: copying the record clones the game, ``tobytes`` saves it. A stack is a ring:
its top card stands at ``head``, the one below at the next place. Card ids are kept in bytes, because nothing is
calculated with them; everything else that is small is a signed int32.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np

from bestia_env.bettelmann.rules import CHOICES, MAX_PLAYERS
from bestia_env.cards import MAX_CARDS
from bestia_env.family import record_dtype, state_header

__all__ = ["NEVER", "NOBODY", "PARAMETERS", "RING", "SCORE_BASE", "STATE", "VIEW", "Phase", "Result"]

NOBODY = -1
NO_CYCLE = -1
NOT_SOUGHT = -2
NEVER = np.int64(2**62)  # a number of cards that no game reaches
RING = 64  # places of a stack: a power of two that holds any pack
SCORE_BASE = 12  # shares of 1/1 to 1/4 of a game are whole numbers of twelfths


# One record of the dtypes below, as compiled functions take them; attributes of records have no static type.
State: TypeAlias = Any
View: TypeAlias = Any
Parameters: TypeAlias = Any


class Phase(IntEnum):
    """Where a game stands."""

    LAY = 0
    OVER = 1


class Result(IntEnum):
    """How a game ended (rules: bettelmann, decisions)."""

    RUNNING = 0
    WIN = 1
    LIMIT = 2
    CYCLE = 3
    CAP = 4
    FORFEIT = 5


# The same for compiled code; int64 and not int, for which each value would compile the functions it is passed to anew.
LAY, OVER = (np.int64(phase) for phase in Phase)
RUNNING, WIN, LIMIT, CYCLE, CAP, FORFEIT = (np.int64(result) for result in Result)
CLOSE, PASS_ON = range(len(CHOICES["partial"]))
LATE, IMMEDIATE = range(len(CHOICES["elimination"]))
STACKS_ONLY, FINISH_PILE = range(len(CHOICES["on_limit"]))

STATE = record_dtype(
    [
        *state_header("f8"),
        ("turn", "i4"),  # the seat to lay next
        ("owner", "i4"),  # the seat that laid the pending penalty, -1: none
        ("due", "i4"),  # cards still to be paid
        ("last_seat", "i4"),  # who laid last
        ("num_in", "i4"),  # seats that are not out
        ("cards", "i4"),  # cards laid
        ("piles", "i4"),  # piles taken, the winner's last included
        (
            "cycle_piles",
            "i4",
        ),  # the value of ``piles`` at which the game turns out to go in circles, NO_CYCLE or NOT_SOUGHT
        ("result", "i4"),
        ("pile_length", "i4"),
        ("out", "i4", MAX_PLAYERS),
        ("won", "i4", MAX_PLAYERS),  # 1: has a share in the win or draw
        ("held", "i4", MAX_PLAYERS),  # cards in the stack
        ("head", "i4", MAX_PLAYERS),
        ("pile", "i1", MAX_CARDS),  # in the order laid
        ("stack", "i1", (MAX_PLAYERS, RING)),
    ]
)

# What one seat may know: seats are relative, 0 = the seat itself. Nobody has seen a stack, so all seats know the same.
VIEW = record_dtype(
    [
        ("num_players", "i4"),
        ("phase", "i4"),
        ("actor", "i4"),  # the seat to lay next, -1: nobody
        ("owner", "i4"),
        ("due", "i4"),
        ("cards", "i4"),
        ("piles", "i4"),
        ("pile_length", "i4"),
        ("held", "i4", MAX_PLAYERS),
        ("out", "i4", MAX_PLAYERS),
        ("pile", "i1", MAX_CARDS),  # in the order laid, then -1
        ("legal", "u1", (1,)),  # the action mask at one's own turn, else zero
    ]
)

_NUMBERS = "num_players num_cards num_ranks partial elimination limit on_limit detect_cycle hard_cap".split()

PARAMETERS = record_dtype(
    [
        *((name, "i8") for name in _NUMBERS),
        ("penalty", "i8", MAX_CARDS),  # by card: what the next seat must pay, 0: a number card
    ]
)
