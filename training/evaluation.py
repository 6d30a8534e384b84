"""Small duplicate tournaments of an agent that is still learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.runner import play_blocks
from benchmarks.statistics import Interval, block_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bestia_env import Policy, SessionConfig
    from bestia_env.family import Rules

__all__ = ["evaluate"]

MEAN = "mean"


def evaluate(
    policy: Policy, rules: Rules, session: SessionConfig, fields: Sequence[str], blocks: int, seed: int
) -> dict[str, Interval]:
    """Score in pots per deal among copies of each field's agent, and the mean over the fields.

    Every deal is played with the policy in each seat; all fields play the same deals, so the mean has an interval of
    its own. The deals are not those of training and not those of Bench v1.
    """
    heroes = [
        play_blocks(rules, session, seed, range(blocks), [policy, *[field] * (rules.num_players - 1)]).scores[:, :, 0]
        for field in fields
    ]
    columns = np.stack([scores.mean(axis=1) for scores in heroes], axis=1)
    table = np.concatenate([columns.mean(axis=1, keepdims=True), columns], axis=1)
    return dict(zip((MEAN, *fields), block_intervals(table, seed), strict=True))
