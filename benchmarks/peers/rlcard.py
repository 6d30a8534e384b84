"""RLCard: its loop of ``reset`` and ``step``; ``.venv-peers/rlcard/bin/python -m benchmarks.peers.rlcard``.

Bridge is its only trick-taking game, Leduc hold'em its fastest. Every state comes with its tensor.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.peers.timing import Interface, run

STEP = "env.step()"


def interfaces() -> Iterator[Interface]:
    """What is timed."""
    import rlcard

    for name in ("bridge", "leduc-holdem"):
        yield Interface(STEP, name, _loop(rlcard.make(name, config={"seed": 7})))


def _loop(env: Any) -> Callable[[], int]:
    """Plays one game."""
    choice = random.Random(7).choice

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            state, _ = env.step(choice(list(state["legal_actions"])))
            decisions += 1
        env.get_payoffs()
        return decisions

    return play


if __name__ == "__main__":
    run(("rlcard", "numpy"), interfaces)
