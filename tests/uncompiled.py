"""Plays a sample of every preset and keeps what the engine says: ``python -m tests.uncompiled OUT DECISIONS BATCH``.

``BATCH`` is a pickled batch in the middle of its games, which goes on. Run with ``NUMBA_DISABLE_JIT=1`` it is the same
source without the compiler; ``tests.test_nojit`` compares the two.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bestia_env.batch import GameBatch
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.variants import VARIANTS
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
from tests.rams_play import encoded, random_deal, varied_actions, varied_session

Sample = dict[str, Any]


def games() -> list[RamsRules]:
    """Every preset at its default size, the largest tables where the stock runs short, and rules at the edges."""
    largest = [make(name, VARIANTS[name].players[1]) for name in ("bestia", "bestia_buco", "julepe", "mauscheln")]
    edges = [
        make("bestia_roman", 6, penalty_cap=30, max_circuits=1),
        make("online3", 4, rake_bp=500, recycle="folded"),
        make("bestia", 10, ante=3 * 10**8, penalty_cap=10**9 - 1),
    ]
    return [*(make(name) for name in VARIANTS), *largest, *edges]


def begin(rules: RamsRules) -> GameBatch:
    """Two games: one with a great pot and seats that are not entitled, one as it comes."""
    batch = GameBatch(rules, 2, seed=7, session=varied_session(rules))
    batch.reset(deals=[random_deal(rules, np.random.default_rng(1)) | {"carry": 2**40 * rules.divisor}, None])
    return batch


def sample(batch: GameBatch, decisions: int) -> Iterator[Sample]:
    """What a batch of two games says at every step."""
    rng = np.random.default_rng(1)
    for step in range(decisions):
        views = batch.view(np.arange(batch.num_players), np.full(batch.num_players, step % 2))
        yield {
            "states": batch.states.tobytes(),
            "legal": batch.legal().tobytes(),
            "views": views.tobytes(),
            "tensors": encoded(batch, views[step % len(views) :][:1]),
            "keys": batch.keys().tobytes(),
            "random": batch.random_actions().tolist(),
            "outcome": (batch.rewards.tolist(), batch.scores.tolist(), batch.done.tolist(), batch.truncated.tolist()),
        }
        if step % 20 == 0:
            other = batch.redeal(views[:1], batch.keys()[:1])
            yield {"states": other.states.tobytes(), "views": other.view(0).tobytes()}
        batch.step(varied_actions(batch.legal(), batch.layout, rng))
    batch.forfeit(1)
    yield {"states": batch.states.tobytes(), "outcome": (batch.rewards.tolist(), batch.scores.tolist())}


def transcript(decisions: int, midway: Path) -> dict[str, list[Sample]]:
    """The samples of all games, of a batch that another process has pickled, and the end of a session."""
    played = {str(rules): list(sample(begin(rules), decisions)) for rules in games()}
    ends = GameBatch("bestia_strict", 2, seed=3, session=SessionConfig(num_deals=2, play_on=True), autoreset=False)
    while (ends.actor >= 0).any():
        ends.step(ends.random_actions())
    played["final split"] = [{"states": ends.states.tobytes()}]
    return played | {"pickled": list(sample(pickle.loads(midway.read_bytes()), decisions))}


def main() -> None:
    """Writes the transcript to the file named on the command line."""
    out, decisions, midway = sys.argv[1:]
    with np.errstate(over="ignore"):  # unsigned products wrap on purpose, which NumPy's scalars warn of
        Path(out).write_bytes(pickle.dumps(transcript(int(decisions), Path(midway))))


if __name__ == "__main__":
    main()
