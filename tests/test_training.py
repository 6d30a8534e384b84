"""Learning: PPO learns a small game, its runs go on after a kill, and its agents decide alike everywhere."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tyro

from agents import agent_names, agent_version, make_agent, shipped
from agents.files import write_card
from agents.net import CHUNK, Layer, NetPolicy
from agents.suits import RelativeSuits
from benchmarks import bench
from benchmarks.runner import play_blocks
from benchmarks.statistics import block_intervals
from bestia_env import BestiaError, GameBatch, SessionConfig, make_rules, parse_rules
from bestia_env.cards import cards_of, mask_of
from bestia_env.sb3 import BestiaVecEnv
from training import dmc, ship
from training.command import fresh_env
from training.config import CURRENT, PAST, read_weights
from training.evaluation import evaluate
from training.ppo import PPOConfig, main, make_model, net_of, train
from training.runs import Run
from training.selfplay import SelfPlayPool

ROOT = Path(__file__).resolve().parents[1]
SMALL: dict[str, Any] = {
    "variant": "mini_bestia", "players": 2, "envs": 128, "rollout": 16, "batch": 512, "eval_fields": ("random",),
    "eval_blocks": 200, "layers": (32,), "opponents": ("random=1",),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def some_net(
    variant: str = "bestia", players: int = 3, pad: int | None = None, kind: str = "logits", relative: bool = True
) -> NetPolicy:
    rules = make_rules(variant, players)
    batch = GameBatch(rules, 1, pad_players=pad)
    rng = np.random.default_rng(0)
    sizes = [batch.tensor_layout.size, 16, batch.layout.num_actions]
    layers = [
        Layer(rng.normal(size=(one, two)).astype(np.float32), rng.normal(size=two).astype(np.float32))
        for one, two in pairwise(sizes)
    ]
    return NetPolicy(layers, rules.full_text(), pad_players=pad, kind=kind, relative_suits=relative)


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
    model = make_model(config, rules, env)
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


def with_suits(views: Any, order: Any, batch: GameBatch) -> Any:
    """Views in which suit s is called ``order[s]``."""
    ranks, layout = batch.rules.cards.num_ranks, batch.layout

    def card(old: int) -> int:
        return old if old < 0 else order[old // ranks] * ranks + old % ranks

    told = views.copy()
    names = [layout.first_card + card(old) for old in range(layout.pack.num_cards)]
    for new, old in zip(told, views, strict=True):
        for name in ("hand", "first_hand", "owned", "laid", "buried", "exchange_cards"):
            new[name] = mask_of(map(card, cards_of(old[name])))
        new["turn_up"] = card(int(old["turn_up"]))
        new["plays"] = np.vectorize(card)(old["plays"])
        new["legal"][names] = old["legal"][layout.first_card : layout.num_actions]
    return told


@pytest.mark.parametrize(
    ("variant", "players", "pad"),
    [("bestia", 5, None), ("julepe", 3, None), ("mauscheln", 4, 10), ("online3", 4, None)],
)
def test_a_network_of_relative_suits_sees_the_same_whatever_they_are_called(
    variant: str, players: int, pad: int | None
) -> None:
    batch, phases = GameBatch(make_rules(variant, players), 200, seed=5, pad_players=pad), set()
    suits = RelativeSuits(batch)
    for number in range(14):
        views = batch.view(batch.states["actor"])
        views = views[views["actor"] == 0]
        phases |= set(views["phase"].tolist())
        seen = []
        for told in (views, with_suits(views, np.roll(np.arange(4), number % 3 + 1), batch)):
            tensors = batch.encode(told)
            orders = suits.orders(tensors)
            named = suits.actions(orders, told["exchange_cards"])
            assert np.array_equal(np.sort(named, axis=1), np.tile(np.arange(named.shape[1]), (len(told), 1)))
            seen.append((tensors, suits.tensors(tensors, orders), np.take_along_axis(told["legal"], named, axis=1)))
        (one, ordered, masks), (two, ordered_too, masks_too) = seen
        assert np.array_equal(ordered, ordered_too)
        assert np.array_equal(masks, masks_too)
        assert not np.array_equal(one, two)
        batch.step(batch.random_actions())
    assert len(phases) >= 2


def test_an_exchange_lays_off_the_cards_that_the_network_names() -> None:
    """Bit k is the k-th card of the hand as the network sees it."""
    batch = GameBatch(make_rules("mauscheln", 4), 300, seed=5)
    suits, layout, checked = RelativeSuits(batch), batch.layout, 0
    ranks = batch.rules.cards.num_ranks
    for _ in range(8):
        views = batch.view(batch.states["actor"])
        tensors = batch.encode(views)
        orders = suits.orders(tensors)
        named = suits.actions(orders, views["exchange_cards"])
        hands = suits.tensors(tensors, orders)[:, batch.tensor_layout.slices["hand"]]
        for view, action, hand, order in zip(views, named, hands, orders, strict=True):
            if not view["legal"][layout.first_exchange + 1 : layout.first_card].any():
                continue
            cards = cards_of(view["exchange_cards"])
            where = suits.suits(order)
            for place, card in enumerate(np.flatnonzero(hand).tolist()):
                bits = action[layout.first_exchange + (1 << place)] - layout.first_exchange
                suit, rank = divmod(card, ranks)
                assert [cards[bit] for bit in cards_of(bits)] == [where[suit] * ranks + rank]
                checked += 1
        batch.step(batch.random_actions())
    assert checked > 100


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


def test_weights_that_are_not_finite_stop_the_run_at_a_sound_checkpoint(tmp_path: Path) -> None:
    config = PPOConfig(**SMALL, steps=30_000, learning_rate=float("inf"), checkpoint_every=1, out=tmp_path)
    with pytest.raises((BestiaError, ValueError), match=r"not finite|invalid values|nan"):
        train(config)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--opponents", "medium"], "opponents 'medium'; allowed is NAME=WEIGHT"),
        (["--opponents", "medium=0"], "one of them positive"),
        (["--opponents", "nobody=1"], "nobody"),
        (["--variant", "besta"], "besta"),
        (["--set", "penalty_cap=-4"], "penalty_cap=-4"),
    ],
)
def test_command_lines_are_refused(words: list[str], match: str, tmp_path: Path, capsys: Any) -> None:
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    assert match in capsys.readouterr().err


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


# --- networks as agents -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["logits", "values"])
def test_a_network_decides_alike_however_it_is_asked(kind: str, tmp_path: Path) -> None:
    net = some_net("bestia", 5, kind=kind)
    net.save(tmp_path / "net.npz")
    again = NetPolicy.load(tmp_path / "net.npz")
    batch = GameBatch("bestia", 2 * CHUNK + 5, num_players=5, seed=3)
    for policy in (net, again):
        policy.bind(batch.rules)
    views, keys = batch.view(), batch.keys()
    actions = net.act(views, keys)
    assert batch.legal()[np.arange(len(actions)), actions].all()
    assert np.array_equal(actions, again.act(views, keys))
    assert np.array_equal(actions[::-1], net.act(views[::-1].copy(), keys[::-1].copy()))
    assert np.array_equal(actions, np.concatenate([net.act(views[[row]], keys[[row]]) for row in range(len(views))]))
    assert np.allclose(net.action_probabilities(views).sum(axis=1), 1)


def test_a_network_decides_alike_in_a_new_process(tmp_path: Path) -> None:
    net = some_net("bestia", 5)
    net.save(tmp_path / "net.npz")
    code = """
