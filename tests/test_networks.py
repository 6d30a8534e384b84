"""Networks as agents: what they are shown of suits, that they decide alike everywhere, and how they are shipped."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tyro

from agents import agent_names, agent_version, make_agent, shipped
from agents.files import write_card
from agents.net import CHUNK, NetPolicy
from agents.suits import RelativeSuits
from benchmarks import bench
from bestia_env import BestiaError, GameBatch, make_rules
from bestia_env.cards import cards_of, mask_of
from tests.training_tools import SMALL, some_net
from training import ship
from training.evaluation import evaluate
from training.ppo import PPOConfig, train
from training.runs import Run

ROOT = Path(__file__).resolve().parents[1]


# --- suits ------------------------------------------------------------------------------------------------------------


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
    np.savez(tmp_path / "older.npz", about=np.array('{"format": 1, "rules": "bestia"}'))
    with pytest.raises(BestiaError, match="is no network of this laboratory: KeyError"):
        NetPolicy.load(tmp_path / "older.npz")
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
        version = agent_version("ppo", make_rules("bestia", 3))
        assert version.startswith("seed 1, content ")
        assert agent_version("ppo").startswith("1 games, content ")
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
    Run(config, *config.game()).begin()
    told = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    words = ship.words_of(told, PPOConfig)
    assert words == ["--variant", "bestia", "--players", "4", "--set", "penalty_cap=30", "--layers", "32", "16",
                     "--no-central-critic"]  # fmt: skip
    assert dataclasses.replace(tyro.cli(PPOConfig, args=words), out=tmp_path) == config


def test_shipping_writes_a_card_that_can_be_read(tmp_path: Path, monkeypatch: Any) -> None:
    rules = make_rules("bestia", 3)
    config = PPOConfig(variant="bestia", players=3, out=tmp_path / "run", layers=(16,))
    run = Run(config, *config.game())
    run.begin()
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


@pytest.mark.parametrize(
    ("files", "learner", "match"),
    [
        ({}, "ppo", "allowed is the folder of a run that was evaluated"),
        ({"config.json": "{}", "evaluations.json": "[]"}, "ppo", "allowed is the folder of a run that was evaluated"),
        ({"config.json": "{}", "evaluations.json": "[{}]"}, "dmc", "learner='dmc'; allowed is that of the run"),
    ],
)
def test_what_cannot_be_shipped_leaves_nothing(
    files: dict[str, str], learner: Any, match: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(ship, "FOLDER", tmp_path / "trained")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BestiaError, match=match):
        ship.ship(ship.Config(run=tmp_path, learner=learner))
    assert not (tmp_path / "trained").exists()
