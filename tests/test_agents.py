"""The rules of thumb: always legal, the same in every batch, and what docs/agents.md says they do."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bestia_env
from agents import agent_names, agent_version, make_agent, thumb, thumb_names
from agents.games import PLAYERS
from agents.thumb import STYLES
from bestia_env import BestiaError, GameBatch, IllegalActionError, RulesError, SessionConfig, make_policy, make_rules

ROOT = Path(__file__).resolve().parents[1]
SEATS = {name: bestia_env.player_range(name) for name in bestia_env.variants()}
FOR_ALL = ("random", *STYLES, "tips")  # the agents that play every game
GAME_OF = {"julepe": "julepe", "mauscheln": "mauscheln", "roman": "bestia_roman", "online": "online4"}
HAS_POT = {name for name in SEATS if hasattr(make_rules(name), "ante")}


def play_out(rules, names, rows, seed, session=None, autoreset=False):
    """Plays games in which seat s of row r belongs to names[(r + s) % len], the last third of rows to one agent each.

    Returns the decisions of every agent; the batch raises at the first illegal one.
    """
    batch = GameBatch(rules, rows, seed=seed, session=session, autoreset=autoreset)
    policies = [make_policy(name, rules) for name in names]
    row, seat = np.indices((rows, rules.num_players))
    owner = np.where(row < 2 * rows // 3, row + seat, row) % len(names)
    actions = np.zeros(rows, np.int64)
    decisions = dict.fromkeys(names, 0)
    while len(playing := np.flatnonzero(batch.actor >= 0)):
        asked = owner[playing, batch.actor[playing]]
        for index, policy in enumerate(policies):
            mine = playing[asked == index]
            if len(mine):
                decisions[names[index]] += len(mine)
                actions[mine] = policy.act(batch.view(rows=mine), batch.keys(mine))
        batch.step(actions)
    return decisions


# --- complete games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", bestia_env.variants())
def test_complete_legal_games_at_every_table_size(variant):
    low, high = SEATS[variant]
    total = Counter()
    for players in range(low, high + 1):
        rules = make_rules(variant, players)
        session = SessionConfig(num_deals=3, carry=range(20 * rules.ante)) if variant in HAS_POT else None
        rows = 90 if variant in HAS_POT else 16
        total.update(play_out(rules, agent_names(rules), rows, seed=players, session=session))
    shipped = set(agent_names()) - {"random", *thumb_names()}
    assert min(total.values()) > 100
    assert min(count for name, count in total.items() if name not in shipped) > 100 * (high - low + 1)


def test_ten_thousand_legal_decisions_of_each():
    decisions = play_out(make_rules("bestia", 5), FOR_ALL, 24_000, seed=3)
    assert min(decisions.values()) >= 10_000
    for name, variant in GAME_OF.items():
        assert play_out(make_rules(variant), (name, "random"), 3000, seed=3)[name] >= 10_000


CHOICES = {
    "hand_size": [1, 2, 3, 4, 5], "ante": [60], "turn_up": ["before_deal", "mid_deal", "after_deal"],
    "turn_up_owner": ["nobody", "dealer", "dealer_swap"], "extra_hand": [True, False], "bidding": ["round", "circuits"],
    "max_circuits": [None, 1, 3], "conditional_third": [True, False], "late_join": [True, False],
    "forced_deal": ["never", "after_no_bestia", "bare_ante"], "second_chance": [True, False],
    "exchange_max": [0, 1, 2, 3], "exchange_when": ["declaring", "after"],
    "recycle": ["none", "folded", "folded_then_discards"], "last_player_wins": [True, False],
    "principal": ["none", "first_in", "knocker"], "must_head": [True, False], "quota": [(1, 1), (2, 1), (1, 2)],
    "ruff": ["any_trump", "overtrump_else_any_trump", "overtrump_else_any_card", "highest_trump"],
    "lead_top_trump": ["none", "ace", "ace_or_exposed_next", "highest_remaining"],
    "lead_trump_after_first": [True, False], "stakes": ["unlimited", "table"],
}  # fmt: skip


def house_rules(variant, players, fields, draw):
    """A game that nobody has ever played, or None if the rules refuse what was drawn."""
    changes = {field: draw.choice(CHOICES[field]) for field in draw.sample(sorted(CHOICES), fields)} | {"ante": 60}
    try:
        return make_rules(variant, players, **changes)
    except RulesError:
        return None


def play_house_rules(rules, names, seed):
    session = SessionConfig(num_deals=2, carry=range(600), credits=400 if rules.stakes == "table" else None)
    return play_out(rules, names, 24, seed=seed, session=session)


def test_house_rules():
    """Two hundred games: every combination that the rules accept has to be playable."""
    draw = random.Random(5)
    played = 0
    while played < 200:
        rules = house_rules("rams", draw.randint(2, 6), 8, draw)
        if rules is not None:
            played += 1
            assert sum(play_house_rules(rules, FOR_ALL, played).values()) > 0


@pytest.mark.parametrize("name", PLAYERS)
def test_house_rules_of_a_players_game(name):
    """Whatever else is changed about its game: what it does not refuse it can play."""
    draw = random.Random(6)
    played = 0
    while played < 30:
        rules = house_rules(GAME_OF[name], None, 4, draw)
        if rules is not None and name in agent_names(rules):
            played += 1
            assert play_house_rules(rules, (name, "random"), played)[name] > 0


@pytest.mark.parametrize("variant", ["bestia", "bestia_roman", "online3", "julepe", "mauscheln"])
def test_agents_that_were_pickled_decide_alike(variant):
    """A training run's checkpoint holds its opponents."""
    rules = make_rules(variant, 5)
    for name in agent_names(rules):
        policy = make_policy(name, rules)
        other = pickle.loads(pickle.dumps(policy))
        batch = GameBatch(rules, 40, seed=4)
        for _ in range(12):
            views, keys = batch.view(), batch.keys()
            actions = policy.act(views, keys)
            assert np.array_equal(actions, other.act(views, keys)), name
            batch.step(actions)


