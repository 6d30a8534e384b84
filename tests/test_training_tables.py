"""One learner at tables of several sizes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from agents.net import NetPolicy
from bestia_env import BestiaError, make_rules
from bestia_env.sb3 import BestiaVecEnv
from tests.training_tools import SMALL
from training import dmc
from training.command import fresh_env
from training.ppo import PPOConfig, train
from training.suits import RelativeSuitsVecEnv
from training.tables import table_seed

if TYPE_CHECKING:
    from pathlib import Path

SEVERAL = SMALL | {"variant": "bestia", "players": 4, "eval_blocks": 20, "rollout": 8, "pad_players": 10}


@pytest.mark.parametrize("relative", [True, False])
def test_the_rows_are_those_of_single_environments(relative: bool) -> None:
    config = PPOConfig(**SEVERAL | {"envs": 121}, tables=(3, 6), relative_suits=relative)
    env = fresh_env(config, *config.game())
    sizes = [(table.rules.num_players, table.num_envs) for table in env.tables]
    assert sizes == [(4, 41), (3, 40), (6, 40)]
    singles = [
        (RelativeSuitsVecEnv if relative else BestiaVecEnv)(
            "bestia", rows, size, pad_players=10, skip_forced=True, session=table.games.batch.session, reward="score"
        )
        for (size, rows), table in zip(sizes, env.tables, strict=True)
    ]
    env.seed(9)
    for place, single in enumerate(singles):
        single.seed(table_seed(9, place))
    seen = [env.reset(), *[single.reset() for single in singles]]
    for step in range(40):
        if step == 20:  # without a seed each table goes on to its next games
            seen = [env.reset(), *[single.reset() for single in singles]]
        assert np.array_equal(seen[0], np.concatenate(seen[1:]))
        masks = np.stack(env.env_method("action_masks"))
        assert np.array_equal(masks, np.concatenate([single.action_masks() for single in singles]))
        actions = masks.argmax(axis=1)
        (first, paid, done, _), *rest = [env.step(actions)] + [
            single.step(part) for single, part in zip(singles, np.split(actions, [41, 81]), strict=True)
        ]
        assert np.array_equal(paid, np.concatenate([told[1] for told in rest]))
        assert np.array_equal(done, np.concatenate([told[2] for told in rest]))
        seen = [first, *[told[0] for told in rest]]


def test_the_tables_do_not_deal_the_same_cards() -> None:
    config = PPOConfig(**SEVERAL | {"envs": 120}, tables=(3, 6))
    env = fresh_env(config, *config.game())
    for seed in (None, 5):
        if seed is not None:
            env.seed(seed)
        env.reset()
        hands = [set(table.games.batch.states["hand"].ravel().tolist()) for table in env.tables]
        shared = [len(one & two) / min(len(one), len(two)) for one, two in combinations(hands, 2)]
        assert max(shared) < 0.1


@pytest.mark.parametrize("learner", ["ppo", "dmc"])
def test_one_network_learns_all_of_them_and_runs_can_be_repeated(learner: str, tmp_path: Path) -> None:
    nets = []
    for name in ("one", "two"):
        told: dict[str, Any] = SEVERAL | {"tables": (3, 6), "steps": 2000, "out": tmp_path / name}
        if learner == "ppo":
            train(PPOConfig(**told, central_critic=False))
        else:
            dmc.train(dmc.DMCConfig(**told))
        nets.append(NetPolicy.load(tmp_path / name / "last.npz"))
    for layer, other in zip(nets[0].layers, nets[1].layers, strict=True):
        assert np.array_equal(layer.weights, other.weights)
    for size in (3, 4, 6, 10):
        nets[0].bind(make_rules("bestia", size))


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"pad_players": None}, "allowed are further tables with players and pad_players"),
        ({"players": None}, "allowed are further tables with players and pad_players"),
        ({"tables": (3, 4)}, r"players=4, tables=\(3, 4\); allowed is each size once"),
        ({}, "central_critic=True with tables"),
        ({"tables": (11,)}, "num_players=11"),
        ({"pad_players": 5, "tables": (6,), "central_critic": False}, "tables of"),
    ],
)
def test_tables_that_cannot_be_learned_together_are_refused(told: dict[str, Any], match: str, tmp_path: Path) -> None:
    with pytest.raises(BestiaError, match=match):
        train(PPOConfig(**SEVERAL | {"tables": (3,), "out": tmp_path / "run"} | told))
    assert not (tmp_path / "run").exists()
