"""Any PettingZoo AEC environment as a Gymnasium environment of one learner, for trainers of single agents.

The road of many users, one game at a time; :class:`bestia_env.single.BestiaEnv` and the vector environments play the
same games, and many of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from bestia_env.errors import BestiaError
from bestia_env.policies import make_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pettingzoo import AECEnv

    from bestia_env.policies import Policy

__all__ = ["AECLearner", "Opponent"]

Opponent = Callable[[Any, str], Any]
"""Called with the AEC environment and the agent to act; returns its action."""

IDLE_EPISODES = 100  # so many without a decision of the learner are no luck


class AECLearner(gymnasium.Env[Any, Any]):
    """One agent of an AEC environment learns, the others are played by opponents.

    A step lasts from the learner's decision to its next, or to its end, and pays what the environment has booked to it
    between: ``last()`` of its own turn, also where the episode ends in another agent's. Episodes in which it has
    nothing to decide are played over and counted in ``info["skipped_episodes"]`` and ``info["skipped_reward"]``.

    Args:
        aec: the environment. All agents that may learn share one observation and one action space.
        learner: the agent that learns; None rotates it from episode to episode.
        opponents: who plays an agent: one for all, or agent → opponent. An opponent is a function of environment and
            agent; with environments of this library also a policy or its name. None: random legal actions.

    Raises:
        BestiaError: a learner that is no agent, or spaces that differ where the learner rotates.
    """

    def __init__(
        self,
        aec: AECEnv[str, Any, Any],
        learner: str | None = None,
        opponents: str | Policy | Opponent | Mapping[str, str | Policy | Opponent] | None = None,
    ) -> None:
        agents = aec.possible_agents
        if learner is not None and learner not in agents:
            raise BestiaError(f"learner={learner!r}; allowed are None, {', '.join(agents)}")
        self.aec, self.learner = aec, learner
        self.observation_space = aec.observation_space(learner or agents[0])
        self.action_space = aec.action_space(learner or agents[0])
        for agent in agents if learner is None else ():
            same = (aec.observation_space(agent), aec.action_space(agent))
            if same != (self.observation_space, self.action_space):
                raise BestiaError(f"learner=None: {agent} has other spaces than {agents[0]}; allowed is one agent")
        given = opponents if isinstance(opponents, Mapping) else dict.fromkeys(agents, opponents)
        if unknown := sorted(set(given) - set(agents)):
            raise BestiaError(f"opponents: {unknown[0]!r} is no agent; allowed are {', '.join(agents)}")
        self._opponents = {agent: self._opponent(given.get(agent)) for agent in agents}
        self._episode = -1
        self._me = learner or agents[0]
        self._over = True

    def _opponent(self, given: Any) -> Opponent:
        """An opponent as a function."""
        if given is None:
            return self._random
        if callable(given):
            return given  # type: ignore[no-any-return]  # as asked
        decide = getattr(self.aec.unwrapped, "decide", None)
        if decide is None:
            raise BestiaError(f"opponent {given!r}; allowed is a function of environment and agent")
        policy = make_policy(given, self.aec.unwrapped.rules)  # type: ignore[attr-defined]  # one of ours, see decide
        return lambda _env, _agent: decide(policy)

    def _random(self, aec: Any, agent: str) -> Any:
        """A random legal action; its numbers follow the seed of ``reset``."""
        mask = _mask(aec.observe(agent), aec.infos[agent])
        if mask is None:
            return aec.action_space(agent).sample()
        return int(self.np_random.choice(np.flatnonzero(mask)))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode and plays to the learner's first decision.

        Args:
            seed: for the environment and the random opponents.
            options: for the environment.
        """
        super().reset(seed=seed)
        skipped, paid = 0, 0.0
        while skipped <= IDLE_EPISODES:
            self._episode += 1
            agents = self.aec.possible_agents
            self._me = self.learner or agents[self._episode % len(agents)]
            self.aec.reset(seed=seed if not skipped else None, options=options)
            observation, reward, over, _, info = self._advance()
            if not over:
                self._over, self._before = False, reward
                return observation, info | {"skipped_episodes": skipped, "skipped_reward": paid}
            skipped, paid = skipped + 1, paid + reward
        raise BestiaError(f"{self._me} had nothing to decide in {IDLE_EPISODES} episodes of {self.aec}")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays the learner's action, and the others until it is to act again or its episode has ended.

        Raises:
            BestiaError: before ``reset``, or after the end.
        """
        if self._over:
            raise BestiaError("step: no episode is open; allowed is reset")
        self.aec.step(action)
        observation, reward, over, truncated, info = self._advance()
        self._over = over
        # what was booked before the learner's first decision belongs to its first step
        reward, self._before = reward + self._before, 0.0
        return observation, reward, over and not truncated, truncated, info

    def _advance(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays on until it is the learner's turn, to decide or to take its dead step."""
        while self.aec.agents:
            agent = self.aec.agent_selection
            observation, reward, terminated, truncated, info = self.aec.last()
            over = terminated or truncated
            if agent == self._me:
                return observation, float(reward), over, truncated, dict(info)
            self.aec.step(None if over else self._opponents[agent](self.aec, agent))
        raise BestiaError(f"{self._me} was never told of its end by {self.aec}; PettingZoo's api_test would fail")

    def action_masks(self) -> NDArray[np.bool_]:
        """(A,) the learner's legal actions, as MaskablePPO asks for them; all True where there is no mask."""
        mask = _mask(self.aec.observe(self._me), self.aec.infos.get(self._me, {}))
        size = int(self.action_space.n)  # type: ignore[attr-defined]  # masks are of Discrete spaces
        return np.ones(size, np.bool_) if mask is None or not np.any(mask) else np.asarray(mask, np.bool_)

    def render(self) -> Any:
        """What the environment renders."""
        return self.aec.render()

    def close(self) -> None:
        """Closes the environment."""
        self.aec.close()  # type: ignore[no-untyped-call]  # PettingZoo left it untyped


def _mask(observation: Any, info: Mapping[str, Any]) -> Any:
    """The action mask, in the observation or in the info; None where there is none."""
    if isinstance(observation, Mapping) and "action_mask" in observation:
        return observation["action_mask"]
    return info.get("action_mask")
