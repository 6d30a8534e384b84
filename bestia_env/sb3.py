"""The vector environment of Stable-Baselines3: many games in one batch, one learner in each, masks for MaskablePPO.

Needs the extra ``train``. Nothing here is wrapped a game at a time, as ``DummyVecEnv`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from bestia_env._deals import known_part
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError
from bestia_env.learner import LearnerGames
from bestia_env.single import learner_spaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules
    from bestia_env.opponents import Opponents
    from bestia_env.policies import Policy
    from bestia_env.session import SessionConfig

__all__ = ["BestiaVecEnv"]


class BestiaVecEnv(VecEnv):
    """B games of one preset for ``MaskablePPO("MlpPolicy", BestiaVecEnv("bestia", num_envs=256, …))``.

    Observations are (B, F) float32 tensors; ``env_method("action_masks")`` gives the (A,) bool mask of each row, of
    the same moment. Row r plays game (r, 0), (r, 1), … of the seed. A step that ends a game returns the first
    observation of the next one, and in the row's info ``terminal_observation``, ``TimeLimit.truncated``, the learner's
    ``seat``, and ``episode``, its return ``r`` and length ``l``, as Monitor would write them. The info of a row that
    begins a game after skipping others, in which its learner had nothing to decide, tells ``skipped_games`` and
    ``skipped_reward``. Arrays are new at every step.

    Args:
        rules: and all other arguments as for :class:`~bestia_env.vector.BestiaVectorEnv`.
        num_envs: B.
        seed: of the first games; MaskablePPO's ``seed`` argument, or :meth:`seed`, replaces it at the next reset.
        dict_observation: observations are ``{"observation": …, "action_mask": …}``, for a MultiInputPolicy.
        central: for a critic, never for a player: after the learner's tensor come the hands of the others, the next
            seat's first; (B, F + (n - 1) H) with H the size of the tensor's part ``hand``.

    Raises:
        RulesError: unknown preset or field, or a session that does not fit the rules.
        BestiaError: another argument has a value that is not allowed.
    """

    def __init__(
        self,
        rules: str | Rules = "bestia",
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        opponents: Opponents | str | Policy | Sequence[str | Policy] = "random",
        seat: int | None = None,
        session: SessionConfig | None = None,
        reward: str = "chips",
        skip_forced: bool = False,
        pad_players: int | None = None,
        seed: int | None = None,
        dict_observation: bool = False,
        central: bool = False,
        **changes: Any,
    ) -> None:
        batch = GameBatch(
            rules, num_envs, num_players=num_players, seed=seed, session=session, pad_players=pad_players, **changes
        )
        self.games = LearnerGames(batch, opponents, seat=seat, reward=reward, skip_forced=skip_forced)
        self.rules, self.dict_observation = batch.rules, dict_observation
        self.render_mode: str | None = None
        self._masks = np.ones((batch.num_games, batch.layout.num_actions), np.bool_)
        self._actions: NDArray[Any] | None = None
        self._returns, self._lengths = np.zeros(batch.num_games), np.zeros(batch.num_games, np.int64)
        self._first_seed: int | None = batch.seed
        observation, action = learner_spaces(batch)
        if central and dict_observation:
            raise BestiaError("central=True with dict_observation=True; allowed is one of them")
        self._central = central
        if not dict_observation:
            observation = observation["observation"]  # type: ignore[index]  # a Dict space
        if central:
            numbers = batch.tensor_layout.size + self.games.others_hands().shape[1]
            observation = spaces.Box(0.0, 1.0, (numbers,), np.float32)
        super().__init__(batch.num_games, observation, action)

    def set_opponents(self, opponents: Opponents | str | Policy | Sequence[str | Policy]) -> None:
        """Seats other opponents, in games that begin from now on.

        Raises:
            BestiaError: opponents that do not fit the table.
        """
        self.games.set_opponents(opponents)

    # --- playing ----------------------------------------------------------------------------------------------------

    def reset(self) -> Any:
        """Begins a game in every row: game (r, 0) after a seed was given, else the next one of each row.

        Raises:
            RecordError: options of :meth:`set_options` contradict themselves or the rules.
        """
        seed = self._first_seed if self._seeds[0] is None else self._seeds[0]
        family, rules = self.games.batch.family, self.rules
        deals = [known_part(family, rules, options) for options in self._options]
        if seed is not None:
            deals = [{"seed": int(seed), "game": (row, 0)} | deal for row, deal in enumerate(deals)]
        self.games.begin(deals=deals)
        self._returns[:], self._lengths[:], self._first_seed = 0.0, 0, None
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._infos(np.ones(self.num_envs, np.bool_))
        return self.observe()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Takes the actions of the next :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Plays the actions, and the others until every learner is to act.

        Raises:
            IllegalActionError: an action its row does not offer; nothing has changed.
            BestiaError: no actions were given.
        """
        if self._actions is None:
            raise BestiaError("step_wait: no actions; allowed is step_async before it")
        actions, self._actions = self._actions, None
        games = self.games
        games.step(actions)
        self._returns += games.reward
        self._lengths += 1
        infos = self._infos(games.done & (games.skipped_games > 0))
        observation = self.observe()
        finals = games.final
        if self._central:  # hands of ended games are not kept; one that was cut off is valued without them
            hands = np.zeros((len(finals), observation.shape[1] - finals.shape[1]), np.float32)
            finals = np.concatenate([finals, hands], axis=1)
        for place, row in enumerate(np.flatnonzero(games.done).tolist()):
            last: Any = finals[place]
            if self.dict_observation:
                last = {"observation": last, "action_mask": np.ones(games.num_actions, np.int8)}
            infos[row] |= {
                "terminal_observation": last,
                "TimeLimit.truncated": bool(games.truncated[row]),
                "seat": int(games.final_seats[place]),
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row])},
            }
        self._returns[games.done], self._lengths[games.done] = 0.0, 0
        return observation, games.reward.astype(np.float32), games.done.copy(), infos

    def observe(self) -> Any:
        """(B, F) what the learners see now, as the last step returned it; or the dict of tensors and masks."""
        tensors, masks = self.games.observe()
        self._masks = masks.view(np.bool_)
        if self._central:
            return np.concatenate([tensors, self.games.others_hands()], axis=1)
        return {"observation": tensors, "action_mask": masks.copy()} if self.dict_observation else tensors

    def _infos(self, skipped: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """One dict a row; ``skipped`` marks those that tell of skipped games."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(skipped).tolist():
            infos[row]["skipped_games"] = int(self.games.skipped_games[row])
            infos[row]["skipped_reward"] = float(self.games.skipped_reward[row])
        return infos

    def close(self) -> None:
        """There is nothing to release."""

    # --- what Stable-Baselines3 asks for ----------------------------------------------------------------------------

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, A) the legal actions of the learners, of the moment of the last observation."""
        return self._masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Whether the rows have an attribute: those of this object."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this object, once for each row asked for.

        Raises:
            AttributeError: there is none.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the rows are one batch; its opponents change through their pool.

        Raises:
            BestiaError: always.
        """
        raise BestiaError(f"set_attr {attr_name!r}; allowed is to change the opponents' pool, or to make a new env")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """``action_masks`` of each row asked for.

        Raises:
            AttributeError: another method; rows of a batch have none.
        """
        if method_name != "action_masks" or method_args or method_kwargs:
            raise AttributeError(f"env_method {method_name!r}; allowed is 'action_masks', without arguments")
        masks = self.action_masks()
        return [masks[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each row asked for."""
        return [False for _ in self._get_indices(indices)]
