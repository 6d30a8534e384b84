"""The PettingZoo environment: one game, one seat after another, as a batch of one.

Order and bounds of the calls are checked here, because PettingZoo's wrappers for it cost more time than the game.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pettingzoo import AECEnv

from bestia_env._deals import known_part
from bestia_env._loops import DEAL_ENDED, NOT_LEGAL
from bestia_env._rows import check_seed
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, IllegalActionError, RecordError
from bestia_env.one_game import Observation, OneGame
from bestia_env.register import ENV_VERSION

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pettingzoo.utils.env import AECIterable

    from bestia_env.family import Rules
    from bestia_env.policies import Policy
    from bestia_env.session import SessionConfig

__all__ = ["BestiaAEC", "aec_env"]

REWARDS = {
    "chips": "chips: what each deal won or lost a seat, antes and stakes included, booked to all at its settlement",
    "score": "score of each deal (in games with a pot the equity score, in pots), booked to all at its settlement",
}
# PettingZoo's render_test builds every environment for "human" before it asks which modes there are.
KNOWN_MODES = (None, "ansi", "human", "rgb_array")


def aec_env(
    rules: str | Rules,
    num_players: int | None = None,
    *,
    session: SessionConfig | None = None,
    reward: str = "chips",
    illegal_action: str = "raise",
    render_mode: str | None = None,
    pad_players: int | None = None,
    seed: int | None = None,
    **changes: Any,
) -> BestiaAEC:
    """A PettingZoo environment of a preset, or of rules.

    Args:
        rules: a preset's name or rules.
        num_players: seats, when ``rules`` is a name; None is the preset's default.
        session: how many deals an episode has, and how it begins; None is a single deal with an empty pot.
        reward: ``"chips"`` or ``"score"``, see :class:`BestiaAEC`.
        illegal_action: ``"raise"`` or ``"terminate"``, see :meth:`BestiaAEC.step`.
        render_mode: ``"ansi"``, or None.
        pad_players: observations get one size for all tables of up to so many seats.
        seed: of the first ``reset`` that is given none; None draws one from the operating system.
        changes: fields of the preset to change.

    Raises:
        RulesError: unknown preset or field, or a session that does not fit the rules.
        BestiaError: another argument has a value that is not allowed.
    """
    batch = GameBatch(rules, 1, num_players=num_players, seed=seed, session=session, autoreset=False, **changes)
    return BestiaAEC(
        batch, reward=reward, illegal_action=illegal_action, render_mode=render_mode, pad_players=pad_players
    )


class BestiaAEC(OneGame, AECEnv[str, Observation, int]):
    """One game of any family; :func:`aec_env` makes it.

    Agents are ``player_0`` … ``player_{n-1}``, their numbers are the seats. All of them stay in ``agents`` until the
    session ends, also those that are out of a deal; then each takes one step with None, in the order of the seats.

    An observation is ``{"observation": (F,) float32 in [0, 1], "action_mask": (A,) int8}``. The mask stands in the
    agent's info too, and is zero for everybody who is not to act. Arrays that were returned are never written again.

    Rewards are booked to all seats when a deal is settled: ``"chips"`` are whole numbers, what the deal won or lost,
    antes and stakes included; ``"score"`` is the equity score in units of the pot. From then on until the agent's own
    next step its info holds the latest ``settlement``. ``metadata["reward"]`` tells the unit.

    An episode is truncated only if the pot outgrows 2^53 chips, or at a game's own limit of cards. Everything about
    the game is in one record, so pickle, deepcopy and :meth:`clone` are exact in the middle of it.
    """

    metadata: dict[str, Any] = {"name": "bestia", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012  # PettingZoo's declaration

    _WIRED = OneGame._WIRED | {"_start", "_move", "_game", "_actor", "_next", "_final"}

    def __init__(
        self,
        batch: GameBatch,
        *,
        reward: str = "chips",
        illegal_action: str = "raise",
        render_mode: str | None = None,
        pad_players: int | None = None,
    ) -> None:
        super().__init__(batch, pad_players)
        _one_of("reward", reward, tuple(REWARDS))
        _one_of("illegal_action", illegal_action, ("raise", "terminate"))
        _one_of("render_mode", render_mode, KNOWN_MODES)
        self.session = batch.session
        self.reward, self.illegal_action, self.render_mode = reward, illegal_action, render_mode
        self.metadata = self.metadata | {"name": f"{batch.rules.variant}_v{ENV_VERSION}", "reward": REWARDS[reward]}
        self.agents: list[str] = []
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self._over = self._rewarded = False

    def _wire(self) -> None:
        super()._wire()
        self._start, self._move = self._batch.family.loops.start, self._batch.family.loops.move

    def _wire_state(self) -> None:
        super()._wire_state()
        self._game, self._actor = self._states["game"], self._states["actor"]
        self._next: Observation | None = None  # what the next actor sees, until it is asked for
        self._final: dict[str, NDArray[np.float32]] = {}  # the last observations, likewise

    # --- an episode begins ------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begins an episode.

        Args:
            seed: the game is game (0, 0) of this seed. None goes on to the next game of the same seed.
            options: what to set up (design 8.2: ``dealer``, ``carry``, ``turn_up``, ``hands``, ``stock``, …); the rest
                is dealt at random. ``game``: a pair (row, j), the address of any game of a GameBatch with that seed.

        Raises:
            RecordError: options contradict themselves or the rules; the environment is as it was.
            BestiaError: a seed that is not an integer from 0 to 2^64 - 1.

        Warns:
            UserWarning: an unknown key in options; it is ignored.
        """
        if options is None and (self.begun or seed is not None):
            if seed is None:
                self._game[0] += 1
            else:
                self._states["seed"], self._states["row"], self._game[0] = check_seed(seed), 0, 0
            self._start(self._states, self._parameters, self._row, False)
        else:
            self._batch.reset(deals=[self._deal(seed, options)])
        self.begun, self._over, self._rewarded = True, False, False
        agents = self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(agents, 0)
        self._cumulative_rewards = dict.fromkeys(agents, 0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {"action_mask": np.zeros(self._num_actions, np.int8)} for agent in agents}
        self.agent_selection = agents[self._actor.item()]
        self._next = self._look(self.agent_selection)
        self.infos[self.agent_selection] = {"action_mask": self._next["action_mask"].copy()}

    def _deal(self, seed: int | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Address and deal for ``GameBatch.reset``, without unknown keys."""
        if not isinstance(options, Mapping | None):
            raise RecordError(f"options={options!r}; allowed is a dict, or None")
        deal = known_part(self._batch.family, self.rules, options or {})
        if seed is not None and deal.setdefault("seed", seed) != seed:
            raise RecordError(f"seed={seed!r} and options seed={deal['seed']!r}; allowed is one of them, or both equal")
        if "seed" in deal or not self.begun:
            deal.setdefault("game", (0, 0))
        return deal

    # --- playing ----------------------------------------------------------------------------------------------------

    def step(self, action: int | None) -> None:
        """Plays an action of the agent to act; None is the one step of an agent whose episode has ended.

        An action that is no integer of the action space raises. One that the game does not offer now raises too, or,
        with ``illegal_action="terminate"``, ends the episode: the offender is booked as bestia, the full penalty goes
        into the carry, nobody else gains or pays, and ``illegal_action`` in every info names the offender.

        Raises:
            IllegalActionError: not an action, or not a legal one; the environment is as it was.
            BestiaError: before ``reset``, or after the last agent has left.
        """
        if not self.agents:
            raise self._out_of_order("step")
        agent = self.agent_selection
        if self._over:
            self._leave(agent, action)
            return
        if type(action) is not int:
            action = self._whole(action)
        if not 0 <= action < self._num_actions:
            raise self._not_allowed(agent, action)
        observation = np.empty(self._num_numbers, np.float32)
        mask = np.empty(self._num_actions, np.int8)
        told = self._move(self._states, self._parameters, self._encoder, action, self._scratch, observation, mask)
        if told == NOT_LEGAL:
            self._refuse(agent, action)
            return
        if self._rewarded:
            self.rewards = dict.fromkeys(self.agents, 0)
            self._rewarded = False
        self._cumulative_rewards[agent] = 0
        self.infos[agent] = {"action_mask": np.zeros(self._num_actions, np.int8)}
        if told >= DEAL_ENDED - 1:
            self._settle()
            told -= DEAL_ENDED
            if told < 0:
                return
        agent = self.agent_selection = self.possible_agents[told]
        self.infos[agent] = {**self.infos[agent], "action_mask": mask.copy()}
        self._next = {"observation": observation, "action_mask": mask}

    def _settle(self, **more: Any) -> None:
        """Books the deal that has ended to all seats; if it was the last, every agent's episode ends."""
        state = self._plain[0]
        if self.reward == "chips":
            won = state["net"].tolist()
        else:
            base = int(state["score_base"])
            won = [top / base for top in state["score_top"].tolist()]
        self.rewards = dict(zip(self.agents, won, strict=False))  # the record has room for more seats
        self._rewarded = True
        self._accumulate_rewards()
        settlement = self._batch.family.settlement(self.rules, state)
        for agent in self.agents:  # each has a dict of its own, because what it does to it is no other's business
            self.infos[agent] = {**self.infos[agent], "settlement": dict(settlement), **more}
        if state["over"]:
            truncated = bool(state["truncated"])
            self._over, self._next, self._final = True, None, {}
            self.terminations = dict.fromkeys(self.agents, not truncated)
            self.truncations = dict.fromkeys(self.agents, truncated)
            self.agent_selection = self.agents[0]

    def _leave(self, agent: str, action: int | None) -> None:
        """The step of an agent whose episode has ended: it is no longer among the agents."""
        if action is not None:
            raise IllegalActionError(f"{agent}: action={action!r} after the end of the episode; allowed is None")
        self.agents.remove(agent)
        for told in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
            del told[agent]
        self.rewards = dict.fromkeys(self.agents, 0)
        if self.agents:
            self.agent_selection = self.agents[0]

    def _whole(self, action: object) -> int:
        try:
            if isinstance(action, bool | np.bool_):
                raise TypeError
            return operator.index(action)  # type: ignore[arg-type]  # that is the question
        except TypeError:
            raise self._not_allowed(self.agent_selection, action) from None

    def _refuse(self, agent: str, action: int) -> None:
        """Nothing has changed yet: raises, or ends the episode at the offender's cost."""
        if self.illegal_action == "raise":
            raise self._not_allowed(agent, action)
        self._batch.forfeit(0)
        self._cumulative_rewards[agent] = 0
        self.infos[agent] = {"action_mask": np.zeros(self._num_actions, np.int8)}
        self._settle(illegal_action=agent)

    def _out_of_order(self, call: str) -> BestiaError:
        when = "every agent has left the episode" if self.begun else "no episode has begun"
        return BestiaError(f"{call}: {when}; allowed is reset")

    # --- asking -----------------------------------------------------------------------------------------------------

    def decide(self, policy: Policy) -> int:
        """What a policy, bound to these rules, would play for the agent to act; nothing is played.

        Its random key is that of the decision, so a :class:`~bestia_env.GameBatch` with this game decides alike.

        Raises:
            BestiaError: before ``reset``, or after the end.
        """
        if not self.agents or self._over:
            raise self._out_of_order("decide")
        return int(policy.act(self._views(self.agent_selection), self._batch.keys())[0])

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, termination, truncation and info of the agent to act.

        Raises:
            BestiaError: before ``reset``, or after the last agent has left.
        """
        if not self.agents:
            raise self._out_of_order("last")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> Observation:
        """What a seat sees now, in new arrays: any seat, at any time, also after the end.

        Raises:
            BestiaError: before ``reset``, or no such agent.
        """
        if self._next is not None and agent == self.agent_selection:
            seen, self._next = self._next, None
            return seen
        if self._over and agent in self._seats:
            return self._look_back(agent)
        return self._look(agent)

    def _look_back(self, agent: str) -> Observation:
        """What a seat sees after the end; every seat will ask, so all are shown together."""
        if agent not in self._final:
            self._final = dict(zip(self.possible_agents, self._tensors(), strict=True))
        return {"observation": self._final.pop(agent), "action_mask": np.zeros(self._num_actions, np.int8)}

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observation, int]:
        """The agent to act, again and again until all have left: the loop to ``step`` in.

        Raises:
            BestiaError: before ``reset``.
        """
        self._state()
        return super().agent_iter(max_iter)

    # --- pictures, copies -------------------------------------------------------------------------------------------

    def render(self) -> str | None:
        """What everybody at the table knows, as text, with ``render_mode="ansi"``; no seat's cards are in it.

        Raises:
            BestiaError: before ``reset``, or a mode other than those in ``metadata["render_modes"]``.
        """
        if self.render_mode != "ansi":
            raise BestiaError(f"render: render_mode={self.render_mode!r}; allowed is 'ansi', given to aec_env")
        return self.table_text()

    def close(self) -> None:
        """There is nothing to release."""

    def clone(self) -> BestiaAEC:
        """An independent copy that goes on with equal luck; its spaces are new, and so are their random numbers.

        It holds all cards: a player who searches needs ``GameBatch.redeal`` of his View instead.
        """
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._batch = self._batch.clone()
        for name in ("agents", "rewards", "terminations", "truncations", "_cumulative_rewards"):
            setattr(twin, name, getattr(self, name).copy())
        twin.infos = {agent: info.copy() for agent, info in self.infos.items()}
        twin._spaces = {}
        twin._wire_state()
        return twin

    __copy__ = clone  # a copy that shared the state would not be one


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise BestiaError(f"{name}={value!r}; allowed are {', '.join(map(repr, allowed))}")
