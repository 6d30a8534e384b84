"""GameBatch: many games of one rule set in one structured array, stepped by compiled loops."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env._deals import DRIVER_KEYS, check_deals, known_part, put_addresses, put_deal
from bestia_env._rows import (
    address_rows,
    allowed_text,
    check_ascending,
    check_count,
    check_padding,
    check_seed,
    integers,
    out_array,
    put_rows,
    row_list,
    take_rows,
)
from bestia_env.errors import BestiaError, IllegalActionError
from bestia_env.family import Rules
from bestia_env.registry import family_of, make_rules
from bestia_env.session import SessionConfig

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["GameBatch"]


class GameBatch:
    """B games of one rule set; row r plays game 0, 1, 2 … of its row, each a function of its address alone.

    Args:
        rules: a preset's name or rules.
        num_games: B.
        num_players: seats, when ``rules`` is a name; None is the preset's default.
        seed: the first part of every game's address; None draws one from the operating system.
        session: how many deals a game has, and how it begins.
        autoreset: a finished row deals its next game within the same step (Gymnasium's SAME_STEP): rewards, scores and
            done speak of the game that ended, actor, legal and view of the new one. False: it stops.
        rows: (B,) row numbers of the addresses; rows that share a number play the same deals. None: 0 … B-1.
        pad_players: tensors get one size for all tables of up to so many seats.
        changes: fields of the preset to change.

    Attributes:
        states: (B,) state records of the family; ``states["pot"]`` is a view over all games.
        rewards: (B, n) chips booked in the last step (int64; float64 in families whose wins are fractions).
            This array and the next three are written again by the next step.
        scores: (B, n) float64 score of the deals that ended in the last step (design 8.3).
        done: (B,) bool, the game of the row ended in the last step.
        truncated: (B,) bool, it ended before its time because the pot outgrew 2^53 chips.

    Raises:
        RulesError: unknown preset or field, or a session that does not fit.
        BestiaError: ``num_games`` or ``seed`` out of range.
    """

    def __init__(
        self,
        rules: str | Rules,
        num_games: int = 1,
        *,
        num_players: int | None = None,
        seed: int | None = None,
        session: SessionConfig | None = None,
        autoreset: bool = True,
        rows: ArrayLike | None = None,
        pad_players: int | None = None,
        **changes: Any,
    ) -> None:
        if isinstance(rules, str):
            rules = make_rules(rules, num_players, **changes)
        elif changes or num_players is not None:
            raise BestiaError(f"num_players, {sorted(changes)}: allowed only with a preset's name, not with rules")
        self.rules = rules
        if not isinstance(session, SessionConfig | None):
            raise BestiaError(f"session={session!r}; allowed is a SessionConfig or None")
        self.session = session or SessionConfig()
        self.num_games = check_count("num_games", num_games)
        self.autoreset = autoreset
        self.pad_players = check_padding(pad_players)
        self.seed = check_seed(secrets.randbits(63) if seed is None else seed)
        self._wire()
        self.num_players = rules.num_players
        self.states: NDArray[Any] = np.zeros(self.num_games, self.family.state_dtype)
        self.states["seed"] = self.seed
        self.states["row"] = np.arange(num_games) if rows is None else address_rows(rows, self.num_games)
        self._ended = np.zeros(self.num_games, self.family.state_dtype)  # games that ended in the last step, packed
        shape = (self.num_games, self.num_players)
        self.rewards: NDArray[Any] = np.zeros(shape, self.family.reward_dtype)
        self.scores: NDArray[np.float64] = np.zeros(shape)
        self.done: NDArray[np.bool_] = np.zeros(self.num_games, np.bool_)
        self.truncated: NDArray[np.bool_] = np.zeros(self.num_games, np.bool_)
        self._loops.start(self.states, self._parameters, self._all, False)

    def _wire(self) -> None:
        """Looks up what follows from rules, session and sizes; pickles do without it."""
        self.family = family_of(self.rules)
        self.layout = self.family.layout(self.rules)
        self._loops = self.family.loops
        self._parameters = self.family.parameters(self.rules, self.session)
        self._tensor = self.family.tensor(self.rules, self.pad_players)
        self._all = np.arange(self.num_games)

    def _clear_outcome(self) -> None:
        self.rewards[:] = 0
        self.scores[:] = 0
        self.done[:] = False
        self.truncated[:] = False

    # --- beginning games --------------------------------------------------------------------------------------------

    def reset(
        self,
        rows: ArrayLike | None = None,
        deals: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        games: ArrayLike | None = None,
    ) -> None:
        """Begins a new game in the given rows (None: all).

        Args:
            rows: row indices; without ``games`` each goes on to the next game of its address.
            deals: one deal a row (design 8.2), None where nothing is set up; what a deal does not say is random.
            games: (len(rows), 2) addresses (row, game) to begin at.

        Raises:
            RecordError: a deal contradicts itself or the rules; no row has changed.
            BestiaError: a row out of range, or lists of different lengths.
        """
        chosen = self._rows(rows)
        wanted = [None] * len(chosen) if deals is None else check_deals(deals, len(chosen))
        fresh = take_rows(self.states, chosen)
        put_addresses(fresh, games, wanted)
        places = np.arange(len(chosen))
        self._loops.prepare(fresh, self._parameters, places)
        set_up = self._set_up(fresh, wanted)
        self._loops.start(fresh, self._parameters, places[set_up], True)
        self._loops.start(fresh, self._parameters, places[~set_up], False)
        put_rows(self.states, chosen, fresh)
        self._forget_outcome(chosen)

    def _set_up(self, fresh: NDArray[Any], deals: Sequence[Mapping[str, Any] | None]) -> NDArray[np.bool_]:
        """Writes the deals that say more than an address into prepared games; tells which games have one."""
        written = np.zeros(len(deals), np.bool_)
        for place, deal in enumerate(deals):
            known = known_part(self.family, self.rules, deal or {})
            if known.keys() - DRIVER_KEYS:
                put_deal(self.family, self.rules, fresh[place : place + 1], known)
                written[place] = True
        return written

    def _forget_outcome(self, rows: NDArray[np.int64]) -> None:
        """Rows that begin anew have not just ended."""
        kept = self.done.copy()
        kept[rows] = False
        ended = take_rows(self._ended, self._ended_places(np.flatnonzero(kept)))
        put_rows(self._ended, np.arange(len(ended)), ended)
        self.done, self.truncated[rows] = kept, False
        self.rewards[rows] = 0
        self.scores[rows] = 0

    def _rows(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        return self._all if rows is None else row_list(rows, self.num_games)

    # --- asking -----------------------------------------------------------------------------------------------------

    @property
    def actor(self) -> NDArray[np.int32]:
        """(B,) seat to act, -1 once the row has stopped; a copy."""
        return np.array(self.states["actor"])

    @property
    def game_id(self) -> NDArray[np.int64]:
        """(B, 2) the (row, game) part of every game's address."""
        return np.stack([self.states["row"], self.states["game"]], axis=1)

    def legal(self, out: NDArray[np.bool_] | None = None, rows: ArrayLike | None = None) -> NDArray[np.bool_]:
        """(B, A) action masks of the actors (of the given rows); rows that have stopped are all zero.

        ``out`` of this and the next methods takes the result, which saves the memory system's share of the time: new
        arrays of a large batch cost as much as filling them.
        """
        chosen = self._rows(rows)
        out = out_array(out, (len(chosen), self.layout.num_actions), np.dtype(np.bool_))
        self._loops.legal(self.states, self._parameters, chosen, out)
        return out

    def view(
        self, seats: ArrayLike | None = None, rows: ArrayLike | None = None, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """View records of the actors, or of the given seats (one a row, or one for all).

        Args:
            seats: who looks; None is the actor (seat 0 where nobody acts).
            rows: which rows; None is all.
            out: an array that an earlier call for this batch returned, to be filled again.

        Raises:
            BestiaError: a seat or row out of range, or an ``out`` of another shape.
        """
        return self._view(self.states, seats, self._rows(rows), out)

    def final_view(self, seats: ArrayLike, rows: ArrayLike | None = None) -> NDArray[Any]:
        """Views of the games that ended in the last step, for rows where ``done`` is true.

        Raises:
            BestiaError: a seat or row out of range, or a row whose game has not just ended.
        """
        return self._view(self._ended, seats, self._just_ended(rows))

    def final_states(self, rows: ArrayLike | None = None) -> NDArray[Any]:
        """Copies of the state records of games that ended in the last step: perfect information, no observation.

        Raises:
            BestiaError: see :meth:`final_view`.
        """
        return take_rows(self._ended, self._just_ended(rows))

    def _just_ended(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Where the games of these rows stand among those that have just ended."""
        chosen = np.flatnonzero(self.done) if rows is None else self._rows(rows)
        if not self.done[chosen].all():
            raise BestiaError(
                f"rows={chosen[~self.done[chosen]].tolist()} have not just ended; allowed are rows with done"
            )
        return self._ended_places(chosen)

    def _ended_places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where rows that have just ended stand in ``_ended``, which holds no others."""
        return np.asarray(np.cumsum(self.done)[rows] - 1)

    def _view(
        self,
        states: NDArray[Any],
        seats: ArrayLike | None,
        rows: NDArray[np.int64],
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        if seats is None:
            who = np.maximum(states["actor"][rows], 0).astype(np.int64)
        else:
            given = integers("seats", seats, self.num_players - 1)
            if given.shape not in ((), rows.shape):
                raise BestiaError(f"seats={seats!r}; allowed is one, or one for each of the {len(rows)} rows")
            who = np.broadcast_to(given, rows.shape)
        views = out_array(out, (len(rows),), self.family.view_dtype)
        self._loops.observe(states, self._parameters, rows, who, views)
        return views

    def encode(self, views: NDArray[Any], out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """(len(views), F) tensors in [0, 1]; see ``tensor_layout``.

        Raises:
            BestiaError: Views of another table size, or an ``out`` of another shape.
        """
        self._check_views(views)
        out = out_array(out, (len(views), self._tensor.size), np.dtype(np.float32))
        self._loops.encode(views, self._parameters, self._tensor.parameters, out)
        return out

    def _check_views(self, views: object) -> None:
        if not isinstance(views, np.ndarray) or views.dtype != self.family.view_dtype or views.ndim != 1:
            raise BestiaError(f"views={views!r}; allowed is an array of Views of the {self.family.name} family")
        if len(views) and not (views["num_players"] == self.num_players).all():
            raise BestiaError(f"views of {views['num_players'].max()} seats; allowed are those of {self.num_players}")

    def keys(self, rows: ArrayLike | None = None, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """(B,) one random key an open decision: a function of deal address, seat and decision number."""
        chosen = self._rows(rows)
        out = out_array(out, chosen.shape, np.dtype(np.uint64))
        self._loops.keys(self.states, chosen, out)
        return out

    def random_actions(self) -> NDArray[np.int64]:
        """(B,) uniformly random legal actions, 0 in rows that have stopped."""
        out = np.zeros(self.num_games, np.int64)
        self._loops.random_actions(self.states, self._parameters, out)
        return out

    # --- playing ----------------------------------------------------------------------------------------------------

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> None:
        """Plays one action in every row that has an actor; then read rewards, scores, done and truncated.

        Args:
            actions: one integer a row.
            rows: which rows play, in ascending order; the others stay as they are, with rewards 0 and done false.
                None is all.

        Raises:
            IllegalActionError: an action its row does not offer; no row has changed.
            BestiaError: not one integer a row, or rows out of range or out of order.
        """
        places = self._all if rows is None else check_ascending("rows", self._rows(rows))
        chosen = np.ascontiguousarray(actions, dtype=None)
        if chosen.shape != places.shape or chosen.dtype.kind not in "iu":
            raise BestiaError(
                f"actions of shape {chosen.shape}, dtype {chosen.dtype}; allowed are {len(places)} integers"
            )
        self.play_rows(places, chosen.astype(np.int64, copy=False))

    def play_rows(self, places: NDArray[np.int64], chosen: NDArray[np.int64]) -> None:
        """``step`` for a driver that has its rows (ascending) and actions (one a row) in order already.

        Raises:
            IllegalActionError: see ``step``.
        """
        wrong = self._loops.first_illegal(self.states, self._parameters, places, chosen)
        if wrong >= 0:
            raise IllegalActionError(self.explain_illegal(int(places[wrong]), int(chosen[wrong])))
        if places is not self._all:
            self._clear_outcome()
        outcome = (self.rewards, self.scores, self.done, self.truncated, self._ended)
        ended = self._loops.step(self.states, self._parameters, places, chosen, *outcome)
        if ended and self.autoreset:
            finished = np.flatnonzero(self.done)
            self.states["game"][finished] += 1
            self._loops.start(self.states, self._parameters, finished, False)

    def explain_illegal(self, row: int, action: int) -> str:
        """Why an action is not legal in a row: seat, phase, action, what is allowed, and the address."""
        state = self.states[row]
        phase = self.family.phases[int(state["phase"])]
        named = f"{action} {self.layout.name(action)}" if 0 <= action < self.layout.num_actions else str(action)
        allowed = allowed_text(self.rules, self.layout, state, self.legal()[row])
        return (
            f"row {row}: seat {int(state['actor'])} in phase {phase} cannot play action {named}; allowed are {allowed}"
        )

    def forfeit(self, row: int) -> None:
        """Ends the game of a row because its actor acted illegally (design 7): read rewards, scores and done.

        The offender is booked as bestia, nobody else gains or pays. The row stops; ``reset`` begins its next game.

        Raises:
            BestiaError: the row has stopped already.
        """
        row = int(self._rows(row)[0])
        offender = int(self.states["actor"][row])
        if offender < 0:
            raise BestiaError(f"row={row} has stopped; allowed are rows with an actor")
        self._clear_outcome()
        self._loops.forfeit(self.states, self._parameters, row, offender, self.rewards[row], self.scores[row])
        self.done[row] = True
        self._ended[0] = self.states[row]

    # --- copies -----------------------------------------------------------------------------------------------------

    def clone(self, rows: ArrayLike | None = None, copies: int = 1) -> GameBatch:
        """An independent batch of the given rows, each ``copies`` times in a row; it goes on with equal luck.

        Raises:
            BestiaError: a row out of range, or fewer than one copy.
        """
        check_count("copies", copies)
        chosen = np.repeat(self._rows(rows), copies)
        twin = GameBatch.__new__(GameBatch)
        twin.__dict__.update(self.__dict__)
        twin.num_games = len(chosen)
        twin._all = np.arange(len(chosen))
        for name in ("states", "rewards", "scores", "done", "truncated"):
            setattr(twin, name, take_rows(getattr(self, name), chosen))
        twin._ended = np.zeros(len(chosen), self.family.state_dtype)
        ended = take_rows(self._ended, self._ended_places(chosen[twin.done]))
        twin._ended[: len(ended)] = ended
        return twin

    def redeal(self, views: NDArray[Any], keys: NDArray[np.uint64], copies: int = 1) -> GameBatch:
        """A batch of ``copies`` games for each View, uniform among those consistent with it; the viewer is seat 0.

        Args:
            views: (k,) Views of these rules.
            keys: (k * copies,) uint64, one a game; it is the seed of the game's further luck.
            copies: games a View.

        Raises:
            BestiaError: another number of keys.
        """
        check_count("copies", copies)
        self._check_views(views)
        keys = np.ascontiguousarray(keys)
        if keys.dtype != np.uint64 or keys.shape != (len(views) * copies,):
            raise BestiaError(
                f"keys of shape {keys.shape}, dtype {keys.dtype}; allowed is ({len(views)} x {copies},), uint64"
            )
        twin = self.clone(np.zeros(len(keys), np.int64))
        twin.autoreset = False
        twin.states = np.zeros(len(keys), self.family.state_dtype)
        twin._clear_outcome()
        if len(keys):
            self._loops.redeal(views, self._parameters, keys, twin.states)
        return twin

    @property
    def tensor_layout(self) -> Any:
        """The :class:`~bestia_env.family.TensorLayout` of ``encode``."""
        return self._tensor

    def __deepcopy__(self, memo: dict[int, Any]) -> GameBatch:
        return self.clone()  # NumPy copies structured rows field by field and leaves garbage between the fields

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in _KEPT}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._wire()


_KEPT = (
    "rules session num_games num_players autoreset pad_players seed states _ended rewards scores done truncated"
).split()