import sys
from pathlib import Path
from agents.net import NetPolicy
from bestia_env import GameBatch
batch = GameBatch("bestia", 200, num_players=5, seed=3)
net = NetPolicy.load(Path(sys.argv[1]))
net.bind(batch.rules)
print(*net.act(batch.view(), batch.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "net.npz"], cwd=ROOT, capture_output=True, text=True)
    batch = GameBatch("bestia", 200, num_players=5, seed=3)
    net.bind(batch.rules)
    assert done.stdout.split() == [str(action) for action in net.act(batch.view(), batch.keys())]


def test_other_rules_and_tables_are_refused(tmp_path: Path) -> None:
    net = some_net("bestia", 5)
    net.save(tmp_path / "net.npz")
    for rules in (make_rules("bestia", 4), make_rules("bestia", 5, penalty_cap=30), make_rules("julepe", 5)):
        with pytest.raises(BestiaError, match=r"a network of bestia\(num_players=5\); allowed are these rules, not"):
            net.bind(rules)
    padded = some_net("bestia", 5, pad=10)
    for players in (3, 5, 10):
        padded.bind(make_rules("bestia", players))
    with pytest.raises(BestiaError, match="a network of"):
        padded.bind(make_rules("bestia", 5, penalty_cap=30))
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(BestiaError, match="is no network"):
        NetPolicy.load(tmp_path / "other.npz")
    with pytest.raises(BestiaError, match="layers of shapes"):
        NetPolicy([*net.layers, net.layers[0]], net.rules)
    with pytest.raises(BestiaError, match="kind='other'"):
        NetPolicy(net.layers, net.rules, kind="other")


