"""PettingZoo's classic card games; ``.venv-peers/pettingzoo/bin/python -m benchmarks.peers.pettingzoo``.

``env()`` is what its documentation uses, with wrappers that check the order of calls; ``raw_env()`` is without them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module

from benchmarks.peers.timing import Interface, aec_game, chances, run

ENV = "env(): last() + step()"
RAW = "raw_env(): last() + step()"
GAMES = ("leduc_holdem_v4", "texas_holdem_v4", "texas_holdem_no_limit_v6", "hanabi_v5")


def interfaces() -> Iterator[Interface]:
    """What is timed."""
    warnings.simplefilter("ignore")  # about the bounds of its own spaces
    chance = chances()
    for name in GAMES:
        module = import_module(f"pettingzoo.classic.{name}")
        for kind, env in ((ENV, module.env()), (RAW, module.raw_env())):
            env.reset(seed=7)  # later episodes go on without a seed: a seed builds the whole game anew
            yield Interface(kind, name, lambda env=env: aec_game(env, chance))


if __name__ == "__main__":
    run(("pettingzoo", "rlcard", "open-spiel", "numpy"), interfaces)
