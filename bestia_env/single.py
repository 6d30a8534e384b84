"""The Gymnasium environment: one learner among policies, one game at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bestia_env._deals import known_part
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, RecordError
from bestia_env.learner import LearnerGames
from bestia_env.one_game import Observation, OneGame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules
    from bestia_env.opponents import Opponents
    from bestia_env.policies import Policy
    from bestia_env.session import SessionConfig

__all__ = ["ILLEGAL", "BestiaEnv", "learner_spaces"]

ILLEGAL = ("raise", "terminate")
MODES = (None, "ansi")


def learner_spaces(batch: GameBatch) -> tuple[spaces.Space[Any], spaces.Discrete[Any]]:
    """Observation and action space of one learner of a batch."""
    numbers = spaces.Box(0.0, 1.0, (batch.tensor_layout.size,), np.float32)
    mask = spaces.Box(0, 1, (batch.layout.num_actions,), np.int8)
    return spaces.Dict({"observation": numbers, "action_mask": mask}), spaces.Discrete(batch.layout.num_actions)


class BestiaEnv(gymnasium.Env[Observation, int]):
    """One game of any preset, in which the learner plays one seat and policies the others.

    ``gymnasium.make("bestia_env:bestia/tippen-v0", opponents=["random"] * 3)`` makes it, too.

    An observation is ``{"observation": (F,) float32 in [0, 1], "action_mask": (A,) int8}``; the info holds the mask,
    too. A step lasts from the learner's decision to its next, or to the end of the game, and pays all that its seat
    was paid between. ``info`` tells the learner's ``seat``; at the end the ``settlement`` of the last deal, and a mask
    of ones; at the beginning how many games were skipped because there was nothing to decide (``skipped_games``), and
    what they paid the learner (``skipped_reward``).

    Args:
        rules: a preset's name or rules.
        num_players: seats, when ``rules`` is a name; None is the preset's default.
        opponents: n - 1 policies (names, ``module:attribute``, objects), the first in the seat after the learner; one
            for all seats; or a pool that draws them for each game (:class:`bestia_env.opponents.OpponentPool`).
        seat: the learner's; None rotates it from game to game.
        session: how many deals an episode has, and how it begins; None is a single deal with an empty pot.
        reward: ``"chips"``, or ``"score"``: the equity score in pots.
        illegal_action: ``"raise"``; or ``"terminate"``: the episode ends, the learner is booked as bestia, nobody else
            gains or pays, and ``info["illegal_action"]`` is True.
        skip_forced: turns with a single legal action are played by themselves.
        render_mode: None, or ``"ansi"``: ``render`` returns what the learner sees, as text.
        pad_players: observations get one size for all tables of up to so many seats.
        changes: fields of the preset to change.

    Attributes:
        table: the game as such: ``view(agent)``, ``text_of(action)``, ``pot``, ``phase``, and ``full_state()``, which
            is perfect information.

    Raises:
        RulesError: unknown preset or field, or a session that does not fit the rules.
        BestiaError: another argument has a value that is not allowed.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  # Gymnasium's declaration

    def __init__(
        self,
        rules: str | Rules = "bestia",
        num_players: int | None = None,
        *,
        opponents: Opponents | str | Policy | Sequence[str | Policy] = "random",
        seat: int | None = None,
        session: SessionConfig | None = None,
        reward: str = "chips",
        illegal_action: str = "raise",
        skip_forced: bool = False,
        render_mode: str | None = None,
        pad_players: int | None = None,
        **changes: Any,
    ) -> None:
        check_illegal(illegal_action)
        if render_mode not in MODES:
            raise BestiaError(f"render_mode={render_mode!r}; allowed are None, 'ansi'")
        batch = GameBatch(
            rules, 1, num_players=num_players, seed=0, session=session, pad_players=pad_players, **changes
        )
        self.games = LearnerGames(batch, opponents, seat=seat, reward=reward, skip_forced=skip_forced, keep_ended=True)
        self.games.keep_settlements = True
        self.rules, self.illegal_action, self.render_mode = batch.rules, illegal_action, render_mode
        self.observation_space, self.action_space = learner_spaces(batch)
        self.table = OneGame(batch)
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode and plays to the learner's first decision.

        Args:
            seed: the game is game (0, 0) of this seed. None goes on to the next game of the same seed; the first
                episode without one draws it from ``np_random``.
            options: what to set up (design 8.2), as for the PettingZoo environment; ``game``: a pair (row, j), the
                address of any game of this seed. Games without a decision are skipped here, too.

        Raises:
            RecordError: options contradict themselves or the rules; the environment is as it was.

        Warns:
            UserWarning: an unknown key in options; it is ignored.
        """
        super().reset(seed=seed)
        if not isinstance(options, Mapping | None):
            raise RecordError(f"options={options!r}; allowed is a dict, or None")
        deal = known_part(self.games.batch.family, self.rules, options or {})
        if seed is None and not self.table.begun:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            deal = {"seed": seed, "game": (0, 0)} | deal
        self.games.begin(deals=[deal])
        self.table.begun, self._over = True, False
        return self._told()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays the learner's action, and the others until it is to act again or the game has ended.

        Raises:
            IllegalActionError: no action of the action space, or with ``illegal_action="raise"`` one that is not on
                offer; the environment is as it was.
            BestiaError: before ``reset``, or after the end.
        """
        if self._over:
            raise BestiaError("step: no episode is open; allowed is reset")
        self.games.step(np.asarray([action]), forfeit=self.illegal_action == "terminate")
        self._over = bool(self.games.done[0])
        truncated = bool(self.games.truncated[0])
        observation, info = self._told()
        return observation, float(self.games.reward[0]), self._over and not truncated, truncated, info

    def _told(self) -> tuple[Observation, dict[str, Any]]:
        games = self.games
        tensors, masks = games.observe()
        info: dict[str, Any] = {"action_mask": masks[0].copy(), "seat": int(games.seats[0])}
        if games.done[0]:
            info |= {"seat": int(games.final_seats[0]), "settlement": games.settlements[0]}
            info |= {"illegal_action": True} if games.illegal[0] else {}
        elif not games.decided[0]:
            info |= {"skipped_games": int(games.skipped_games[0]), "skipped_reward": float(games.skipped_reward[0])}
        return {"observation": tensors[0].copy(), "action_mask": masks[0]}, info

    def action_masks(self) -> NDArray[np.bool_]:
        """(A,) the learner's legal actions, as MaskablePPO asks for them; ones after the end."""
        return np.asarray(self.games.observe()[1][0], np.bool_)

    def render(self) -> str:
        """What the learner sees, as text, with ``render_mode="ansi"``.

        Raises:
            BestiaError: before ``reset``, or another mode.
        """
        if self.render_mode != "ansi":
            raise BestiaError(f"render: render_mode={self.render_mode!r}; allowed is 'ansi'")
        return self.table.view_text(f"player_{self.games.seats[0]}")


def check_illegal(illegal_action: object) -> None:
    """Refuses what ``illegal_action`` cannot be.

    Raises:
        BestiaError: neither of the two.
    """
    if illegal_action not in ILLEGAL:
        raise BestiaError(f"illegal_action={illegal_action!r}; allowed are {', '.join(map(repr, ILLEGAL))}")