def test_a_run_is_an_agent(tmp_path: Path) -> None:
    config = PPOConfig(**SMALL, steps=4000, out=tmp_path / "run")
    train(config)
    rules, session = config.game()
    agent = make_agent(str(tmp_path / "run"))
    scores = evaluate(agent, rules, session, ("random", "always"), 50, 3)
    assert set(scores) == {"mean", "random", "always"}
    assert "decisions, content" in agent_version(str(tmp_path / "run"))
    assert set(agent_names(rules)) >= {"random", "always"}


def test_a_shipped_agent_plays_its_game_and_no_other(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "ppo" / "bestia-3"
    folder.mkdir(parents=True)
    net = some_net("bestia", 3)
    net.save(folder / "net.npz")
    write_card(folder, name="ppo bestia-3", version="seed 1", kind="net", file="net.npz", rules=net.rules)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    shipped._cards.cache_clear()
    try:
        batch = GameBatch("bestia", 50, num_players=3, seed=3)
        agent = make_agent("ppo")
        for policy in (agent, net):
            policy.bind(batch.rules)
        views, keys = batch.view(), batch.keys()
        assert np.array_equal(agent.act(views, keys), net.act(views, keys))
        assert agent_version("ppo") == "ppo bestia-3 seed 1"
        assert "ppo" in agent_names(batch.rules)
        assert "ppo" not in agent_names(make_rules("bestia", 4))
        with pytest.raises(BestiaError, match=r"was not trained for bestia\(num_players=4\); allowed are bestia"):
            agent.bind(make_rules("bestia", 4))
    finally:
        shipped._cards.cache_clear()


def test_the_card_of_a_shipped_agent_tells_the_command(tmp_path: Path) -> None:
    config = PPOConfig(
        variant="bestia", players=4, changes=("penalty_cap=30",), layers=(32, 16), central_critic=False, out=tmp_path
    )
    Run(config, *config.game())
    told = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    words = ship.words_of(told, PPOConfig)
    assert words == ["--variant", "bestia", "--players", "4", "--set", "penalty_cap=30", "--layers", "32", "16",
                     "--no-central-critic"]  # fmt: skip
    assert dataclasses.replace(tyro.cli(PPOConfig, args=words), out=tmp_path) == config


def test_shipping_writes_a_card_that_can_be_read(tmp_path: Path, monkeypatch: Any) -> None:
    rules = make_rules("bestia", 3)
    config = PPOConfig(variant="bestia", players=3, out=tmp_path / "run", layers=(16,))
    run = Run(config, *config.game())
    net = some_net("bestia", 3)
    net.save(run.folder / "last.npz")
    (run.folder / "evaluations.json").write_text('[{"decisions": 5, "seconds": 90.0}]', encoding="utf-8")
    monkeypatch.setattr(ship, "FOLDER", tmp_path)
    short = [dataclasses.replace(game, blocks=20) for game in bench.load()]
    monkeypatch.setattr(bench, "load", lambda: short)
    folder = ship.ship(ship.Config(run=run.folder, learner="ppo"))
    card = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
    told = card["bench_v1"]
    assert {"score", "hold_out", "in_wild", "less_medium", "less_tips", "less_last_seat"} <= set(told)
    assert all(low <= mean <= high for mean, low, high in told.values())
    assert 0 < card["behaviour"]["took_part"] < 1
    assert bench.main(["--agent", str(folder), "--games", "bestia-3", "--out", str(tmp_path / "again")]) == 0
    (row,) = json.loads((tmp_path / "again" / "bench.json").read_text(encoding="utf-8"))["games"]
    assert told["score"] == [round(row["score"][part], 4) for part in ("mean", "low", "high")]
    assert card["training"]["command"] == "python -m training.ppo --variant bestia --players 3 --layers 16"
    assert card["rules"] == rules.full_text()
    assert card["training"]["minutes"] == 1.5


def test_one_network_learns_tables_of_several_sizes(tmp_path: Path) -> None:
    small = SMALL | {"variant": "bestia", "players": 4, "eval_blocks": 20, "rollout": 8, "envs": 120}
    config = PPOConfig(**small, tables=(3, 6), pad_players=10, central_critic=False, steps=2000, out=tmp_path / "ppo")
    train(config)
    rules, session = config.game()
    env = fresh_env(config, rules, session)
    assert [(table.rules.num_players, table.num_envs) for table in env.tables] == [(4, 40), (3, 40), (6, 40)]
    singles = [BestiaVecEnv("bestia", 40, size, pad_players=10, seed=1, skip_forced=True, opponents="random",
                            session=table.games.batch.session, reward="score")
               for size, table in zip((4, 3, 6), env.tables, strict=True)]  # fmt: skip
    env = fresh_env(dataclasses.replace(config, relative_suits=False), rules, session)
    env.seed(9)
    for single in singles:
        single.seed(9)
    seen = [env.reset(), *[single.reset() for single in singles]]
    for _ in range(6):
        assert np.array_equal(seen[0], np.concatenate(seen[1:]))
        masks = np.stack(env.env_method("action_masks"))
        assert np.array_equal(masks, np.concatenate([single.action_masks() for single in singles]))
        actions = masks.argmax(axis=1)
        (first, paid, done, _), *rest = [env.step(actions)] + [
            single.step(part) for single, part in zip(singles, np.split(actions, 3), strict=True)
        ]
        assert np.array_equal(paid, np.concatenate([told[1] for told in rest]))
        assert np.array_equal(done, np.concatenate([told[2] for told in rest]))
        seen = [first, *[told[0] for told in rest]]
    dmc.train(dmc.DMCConfig(**small, tables=(3,), pad_players=10, steps=2000, out=tmp_path / "dmc"))
    for folder in ("ppo", "dmc"):
        net = NetPolicy.load(tmp_path / folder / "last.npz")
        for size in (3, 4, 6, 10):
            net.bind(make_rules("bestia", size))


def test_tables_that_cannot_be_learned_together_are_refused(tmp_path: Path) -> None:
    small = SMALL | {"variant": "bestia", "players": 4, "tables": (3,), "steps": 2000, "out": tmp_path}
    with pytest.raises(BestiaError, match="pad_players"):
        train(PPOConfig(**small))
    with pytest.raises(BestiaError, match="one table size"):
        train(PPOConfig(**small, pad_players=10))
