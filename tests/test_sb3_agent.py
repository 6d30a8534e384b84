"""A model of sb3-contrib plays tournaments."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from sb3_contrib import MaskablePPO

from agents import make_agent
from agents.sb3 import CHUNK, SB3Policy
from benchmarks.runner import play_blocks
from bestia_env import BestiaError, GameBatch, SessionConfig, make_policy, make_rules


class Blank(gymnasium.Env):
    """Spaces and nothing else, to make a model of them."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, True, False, {}

    def action_masks(self):
        return np.ones(self.action_space.n, bool)


@pytest.fixture(scope="module", params=["box", "dict"])
def model(request, tmp_path_factory):
    batch = GameBatch("bestia", 1, num_players=3)
    box = spaces.Box(0, 1, (batch.tensor_layout.size,), np.float32)
    count = batch.layout.num_actions
    seen = box
    kind = "MlpPolicy"
    if request.param == "dict":
        seen = spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (count,), np.float32)})
        kind = "MultiInputPolicy"
    made = MaskablePPO(kind, Blank(seen, spaces.Discrete(count)), seed=3, device="cpu", n_steps=8, batch_size=8)
    path = tmp_path_factory.mktemp("model") / f"{request.param}.zip"
    made.save(path)
    return path


def test_it_plays_legally_and_scores_zero_against_itself(model):
    rules = make_rules("bestia", 3)
    results = play_blocks(rules, SessionConfig(carry=6), 3, range(150), (str(model),) * 3)
    assert (results.score_top.sum(axis=1) == 0).all()
    assert np.ptp(results.chips) > 0


def test_a_decision_does_not_depend_on_company(model):
    rules = make_rules("bestia", 3)
    policy = make_policy(str(model), rules)
    batch = GameBatch(rules, 2 * CHUNK + 5, seed=1)
    for _ in range(3):
        batch.step(batch.random_actions())
    views, keys = batch.view(), batch.keys()
    actions, probabilities = policy.act(views, keys), policy.action_probabilities(views)
    some = np.array([2 * CHUNK + 1, 4, CHUNK])
    assert (policy.act(views[some], keys[some]) == actions[some]).all()
    assert (policy.action_probabilities(views[some]) == probabilities[some]).all()
    assert (probabilities[~batch.legal()] == 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1)
    drawn = np.random.default_rng(5).integers(0, 2**64, 4000, dtype=np.uint64)
    counts = np.bincount(policy.act(np.repeat(views[:1], 4000), drawn), minlength=probabilities.shape[1])
    assert np.abs(counts / 4000 - probabilities[0]).max() < 0.04


def test_it_is_refused_where_it_does_not_fit(model, tmp_path):
    with pytest.raises(BestiaError, match="a model of observations"):
        make_policy(str(model), make_rules("bestia", 4))
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK not a model")
    with pytest.raises(BestiaError, match="is no model of MaskablePPO"):
        make_agent(str(broken))
    greedy = SB3Policy(model, greedy=True)
    greedy.bind(make_rules("bestia", 3))
    views = GameBatch("bestia", 4, num_players=3).view()
    assert (greedy.act(views, np.zeros(4, np.uint64)) == greedy.action_probabilities(views).argmax(axis=1)).all()
