"""One learner among policies, in many games at once: what the Gymnasium and Stable-Baselines3 environments share.

A transition runs from one decision of the learner to its next, or to the end of the game, and collects everything the
seat is paid between (design 8): with several seats the reward of a decision comes in other players' turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env._rows import check_ascending, row_list
from bestia_env.errors import BestiaError, IllegalActionError
from bestia_env.opponents import as_opponents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bestia_env.batch import GameBatch
    from bestia_env.opponents import Opponents
    from bestia_env.policies import Policy

__all__ = ["REWARDS", "LearnerGames"]

REWARDS = ("chips", "score")
IDLE_GAMES = 100  # so many games of a row without a decision of the learner are no luck
LEARNER = -1  # the learner's number among the policies of a table


class LearnerGames:
    """B games in each of which one seat is the learner's and policies play the others.

    After ``begin`` and ``step`` every row waits for its learner (with ``keep_ended`` also at the end of a game).
    Games in which the learner has nothing to decide are played over and counted: what they pay is in
    ``skipped_reward``, because the mean over the learner's episodes alone is not the mean over deals.

    Args:
        batch: the games; it deals the next game by itself.
        opponents: see :func:`bestia_env.opponents.as_opponents`.
        seat: the learner's seat; None rotates it from game to game: (row + game) mod n.
        reward: ``"chips"`` or ``"score"``.
        skip_forced: turns with a single legal action are played by themselves.
        keep_ended: rows whose game has ended wait a step, and are then where the others are at once.

    Attributes:
        seats: (B,) the learner's seat.
        reward: (B,) float64 what the last step paid the learner.
        done: (B,) bool the learner's game ended in the last step.
        truncated: (B,) bool it ended before its time.
        illegal: (B,) bool it ended because the learner's action was not legal.
        decided: (B,) bool the learner has decided in the open game.
        waited: (B,) bool the row had been kept, and went on to its next game in the last step.
        final: (k, F) float32 what the learners of the k rows with ``done`` saw at the end, in the order of rows.
        final_seats: (k,) where they sat.
        settlements: for a row with ``done`` the settlement, where ``keep_settlements`` asks for it.
        skipped_games, skipped_reward: (B,) games since the learner's last one in which it had nothing to decide, and
            what they paid it; of the game that is open now.

    Raises:
        BestiaError: opponents that do not fit the table, or another argument that is not allowed.
    """

    def __init__(
        self,
        batch: GameBatch,
        opponents: Opponents | str | Policy | Sequence[str | Policy],
        *,
        seat: int | None = None,
        reward: str = "chips",
        skip_forced: bool = False,
        keep_ended: bool = False,
    ) -> None:
        n = batch.num_players
        if reward not in REWARDS:
            raise BestiaError(f"reward={reward!r}; allowed are {', '.join(map(repr, REWARDS))}")
        if seat is not None and (type(seat) is not int or not 0 <= seat < n):
            raise BestiaError(f"seat={seat!r}; allowed is None or a seat from 0 to {n - 1}")
        self.batch, self.seat, self.unit, self.skip_forced = batch, seat, reward, skip_forced
        self.keep_ended, self.keep_settlements = keep_ended, False
        size = batch.num_games
        self.seats = np.zeros(size, np.int64)
        self._table = np.full((size, n), LEARNER)  # the number of the policy that plays each seat
        self._policies: dict[int, Policy] = {}  # those at some table, and others until they are cleared away
        self.set_opponents(opponents)
        self.reward, self.skipped_reward, self._pending = np.zeros(size), np.zeros(size), np.zeros(size)
        self.done, self.truncated, self.illegal = np.zeros((3, size), np.bool_)
        self.decided, self.waited, self._kept = np.zeros((3, size), np.bool_)
        self.skipped_games = np.zeros(size, np.int64)
        self.final = np.zeros((0, batch.tensor_layout.size), np.float32)
        self.final_seats = np.zeros(0, np.int64)
        self._finals: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]] = []
        self._views = batch.view(0)
        self._every_row = np.arange(size)
        self._wire()
        self.settlements: dict[int, dict[str, Any]] = {}

    def _wire(self) -> None:
        """Looks up what follows from the batch; pickles do without it."""
        family = self.batch.family
        self._loops, self._parameters = family.loops, family.parameters(self.batch.rules, self.batch.session)
        self.num_actions = self.batch.layout.num_actions

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_loops", "_parameters")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._wire()

    def set_opponents(self, opponents: Opponents | str | Policy | Sequence[str | Policy]) -> None:
        """Seats other opponents in games that begin from now on; those that have begun are played to their end.

        Raises:
            BestiaError: opponents that do not fit the table; nothing has changed.
        """
        given = as_opponents(opponents)
        given.bind(self.batch.rules)
        # numbers of the old opponents stay apart from those of the new
        self._first_number = max(self._policies, default=LEARNER) + 1
        self.opponents = given

    # --- games begin ------------------------------------------------------------------------------------------------

    def begin(
        self,
        rows: ArrayLike | None = None,
        deals: Sequence[Mapping[str, Any] | None] | None = None,
        games: ArrayLike | None = None,
    ) -> None:
        """Begins new games in the given rows (None: all), and plays to the learner's first decision.

        Raises:
            RecordError, BestiaError: see :meth:`bestia_env.GameBatch.reset`; no row has changed.
        """
        chosen = self._every_row if rows is None else row_list(rows, self.batch.num_games)
        check_ascending("rows", chosen)
        ahead = chosen[self._kept[chosen]]
        self.batch.states["game"][ahead] -= 1  # the batch has begun the next game of these rows already
        try:
            self.batch.reset(chosen, deals, games=games)
        except BestiaError:
            self.batch.states["game"][ahead] += 1
            raise
        for values in (self.reward, self.skipped_reward, self._pending, self.skipped_games):
            values[chosen] = 0
        for flags in (self.done, self.truncated, self.illegal, self._kept):
            flags[chosen] = False
        self._sit(chosen)
        self._play(chosen)

    def _sit(self, rows: NDArray[np.int64]) -> None:
        """Gives learner and opponents their seats in games that have just begun."""
        from bestia_env._loops import game_numbers

        n = self.batch.num_players
        states = self.batch.states
        if self.seat is None:
            self.seats[rows] = (states["row"][rows] + states["game"][rows]) % n
        else:
            self.seats[rows] = self.seat
        numbers = np.zeros((len(rows), n - 1), np.uint64)
        game_numbers(states, rows, numbers)
        drawn = self.opponents.draw(numbers) + self._first_number
        self._table[rows, self.seats[rows]] = LEARNER
        for place in range(n - 1):
            self._table[rows, (self.seats[rows] + place + 1) % n] = drawn[:, place]
        self.decided[rows] = False
        for number in np.unique(drawn).tolist():
            if number not in self._policies:
                self._forget_policies()
                self._policies[number] = self.opponents.policy(number - self._first_number)

    def _forget_policies(self) -> None:
        """A pool changes while games are played: who sits at no table any more is let go."""
        used = set(np.unique(self._table).tolist())
        self._policies = {number: policy for number, policy in self._policies.items() if number in used}

    # --- playing ----------------------------------------------------------------------------------------------------

    def step(self, actions: ArrayLike, *, forfeit: bool = False) -> None:
        """Plays the learners' actions, then the opponents until every learner is to act or its game has ended.

        Rows whose game had ended before, and was kept, go on to their next one; their actions are not looked at.

        Args:
            actions: (B,) integers.
            forfeit: an action that is not legal ends its game at the learner's cost (design 7) instead of raising.

        Raises:
            IllegalActionError: an action its row does not offer, or with ``forfeit`` none of the action space; nothing
                has changed.
            BestiaError: not one integer a row.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.batch.num_games,) or chosen.dtype.kind not in "iu":
            raise BestiaError(
                f"actions of shape {chosen.shape}, dtype {chosen.dtype}; allowed are {self.batch.num_games} integers"
            )
        played = ~self._kept
        illegal = self._illegal(chosen, played) if forfeit else np.zeros(0, np.int64)
        played[illegal] = False
        rows = np.flatnonzero(played)
        self.batch.play_rows(rows, chosen[rows].astype(np.int64, copy=False))
        self._new_step()
        self._collect(rows)
        for row in illegal:
            self.illegal[row] = True
            self.batch.forfeit(row)
            self._collect(np.array([row]), stopped=True)
        self._play(self._every_row)
        open_rows = ~(self.done | self.waited)
        self.reward[open_rows], self._pending[open_rows] = self._pending[open_rows], 0.0
        self._sort_finals()

    def _illegal(self, actions: NDArray[Any], played: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Rows with an action that is not on offer."""
        outside = played & ((actions < 0) | (actions >= self.num_actions))
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise IllegalActionError(self.batch.explain_illegal(row, int(actions[row])))
        on_offer = self.batch.legal()[np.arange(len(actions)), np.where(played, actions, 0)]
        return np.flatnonzero(played & ~on_offer)

    def _new_step(self) -> None:
        """Forgets what the last step told; rows that were kept are released."""
        self.waited[:] = self._kept
        acted = ~self.waited
        self.decided[acted] = True
        self.skipped_games[acted], self.skipped_reward[acted] = 0, 0.0
        self.reward[:] = 0.0
        for flags in (self.done, self.truncated, self.illegal, self._kept):
            flags[:] = False
        self.settlements, self._finals = {}, []

    def _play(self, rows: NDArray[np.int64]) -> None:
        """Others decide in the given rows until nobody but learners is to act."""
        actors = self.batch.states["actor"]
        while True:
            rows = rows[~self._kept[rows]]
            turn = actors[rows] != self.seats[rows]
            if self.skip_forced:
                turn[~turn] = self._legal(rows[~turn]).sum(axis=1) == 1
            rows = rows[turn]  # whoever waits now goes on waiting
            if not len(rows):
                return
            self.batch.play_rows(rows, self._decide(rows))
            self._collect(rows)

    def _decide(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """One action a row, of whoever is to act."""
        players = self._table[rows, self.batch.states["actor"][rows]]
        if (players == players[0]).all():
            return self._answer(int(players[0]), rows)
        actions = np.zeros(len(rows), np.int64)
        for number in np.unique(players).tolist():
            places = np.flatnonzero(players == number)
            actions[places] = self._answer(number, rows[places])
        return actions

    def _answer(self, number: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What one policy plays in rows where it is to act; a learner that is asked here has a single action."""
        if number == LEARNER:
            return np.asarray(self._legal(rows).argmax(axis=1))
        policy, keys = self._policies[number], np.zeros(len(rows), np.uint64)
        self._loops.keys(self.batch.states, rows, keys)
        if hasattr(policy, "act_on_masks"):  # a MaskPolicy; isinstance with a protocol takes longer than the game
            return np.asarray(policy.act_on_masks(self._legal(rows).view(np.uint8), keys))
        return policy.act(self.batch.view(rows=rows, out=self._views[: len(rows)]), keys)

    def _legal(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        masks = np.zeros((len(rows), self.num_actions), np.bool_)
        self._loops.legal(self.batch.states, self._parameters, rows, masks)
        return masks

    def _collect(self, rows: NDArray[np.int64], *, stopped: bool = False) -> None:
        """Books what the last step of the batch paid; where it ended games, their successors get their players.

        Args:
            rows: those that were stepped.
            stopped: the batch has not begun their next games.
        """
        paid = self.batch.rewards if self.unit == "chips" else self.batch.scores
        self._pending[rows] += paid[rows, self.seats[rows]]
        ended = rows[self.batch.done[rows]]
        if not len(ended):
            return
        finished, idle = ended[self.decided[ended]], ended[~self.decided[ended]]
        self._finish(finished)
        self.skipped_games[idle] += 1
        self.skipped_reward[idle] += self._pending[idle]
        self._pending[ended] = 0.0
        if (self.skipped_games[idle] > IDLE_GAMES).any():
            raise BestiaError(f"the learner had nothing to decide in {IDLE_GAMES} games of {self.batch.rules}")
        if stopped:
            self.batch.reset(ended)
        self._sit(ended)

    def _finish(self, rows: NDArray[np.int64]) -> None:
        """The learner's games of these rows have ended."""
        if not len(rows):
            return
        self.done[rows], self.reward[rows] = True, self._pending[rows]
        self.truncated[rows] = self.batch.truncated[rows]
        self._kept[rows] = self.keep_ended
        seats = self.seats[rows]
        self._finals.append((rows, seats, self.batch.encode(self.batch.final_view(seats, rows))))
        if self.keep_settlements:
            for row, state in zip(rows.tolist(), self.batch.final_states(rows), strict=True):
                self.settlements[row] = self.batch.family.settlement(self.batch.rules, state)

    def _sort_finals(self) -> None:
        """Last observations in the order of rows; games ended in different rounds of the table."""
        if not self._finals:
            self.final, self.final_seats = self.final[:0], self.final_seats[:0]
            return
        rows, seats, tensors = (np.concatenate(parts) for parts in zip(*self._finals, strict=True))
        order = np.argsort(rows)
        self.final, self.final_seats = tensors[order], seats[order]

    def others_hands(self) -> NDArray[np.float32]:
        """(B, (n - 1) H) the hands of the others, as their tensors show them: for a critic, never for a player.

        Raises:
            BestiaError: a game without hands.
        """
        if "hand" not in self.batch.tensor_layout.slices:
            raise BestiaError(f"central critic for {self.batch.rules}; allowed is one for games with hands")
        n, part = self.batch.num_players, self.batch.tensor_layout.slices["hand"]
        hands = [
            self.batch.encode(self.batch.view((self.seats + place) % n, out=self._views))[:, part]
            for place in range(1, n)
        ]
        return np.concatenate(hands, axis=1)

    # --- asking -----------------------------------------------------------------------------------------------------

    def observe(self) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """(B, F) tensors and (B, A) action masks of the learners, in new arrays.

        A row whose ended game is kept shows the end: its last tensor, and a mask of ones. Nothing is on offer there
        and no action is looked at, but a mask of zeros would make distributions and targets of trainers NaN.
        """
        views = self.batch.view(self.seats, out=self._views)
        tensors = self.batch.encode(views)
        masks = views["legal"][:, : self.num_actions].astype(np.int8)
        if self._kept.any():
            tensors[self._kept] = self.final[self._kept[self.done]]
            masks[self._kept] = 1
        return tensors, masks
