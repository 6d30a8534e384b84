"""The native vector environment of Gymnasium: many games in one batch, one learner in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bestia_env._deals import known_part
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, RecordError
from bestia_env.learner import LearnerGames
from bestia_env.single import check_illegal, learner_spaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules
    from bestia_env.one_game import Observation
    from bestia_env.opponents import Opponents
    from bestia_env.policies import Policy
    from bestia_env.session import SessionConfig

__all__ = ["BestiaVectorEnv"]

Infos = dict[str, Any]


class BestiaVectorEnv(VectorEnv["Observation", "NDArray[np.int64]", "NDArray[Any]"]):
    """B games of one preset; ``gymnasium.make_vec("bestia_env:bestia/tippen-v0", num_envs=B)`` makes it, too.

    Row r of ``reset(seed=s)`` plays game (r, 0), (r, 1), … of seed s, so that seeds s and s + 1 share no game. With a
    list of seeds each row plays what :class:`~bestia_env.single.BestiaEnv` plays with that seed.

    Observations are ``{"observation": (B, F) float32, "action_mask": (B, A) int8}``; ``infos["action_mask"]`` is a copy
    of the mask, ``infos["seat"]`` the learner's seats. ``skipped_games`` and ``skipped_reward`` (see
    :class:`~bestia_env.single.BestiaEnv`) stand beside the first observation of an episode. Arrays that were returned
    are never written again.

    Args:
        num_envs: B.
        rules: and the arguments after it as for :class:`~bestia_env.single.BestiaEnv`.
        autoreset_mode: ``SAME_STEP``: a step that ends a game returns the first observation of the next one, and the
            last of the ended one in ``infos["final_obs"]``, its seat in ``infos["final_info"]``; ``NEXT_STEP``: the
            step after the end ignores the action, and returns it with reward 0; ``DISABLED``: the caller resets,
            with ``options={"reset_mask": (B,) bool}``.

    Raises:
        RulesError: unknown preset or field, or a session that does not fit the rules.
        BestiaError: another argument has a value that is not allowed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "bestia",
        num_players: int | None = None,
        *,
        opponents: Opponents | str | Policy | Sequence[str | Policy] = "random",
        seat: int | None = None,
        session: SessionConfig | None = None,
        reward: str = "chips",
        illegal_action: str = "raise",
        skip_forced: bool = False,
        pad_players: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: None = None,
        **changes: Any,
    ) -> None:
        check_illegal(illegal_action)
        if render_mode is not None:
            raise BestiaError(f"render_mode={render_mode!r}; allowed is None: look at one game with BestiaEnv")
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(repr(known.value) for known in AutoresetMode)
            raise BestiaError(f"autoreset_mode={autoreset_mode!r}; allowed are {names}") from None
        batch = GameBatch(
            rules, num_envs, num_players=num_players, seed=0, session=session, pad_players=pad_players, **changes
        )
        kept = mode != AutoresetMode.SAME_STEP
        self.games = LearnerGames(batch, opponents, seat=seat, reward=reward, skip_forced=skip_forced, keep_ended=kept)
        self.num_envs, self.rules, self.illegal_action = batch.num_games, batch.rules, illegal_action
        self.metadata = {"render_modes": [], "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.single_observation_space, self.single_action_space = learner_spaces(batch)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._begun = False

    # --- reset ------------------------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, Infos]:
        """Begins an episode in every row, or in those of ``reset_mask``.

        Args:
            seed: of all rows; a list with one a row; None goes on to the next games of the same seed, and the first
                time draws one from ``np_random``.
            options: ``reset_mask``: (B,) bool; what else there is is set up in every row that is reset (design 8.2).

        Raises:
            RecordError: options contradict themselves or the rules; nothing has changed.
            BestiaError: a list of seeds of another length, or a mask that is none.
        """
        whole = int(seed) if isinstance(seed, int | np.integer) else None
        super().reset(seed=whole)
        if not isinstance(options, Mapping | None):
            raise RecordError(f"options={options!r}; allowed is a dict, or None")
        told = dict(options or {})
        rows = self._masked(told.pop("reset_mask", None))
        deal = known_part(self.games.batch.family, self.rules, told)
        if seed is None and not self._begun:
            whole = int(self.np_random.integers(2**63))
        deals: list[dict[str, Any]] = [dict(deal) for _ in rows]
        if whole is not None:
            for row, own in zip(rows.tolist(), deals, strict=True):
                own |= {"seed": whole, "game": (row, 0)} | deal
        elif seed is not None:
            listed = [seed] if isinstance(seed, int) else list(seed)
            if len(listed) != self.num_envs:
                raise BestiaError(f"seed: {len(listed)} given for {self.num_envs} rows; allowed is one a row")
            for row, own in zip(rows.tolist(), deals, strict=True):
                own |= {} if listed[row] is None else {"seed": listed[row], "game": (0, 0)} | deal
        self.games.begin(rows, deals)
        self._begun = True
        first = np.zeros(self.num_envs, np.bool_)
        first[rows] = True
        return self._told(first)

    def _masked(self, mask: object) -> NDArray[np.int64]:
        if mask is None:
            return np.arange(self.num_envs)
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_ or not array.any():
            raise BestiaError(f"reset_mask={mask!r}; allowed are {self.num_envs} booleans, one of them True at least")
        return np.flatnonzero(array)

    # --- step -------------------------------------------------------------------------------------------------------

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Plays the learners' actions, and the others until every learner is to act or its game has ended.

        Raises:
            IllegalActionError: no action of the action space, or with ``illegal_action="raise"`` one that is not on
                offer; nothing has changed.
            BestiaError: before ``reset``, not one integer a row, or with ``DISABLED`` a row that has ended.
        """
        games = self.games
        if not self._begun:
            raise BestiaError("step: no episode is open; allowed is reset")
        if self.autoreset_mode == AutoresetMode.DISABLED and games.done.any():
            raise BestiaError(
                f"step: rows {np.flatnonzero(games.done).tolist()} have ended; allowed is reset with a reset_mask"
            )
        games.step(actions, forfeit=self.illegal_action == "terminate")
        ended = games.done
        same = self.autoreset_mode == AutoresetMode.SAME_STEP
        observation, infos = self._told(ended if same else games.waited)
        if ended.any():
            self._tell_ends(ended, infos, same=same)
        truncated = games.truncated.copy()
        return observation, games.reward.copy(), ended & ~truncated, truncated, infos

    def _told(self, first: NDArray[np.bool_]) -> tuple[Observation, Infos]:
        """Observations and infos; ``first`` marks the rows that begin an episode."""
        games = self.games
        tensors, masks = games.observe()
        infos: Infos = {}
        every = np.ones(self.num_envs, np.bool_)
        _put(infos, "action_mask", masks.copy(), every)
        _put(infos, "seat", games.seats.copy(), every)
        if first.any():
            _put(infos, "skipped_games", games.skipped_games.copy(), first)
            _put(infos, "skipped_reward", games.skipped_reward.copy(), first)
        return {"observation": tensors, "action_mask": masks}, infos

    def _tell_ends(self, ended: NDArray[np.bool_], infos: Infos, *, same: bool) -> None:
        """What the infos say of rows whose game has ended with this step."""
        games = self.games
        seats = np.zeros(self.num_envs, np.int64)
        seats[ended] = games.final_seats
        about: Infos = {}
        _put(about, "seat", seats, ended)
        if games.illegal.any():
            _put(about, "illegal_action", games.illegal.copy(), ended)
        if not same:
            infos["seat"][ended] = games.final_seats
            infos |= {name: told for name, told in about.items() if "illegal" in name}
            return
        last = np.full(self.num_envs, None, object)
        mask = np.ones((int(ended.sum()), games.num_actions), np.int8)
        # fromiter, because NumPy looks into every dict of a list for what might be an array
        last[ended] = np.fromiter(
            ({"observation": tensor, "action_mask": ones} for tensor, ones in zip(games.final, mask, strict=True)),
            dtype=object,
            count=len(mask),
        )
        _put(infos, "final_obs", last, ended)
        _put(infos, "final_info", about, ended)

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, A) the learners' legal actions; ones where an ended game waits."""
        return np.asarray(self.games.observe()[1], np.bool_)


def _put(infos: Infos, name: str, values: Any, rows: NDArray[np.bool_]) -> None:
    """Gymnasium's form: the values, and beside them which rows they are of."""
    infos[name], infos[f"_{name}"] = values, rows.copy()