# --- one decision at a time -----------------------------------------------------------------------------------------


def some_views(rules, rows=300, seed=11, session=None):
    """Views of all decisions of some games among medium players, with their keys."""
    batch = GameBatch(rules, rows, seed=seed, session=session, autoreset=False)
    policy = make_policy("loose", rules)
    actions = np.zeros(rows, np.int64)
    views, keys = [], []
    while len(playing := np.flatnonzero(batch.actor >= 0)):
        views.append(batch.view(rows=playing))
        keys.append(batch.keys(playing))
        actions[playing] = policy.act(views[-1], keys[-1])
        batch.step(actions)
    return np.concatenate(views), np.concatenate(keys)


@pytest.mark.parametrize(
    ("name", "variant"),
    [*((name, variant) for variant in ("bestia", "bestia_roman", "julepe") for name in FOR_ALL), *GAME_OF.items()],
)
def test_decisions_do_not_depend_on_the_batch(name, variant):
    rules = make_rules(variant)
    views, keys = some_views(rules)
    policy = make_policy(name, rules)
    whole = policy.act(views, keys)
    order = np.random.default_rng(0).permutation(len(views))
    assert (policy.act(views[order], keys[order]) == whole[order]).all()
    cut = len(views) // 3
    assert (np.concatenate([policy.act(views[:cut], keys[:cut]), policy.act(views[cut:], keys[cut:])]) == whole).all()
    assert (make_policy(name, rules).act(views[5:6], keys[5:6]) == whole[5]).all()
    probabilities = policy.action_probabilities(views)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (probabilities[np.arange(len(views)), whole] > 0).all()


def test_every_style_plays_cards_alike():
    rules = make_rules("bestia", 4, forced_deal="bare_ante", second_chance=False)
    views, keys = some_views(rules, rows=100)
    plays = [make_policy(name, rules).act(views, keys) for name in STYLES]
    assert all((play == plays[0]).all() for play in plays)


