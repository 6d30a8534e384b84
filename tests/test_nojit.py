"""The same source without the compiler plays the same games, byte for byte."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

from bestia_env.batch import GameBatch
from bestia_env.session import SessionConfig
from tests.uncompiled import Sample, games, transcript

DECISIONS = 25


def uncompiled(midway: Path) -> dict[str, list[Sample]]:
    """The transcript of a process in which nothing is compiled."""
    path = midway.with_name("transcript")
    command = [sys.executable, "-W", "error", "-m", "tests.uncompiled", str(path), str(DECISIONS), str(midway)]
    root = Path(__file__).resolve().parents[1]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    subprocess.run(command, check=True, cwd=root, env=environment, timeout=300)
    played: dict[str, list[Sample]] = pickle.loads(path.read_bytes())
    return played


def test_compiled_and_uncompiled_play_alike(tmp_path: Path) -> None:
    midway = tmp_path / "batch"
    batch = GameBatch("bestia", 2, num_players=7, seed=4, session=SessionConfig(num_deals=9))
    for _ in range(30):
        batch.step(batch.random_actions())
    midway.write_bytes(pickle.dumps(batch))
    plain, compiled = uncompiled(midway), transcript(DECISIONS, midway)
    assert list(plain) == list(compiled)
    assert len(compiled) == len(games()) + 2
    for game, steps in compiled.items():
        assert len(plain[game]) == len(steps)
        for number, (told, other) in enumerate(zip(steps, plain[game], strict=True)):
            assert set(told) == set(other)
            for name in set(told) - {"tensors"}:
                assert told[name] == other[name], (game, number, name)
            if "tensors" in told:
                # NumPy's log1p and the compiler's may differ in the last bit, nothing else may.
                assert np.allclose(told["tensors"], other["tensors"], rtol=1e-6, atol=0), (game, number)
