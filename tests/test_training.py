"""Learning: PPO learns a small game, its runs go on after a kill, and its agents decide alike everywhere."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.net import NetPolicy
from agents.suits import RelativeSuits
from benchmarks import bench
from benchmarks.runner import play_blocks
from benchmarks.statistics import block_intervals
from bestia_env import BestiaError, SessionConfig, make_rules, parse_rules
from tests.training_tools import SMALL, some_net
from training import dmc
from training.command import fresh_env
from training.config import CURRENT, PAST, read_weights
from training.ppo import PPOConfig, main, make_model, net_of, train
from training.selfplay import SelfPlayPool

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


# --- learning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["ppo", "dmc"])
def test_it_beats_the_best_constant_policy_of_a_small_game(learner: str, tmp_path: Path) -> None:
    """Against a random opponent: always in and always out are what a policy can do that looks at no card."""
    began = time.monotonic()
    small = SMALL | {"variant": "mini_bestia_three", "players": 3}
    arguments = small | {"steps": 50_000, "learning_rate": 3e-3, "eval_every": 1000, "out": tmp_path}
    run = train(PPOConfig(**arguments)) if learner == "ppo" else dmc.train(dmc.DMCConfig(**arguments))
    assert time.monotonic() - began < 60
    rules, session = make_rules("mini_bestia_three", 3), SessionConfig()
    net = NetPolicy.load(tmp_path / "last.npz")

    def scores(policy: Any) -> Any:
        return play_blocks(rules, session, 99, range(2000), [policy, "random", "random"]).scores[:, :, 0].mean(axis=1)

    learned = scores(net)
    for constant in ("always", "never"):
        (gain,) = block_intervals((learned - scores(constant))[:, None], 1)
        assert gain.low > 0.02, (constant, gain)
    assert run.evaluations[-1]["decisions"] >= 50_000


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize(("variant", "players"), [("bestia", 5), ("mauscheln", 4)])
def test_log_probabilities_of_the_agent_are_those_of_the_model(variant: str, players: int, relative: bool) -> None:
    """The network that leaves training in a file is the policy that was trained."""
    told = {"variant": variant, "players": players, "envs": 64, "relative_suits": relative}
    config = PPOConfig(**SMALL | told)
    rules, session = config.game()
    env = fresh_env(config, rules, session)
    model = make_model(config, env)
    net = net_of(model, rules, config)
    net.bind(rules)
    observation = env.reset()
    for _ in range(8):
        masks = np.stack(env.env_method("action_masks"))
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.as_tensor(observation), action_masks=masks)
        views = env.games.batch.view(env.games.seats)
        told, actions = net.action_probabilities(views), model.predict(observation, action_masks=masks)[0]
        if relative:
            named = RelativeSuits(env.games.batch)
            told = np.take_along_axis(
                told, named.actions(named.orders(env.games.observe()[0]), views["exchange_cards"]), 1
            )
        assert np.allclose(told, distribution.distribution.probs.numpy(), atol=1e-5)
        observation, *_ = env.step(actions)  # refuses what the game does not offer


@pytest.mark.parametrize("relative", [True, False])
def test_only_the_critic_sees_the_other_hands(relative: bool) -> None:
    told = {"variant": "bestia", "players": 4, "envs": 32, "relative_suits": relative}
    config = PPOConfig(**SMALL | told, central_critic=True)
    rules, session = config.game()
    env = fresh_env(config, rules, session, central=True)
    model = make_model(config, env)
    observation = torch.as_tensor(env.reset())
    own = env.games.batch.tensor_layout.size
    assert observation.shape[1] == own + 3 * 40
    other = observation.clone()
    other[:, own:] = 1 - other[:, own:]
    with torch.no_grad():
        one, two = (model.policy.get_distribution(seen).distribution.logits for seen in (observation, other))
        values = [model.policy.predict_values(seen) for seen in (observation, other)]
    assert torch.equal(one, two)
    assert not torch.allclose(*values)
    states, rows, suits = env.games.batch.states, np.arange(32), RelativeSuits(env.games.batch)
    order = np.tile(np.arange(4), (32, 1))
    if relative:
        order = np.array([suits.suits(number) for number in suits.orders(env.games.observe()[0])])
    for place in range(1, 4):
        hand = states["hand"][rows, (env.games.seats + place) % 4]
        bits = (hand[:, None] >> np.arange(40, dtype=np.uint64)) & np.uint64(1)
        bits = bits.reshape(32, 4, 10)[rows[:, None], order].reshape(32, 40)
        assert np.array_equal(observation[:, own + 40 * (place - 1) : own + 40 * place].numpy(), bits)
    model.learn(64)


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_that_was_interrupted_ends_as_one_that_was_not(tmp_path: Path) -> None:
    """Weights, deals, pool and generators: everything goes on from the checkpoint, to the bit."""
    small = SMALL | {"opponents": ("current=1", "past=1", "random=1"), "snapshot_every": 2, "checkpoint_every": 3}
    whole = PPOConfig(**small, steps=20_000, out=tmp_path / "whole")
    train(whole)
    config = dataclasses.replace(whole, out=tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        train_until(config, 11_000)
    train(config)
    one, two = (NetPolicy.load(folder / "last.npz") for folder in (whole.out, config.out))
    for layer, other in zip(one.layers, two.layers, strict=True):
        assert np.array_equal(layer.weights, other.weights)
    assert train(config).rollouts == train(whole).rollouts  # finished: nothing more is trained


def test_an_interrupted_run_of_deep_monte_carlo_ends_alike(tmp_path: Path, monkeypatch: Any) -> None:
    small = SMALL | {"opponents": ("current=1", "past=1", "random=1"), "snapshot_every": 2, "checkpoint_every": 3}
    whole = dmc.DMCConfig(**small, steps=20_000, out=tmp_path / "whole")
    dmc.train(whole)
    config = dataclasses.replace(whole, out=tmp_path / "parts")
    learn = dmc.Learner.learn

    def impatient(self: Any, *lesson: Any) -> float:
        if self.decisions > 11_000:
            raise KeyboardInterrupt
        return learn(self, *lesson)

    monkeypatch.setattr(dmc.Learner, "learn", impatient)
    with pytest.raises(KeyboardInterrupt):
        dmc.train(config)
    monkeypatch.undo()
    dmc.train(config)
    one, two = (NetPolicy.load(folder / "last.npz") for folder in (whole.out, config.out))
    for layer, other in zip(one.layers, two.layers, strict=True):
        assert np.array_equal(layer.weights, other.weights)


def test_deep_monte_carlo_is_taught_the_return_after_each_decision() -> None:
    episodes = dmc.Episodes(2)
    tensors = np.arange(6, dtype=np.float32).reshape(3, 2, 1)
    episodes.add(tensors[0], np.array([3, 4]), [1.0, 0.0], [False, False])
    episodes.add(tensors[1], np.array([5, 6]), [0.5, -2.0], [False, True])
    episodes.add(tensors[2], np.array([7, 8]), [2.0, 9.0], [True, False])
    taught = sorted((float(t[0]), int(a), float(r)) for t, a, r in zip(*episodes.take(), strict=True))
    assert taught == [(0.0, 3, 3.5), (1.0, 4, -2.0), (2.0, 5, 2.5), (3.0, 6, -2.0), (4.0, 7, 2.0)]
    assert episodes.ended == []


def train_until(config: PPOConfig, decisions: int) -> None:
    """Trains until the interrupt of an impatient user."""
    import training.ppo as module

    class Impatient(module.SelfPlay):
        def _on_step(self) -> bool:
            if self.num_timesteps > decisions:
                raise KeyboardInterrupt
            return super()._on_step()

    plain, module.SelfPlay = module.SelfPlay, Impatient  # type: ignore[misc]  # for one run
    try:
        train(config)
    finally:
        module.SelfPlay = plain  # type: ignore[misc]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is of POSIX")
def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    words = ["--variant", "mini_bestia", "--players", "2", "--envs", "64", "--rollout", "16", "--batch", "256",
             "--opponents", "random=1", "current=1", "--eval-fields", "random", "--eval-blocks", "50", "--layers", "16",
             "--checkpoint-every", "1", "--out", str(tmp_path / "run")]  # fmt: skip
    killed = subprocess.Popen(
        [sys.executable, "-m", "training.ppo", *words, "--steps", "100000000"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    while not (tmp_path / "run" / "checkpoint").exists() and killed.poll() is None:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = PPOConfig(out=tmp_path / "run")
    assert (before.out / "checkpoint").exists()
    done = subprocess.run(
        [sys.executable, "-m", "training.ppo", *words, "--steps", "3000"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads((before.out / "evaluations.json").read_text(encoding="utf-8"))
    assert told[-1]["decisions"] >= 3000
    assert [one["decisions"] for one in told] == sorted({one["decisions"] for one in told})
    refused = subprocess.run(
        [sys.executable, "-m", "training.ppo", *words, "--steps", "3000", "--seed", "5"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "holds a run with seed=1; allowed is that" in refused.stderr


@pytest.mark.parametrize("learner", ["ppo", "dmc"])
def test_weights_that_are_not_finite_stop_the_run_at_a_sound_checkpoint(learner: str, tmp_path: Path) -> None:
    kind, run = (PPOConfig, train) if learner == "ppo" else (dmc.DMCConfig, dmc.train)
    config = kind(**SMALL, steps=4096, checkpoint_every=1, out=tmp_path / "run")
    run(config)
    net = NetPolicy.load(tmp_path / "run" / "last.npz")
    broken = dataclasses.replace(config, steps=30_000)
    with pytest.MonkeyPatch.context() as patch:
        # all weights become infinite in the first step that goes on
        patch.setattr(torch.optim.Adam, "step", lambda self, *_: [w.data.fill_(np.inf) for w in _weights(self)])
        with pytest.raises(BestiaError, match=r"weights are not finite after \d+ decisions; .*checkpoint is sound"):
            run(broken)
        with pytest.raises(BestiaError, match="there is no checkpoint yet"):
            run(dataclasses.replace(broken, out=tmp_path / "other"))
    run(dataclasses.replace(config, steps=4096))  # reads the checkpoint and finds that nothing is left to do
    assert all(np.isfinite(part).all() for layer in net.layers for part in layer)
    again = run(dataclasses.replace(config, steps=6000))
    assert again.evaluations[-1]["decisions"] >= 6000


def _weights(optimiser: Any) -> list[Any]:
    return [weights for group in optimiser.param_groups for weights in group["params"]]


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--opponents", "medium"], "opponents 'medium'; allowed is NAME=WEIGHT"),
        (["--opponents", "medium=0"], "one of them positive"),
        (["--opponents", "nobody=1"], "nobody"),
        (["--variant", "besta"], "besta"),
        (["--set", "penalty_cap=-4"], "penalty_cap=-4"),
        (["--opponents", "medium=nan"], "allowed are finite weights"),
        (["--opponents", "medium=1", "medium=3"], "opponents 'medium=3'; allowed is each name once"),
        (["--eval-fields", "nobdy"], "nobdy"),
        (["--eval-fields"], "eval_fields=()"),
        (["--eval-blocks", "1"], "eval_blocks=1; allowed is 2 or more"),
        (["--eval-every", "0"], "eval_every=0; allowed is 1 or more"),
        (["--snapshots", "0"], "snapshots=0; allowed is 1 or more"),
        (["--envs", "0"], "envs=0; allowed is 1 or more"),
        (["--reward", "euros"], "reward='euros'"),
        (["--same-table", "3"], "same_table=3"),
        (["--device", "gpu9"], "device='gpu9'"),
        (["--variant", "bettelmann"], "allowed is one for games with hands"),
        (["--variant", "bettelmann", "--no-central-critic"], "relative_suits=True for bettelmann"),
        (["--pad-players", "-1"], "pad_players=-1"),
    ],
)
def test_command_lines_are_refused(words: list[str], match: str, tmp_path: Path, capsys: Any) -> None:
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    assert match in capsys.readouterr().err
    assert not (tmp_path / "run").exists()  # the corrected command may use it


# --- the pool ---------------------------------------------------------------------------------------------------------


def test_the_pool_keeps_the_newest_snapshots_and_their_weight() -> None:
    nets = [some_net() for _ in range(6)]
    pool = SelfPlayPool({CURRENT: 4, PAST: 2, "medium": 1}, nets[0], 3)
    pool.bind(make_rules("bestia", 3))
    for net in nets[1:]:
        pool.update(net)
        pool.snapshot(net)
    assert pool.weights == {"medium": 1, CURRENT: 4, "past 3": 2 / 3, "past 4": 2 / 3, "past 5": 2 / 3}
    drawn = pool.draw(np.random.default_rng(0).integers(2**64, size=(5000, 2), dtype=np.uint64))
    current = [pool.policy(number) is nets[5] for number in np.unique(drawn)]
    assert sum(current) == 2  # as it is, and the newest of what it was
    for game in bench.load():  # who learns against the hold-out field is measured by nothing
        pool = set(read_weights((), parse_rules(game.rules)))
        assert not pool & set(game.fields[bench.HOLD_OUT])
        assert set(game.fields["thumbs"]) <= pool