@pytest.mark.parametrize(
    ("name", "variant"),
    [*((name, variant) for variant in ("bestia", "bestia_five", "bettelmann") for name in FOR_ALL), *GAME_OF.items()],
)
def test_a_view_without_a_legal_action_is_refused(name, variant):
    rules = make_rules(variant)
    batch = GameBatch(rules, 3, seed=1)
    views = batch.view()
    views["legal"][1] = 0
    with pytest.raises(IllegalActionError, match="view 1 of 3 has an all-zero action mask"):
        make_policy(name, rules).act(views, batch.keys())


@pytest.mark.parametrize("phase", range(6))
def test_no_phase_makes_up_an_action(phase):
    rules = make_rules("mauscheln", 4)
    views = GameBatch(rules, 1, seed=1).view()
    views["legal"] = 0
    views["phase"] = phase
    with pytest.raises(IllegalActionError):
        make_policy("medium", rules).act(views, np.zeros(1, np.uint64))


def test_another_seats_view_is_refused():
    batch = GameBatch("bestia", 1, num_players=3, seed=1)
    other = (batch.actor + 1) % 3
    with pytest.raises(IllegalActionError, match="all-zero"):
        make_policy("medium", batch.rules).act(batch.view(seats=other), batch.keys())


PLAY = """
import json, numpy as np
from bestia_env import GameBatch, SessionConfig, make_policy, make_rules
told = []
for variant, carry, agent in (
    ("bestia", 0, "medium"), ("bestia_roman", 7, "medium"), ("tippen_exchange", 0, "medium"), ("bestia", 0, "tips"),
    ("bestia_col_buco", 90, "tips"), ("bestia", 3, "last_seat"), ("julepe", 4, "julepe"),
    ("mauscheln", 8, "mauscheln"), ("bestia_roman", 20, "roman"), ("online3", 700, "online"), ("online4", 0, "online"),
):
    rules = make_rules(variant, 4)
    batch = GameBatch(rules, 4, seed=5, session=SessionConfig(carry=carry), autoreset=False)
    policy = make_policy(agent, rules)
    while (batch.actor >= 0).any():
        rows = np.flatnonzero(batch.actor >= 0)
        actions = np.zeros(4, np.int64)
        actions[rows] = policy.act(batch.view(rows=rows), batch.keys(rows))
        told.append(actions.tolist())
        batch.step(actions)
print(json.dumps(told))
"""


def test_uncompiled_play_is_the_same(capsys):
    exec(PLAY, {})
    compiled = json.loads(capsys.readouterr().out)
    done = subprocess.run(
        [sys.executable, "-c", PLAY], cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert json.loads(done.stdout) == compiled
    assert len(compiled) > 150


# --- names ----------------------------------------------------------------------------------------------------------


def test_registry():
    assert set(thumb_names()) == {*STYLES, "tips", *PLAYERS}
    assert set(agent_names()) == {"random", *thumb_names(), "dmc", "ppo"}
    assert set(agent_names(make_rules("bettelmann"))) == set(FOR_ALL)
    assert set(agent_names(make_rules("julepe", 4))) == {*FOR_ALL, "julepe"}
    assert {agent_version(name) for name in ("random", *thumb_names())} == {"v1"}
    assert isinstance(make_agent("medium"), bestia_env.Policy)
    with pytest.raises(
        BestiaError, match=r"'reckless'.*random, always, never, last_seat, loose, medium, tight, tips, julepe"
    ):
        make_policy("reckless", make_rules("bestia"))
    with pytest.raises(BestiaError, match="'reckless'"):
        agent_version("reckless")


def test_a_family_with_other_decisions_is_refused(monkeypatch):
    class Chess:
        name = "chess"

        def layout(self, rules):
            return type("Layout", (), {"num_actions": 4672})

    monkeypatch.setattr(thumb, "family_of", lambda rules: Chess())
    with pytest.raises(BestiaError, match=r"'medium' cannot play bestia.*Rams group"):
        make_agent("medium").bind(make_rules("bestia"))
