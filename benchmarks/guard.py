"""Asks agents for their actions and outlives their mistakes.

An agent that raises, takes too long or plays what is not legal forfeits the game it did so in: it is booked as bestia,
the full penalty goes into the carry, nobody else gains or pays (design 7). All other games go on, and every failure is
counted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy

__all__ = ["KINDS", "Guard", "TimeoutInAgentError"]

KINDS = ("raised", "timed_out", "illegal")
"""What an agent can do wrong."""

TIMEOUTS_BORNE = 3  # calls of one agent cut off in a part, after which it is not asked again in that part


class TimeoutInAgentError(Exception):
    """A call of an agent was cut off."""


@dataclass
class Guard:
    """One agent under guard.

    Args:
        policy: the agent, bound to the rules.
        num_actions: of the action layout.
        timeout: seconds one call may take; None: any time. Calls are cut off where the system has alarms (not on
            Windows) and the agent runs Python code in the main thread; a call that cannot be cut off is waited for.

    Attributes:
        failures: decisions that failed, by kind.
        first: what the first failure was.
    """

    policy: Policy
    num_actions: int
    timeout: float | None = None
    failures: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    first: str = ""
    cut_off: int = 0

    def ask(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Actions, and which of them are missing because the agent failed there.

        After an exception the Views are shown one by one, so that one bad decision costs one game. A call that was cut
        off fails as a whole.
        """
        failed = np.zeros(len(views), np.bool_)
        actions = np.zeros(len(views), np.int64)
        if self.cut_off >= TIMEOUTS_BORNE:
            self._count("timed_out", "", len(views))
            return actions, ~failed
        try:
            actions = self._call(views, keys)
        except TimeoutInAgentError as error:
            self.cut_off += 1
            self._count("timed_out", str(error), len(views))
            return actions, ~failed
        except Exception as error:  # noqa: BLE001  # whatever an agent raises is its failure, not ours
            if len(views) > 1:
                parts = [self.ask(views[i : i + 1], keys[i : i + 1]) for i in range(len(views))]
                return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
            self._count("raised", f"{type(error).__name__}: {error}", 1)
            return actions, ~failed
        inside = (actions >= 0) & (actions < self.num_actions)
        failed = ~inside | (views["legal"][np.arange(len(views)), np.where(inside, actions, 0)] == 0)
        if failed.any():
            offered = np.flatnonzero(views["legal"][failed][0]).tolist()
            self._count("illegal", f"action {actions[failed][0]}; allowed were {offered}", int(failed.sum()))
        return actions, failed

    def _call(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        with _alarm(self.timeout):
            actions = np.asarray(self.policy.act(views, keys))
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            raise TypeError(
                f"act gave an array of shape {actions.shape}, dtype {actions.dtype}; allowed are {len(views)} integers"
            )
        return actions.astype(np.int64, copy=False)

    def _count(self, kind: str, message: str, decisions: int) -> None:
        self.failures[kind] += decisions
        self.first = self.first or f"{kind.replace('_', ' ')}: {message}"


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Raises TimeoutInAgentError in this thread when the time is up."""
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not possible:
        yield
        return

    def ring(_signal: int, _frame: object) -> None:
        raise TimeoutInAgentError(f"a call took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
