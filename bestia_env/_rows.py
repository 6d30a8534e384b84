"""Rows of records as bytes, and the argument checks that the drivers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bestia_env.family import ActionLayout, Rules

__all__ = [
    "address_rows",
    "allowed_text",
    "check_ascending",
    "check_count",
    "check_padding",
    "check_seed",
    "integers",
    "out_array",
    "put_rows",
    "row_list",
    "take_rows",
]


def check_count(name: str, value: object) -> int:
    """A positive integer.

    Raises:
        BestiaError: naming the argument.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise BestiaError(f"{name}={value!r}; allowed is a positive integer")
    return int(value)


def integers(name: str, values: ArrayLike, most: int) -> NDArray[np.int64]:
    """Numbers of rows, seats or games; booleans and floats are refused, never read as numbers.

    Raises:
        BestiaError: naming the argument.
    """
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or (array.size and not (array.min() >= 0 and array.max() <= most)):
        raise BestiaError(f"{name}={values!r}; allowed are integers from 0 to {most}")
    return array.astype(np.int64, copy=False)


def row_list(rows: ArrayLike, num_games: int) -> NDArray[np.int64]:
    """Row numbers of a batch in one list.

    Raises:
        BestiaError: a row out of range, or more than one dimension.
    """
    chosen = np.atleast_1d(integers("rows", rows, num_games - 1))
    if chosen.ndim > 1:
        raise BestiaError(f"rows={rows!r}; allowed are integers from 0 to {num_games - 1} in one list")
    return chosen


def check_ascending(name: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row numbers, if each is greater than the one before.

    Raises:
        BestiaError: naming the argument.
    """
    if (np.diff(rows) <= 0).any():
        raise BestiaError(f"{name}={rows.tolist()}; allowed are row numbers in ascending order, none twice")
    return rows


def address_rows(rows: ArrayLike, num_games: int) -> NDArray[np.int64]:
    """The row numbers of the addresses of a batch's games.

    Raises:
        BestiaError: not one integer from 0 a game.
    """
    numbers = np.asarray(rows)
    if numbers.shape != (num_games,) or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise BestiaError(f"rows={rows!r}; allowed are {num_games} integers from 0, one a game")
    return numbers.astype(np.int64)


def check_padding(pad_players: object) -> int | None:
    """A number of seats to pad to.

    Raises:
        BestiaError: neither None nor a positive integer.
    """
    if pad_players is None or (type(pad_players) is int and pad_players > 0):
        return pad_players
    raise BestiaError(f"pad_players={pad_players!r}; allowed is None or a number of seats")


def check_seed(seed: object) -> int:
    """A seed as an int.

    Raises:
        BestiaError: not an integer from 0 to 2^64 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise BestiaError(f"seed={seed!r}; allowed are integers from 0 to 2^64 - 1")
    return int(seed)


def out_array(out: NDArray[Any] | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array that takes a result: the caller's ``out``, or a new one.

    Raises:
        BestiaError: an ``out`` of another shape or dtype.
    """
    if out is None:
        return np.zeros(shape, dtype)
    if out.shape != shape or out.dtype != dtype:
        raise BestiaError(f"out of shape {out.shape}, dtype {out.dtype}; allowed is shape {shape}, dtype {dtype}")
    return out


def allowed_text(rules: Rules, layout: ActionLayout, state: Any, legal: NDArray[Any]) -> str:
    """The end of an error message: the legal actions by number and name, the address of the decision, the rules."""
    names = ", ".join(f"{action} {layout.name(action)}" for action in np.flatnonzero(legal).tolist())
    address = ", ".join(f"{name}={int(state[name])}" for name in ("seed", "row", "game", "deal", "decision"))
    return f"{names} ({address}; {rules})"


def _as_bytes(records: NDArray[Any]) -> NDArray[np.uint8]:
    """Records as rows of bytes on the same memory: NumPy copies structured rows field by field, and bytes at once."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


def take_rows(array: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """A copy of some rows, of records or of numbers."""
    if array.dtype.fields is None:
        return array[rows]
    return _as_bytes(array)[rows].view(array.dtype).reshape(len(rows))


def put_rows(array: NDArray[Any], rows: NDArray[np.int64], records: NDArray[Any]) -> None:
    """Writes records to some rows."""
    _as_bytes(array)[rows] = _as_bytes(records)
