"""Bettelmann against the second implementation, against known statistics, and compiled against plain Python."""

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bestia_env._jit import jit_for
from bestia_env.bettelmann import engine
from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.bettelmann.state import Result
from bestia_env.bettelmann.variants import VARIANTS
from bestia_env.cards import Pack
from bestia_env.registry import make_rules as make
from bestia_env.rng import game_key
from tests.bettelmann_table import LOOPS, Table
from tests.reference.bettelmann import ReferenceGame


def compare(rules: BettelmannRules, table: Table) -> str:
    """Plays a game in both implementations, compared after every card; returns how it ended."""
    text = rules.cards.text
    reference = ReferenceGame(
        [[text(card) for card in stack] for stack in table.stacks()],
        dict(rules.penalties),
        rules.partial,
        rules.elimination,
        rules.limit_cards,
        rules.on_limit,
        rules.detect_cycle,
        rules.hard_cap,
    )
    while True:
        s = table.state
        assert table.over == reference.over
        assert table.actor == (-1 if reference.turn is None else reference.turn)
        assert [[text(card) for card in stack] for stack in table.stacks()] == [
            list(stack) for stack in reference.stacks
        ]
        assert [text(card) for card in s["pile"][: s["pile_length"]]] == reference.pile
        assert (s["cards"], s["piles"], s["due"]) == (reference.cards, reference.piles, reference.due)
        assert s["owner"] == (-1 if reference.owner is None else reference.owner)
        assert {seat for seat in range(4) if s["out"][seat]} == reference.out
        if table.over:
            break
        table.lay()
        reference.lay()
    assert Result(int(table.state["result"])).name.lower() == reference.result
    score = [
        Fraction(int(top), int(table.state["score_base"])) for top in table.state["score_top"][: rules.num_players]
    ]
    assert score == reference.rewards
    assert sum(score) == 0
    assert table.rewards[0].tolist() == [float(share) for share in score]
    return str(reference.result)


OPTIONS = [
    {"partial": partial, "elimination": elimination, **limit}
    for partial, elimination, limit in product(
        ("close", "pass_on"),
        ("late", "immediate"),
        ({}, {"limit_cards": 150}, {"limit_cards": 150, "on_limit": "finish_pile"}),
    )
]


@pytest.mark.parametrize(
    ("variant", "players"),
    [(name, n) for name, row in VARIANTS.items() for n in range(row.players[0], row.players[1] + 1)],
)
def test_both_implementations_agree_on_whole_packs(variant: str, players: int) -> None:
    plain = make(variant, players)
    for seed in range(6):
        compare(plain, Table(plain, seed=seed))
    for seed, options in enumerate(OPTIONS):
        rules = make(variant, players, **options)
        compare(rules, Table(rules, seed=seed))


@pytest.mark.filterwarnings("ignore:detect_cycle=False:UserWarning")
def test_both_implementations_agree_on_small_deals() -> None:
    """Few cards make the corner cases common: empty stacks, debts nobody can pay, rounds that never end."""
    rng, ends, empty = random.Random(11), Counter[str](), 0
    french = Pack(ranks=("A", "K", "Q", "J", "10", "9", "8"))
    for _ in range(2500):
        cards = rng.sample(range(28), rng.randint(2, 14))
        players = rng.randint(2, min(4, len(cards)))
        seats = [*range(2), *(rng.randrange(players) for _ in cards[2:])]
        stacks = [
            " ".join(french.text(c) for c, owner in zip(cards, seats, strict=True) if owner == seat)
            for seat in range(players)
        ]
        rng.shuffle(stacks)
        empty += "" in stacks
        rules = make(
            "bettelmann",
            players,
            pack=french,
            penalties=rng.choice([{"J": 1}, {"J": 1}, {"J": 1, "Q": 2}, {"J": 1, "Q": 2, "K": 3, "A": 4}]),
            partial=rng.choice(["close", "pass_on"]),
            elimination=rng.choice(["late", "immediate"]),
            limit_cards=rng.choice([None, None, rng.randint(1, 8)]),
            on_limit=rng.choice(["stacks_only", "finish_pile"]),
            detect_cycle=rng.random() < 0.8,
            hard_cap=rng.choice([rng.randint(8, 30), 300]),
        )
        ends[compare(rules, Table(rules, stacks))] += 1
    assert empty > 50
    assert min(ends[end] for end in ("win", "limit", "cycle", "cap")) > 10, ends


# --- statistics -------------------------------------------------------------------------------------------------------


@jit_for("bettelmann", __file__)
def play_games(S, P, games, totals):  # type: ignore[no-untyped-def]
    """Adds up the cards, the piles and each seat's wins of ``games`` games."""
    s = S[0]
    p = P[0]
    for game in range(games):
        s.key = game_key(s.seed, s.row, game)
        engine.prepare(s, p)
        engine.shuffle(s, p)
        engine.begin(s, p)
        engine.advance(s, p)
        while s.over == 0:
            engine.apply(s, p, np.int64(0))
            engine.advance(s, p)
        totals[0] += s.cards
        totals[1] += s.piles
        for seat in range(p.num_players):
            totals[2 + seat] += s.won[seat]


@pytest.mark.parametrize(
    ("players", "cards", "piles", "wins"),
    [
        (2, (254.67, 205.9), (35.24, 28.8), [0.49781, 0.50219]),
        (3, (331.30, 219.3), (45.95, 30.8), [0.34358, 0.32658, 0.32984]),
        (4, (369.97, 223.2), (51.44, 31.4), [0.24619, 0.24801, 0.25136, 0.25444]),
    ],
)
def test_statistics(players: int, cards: Any, piles: Any, wins: list[float]) -> None:
    games = 200_000
    table = Table(make("bettelmann", players), seed=2024)
    table.parameters["detect_cycle"] = 0  # none cycles in 20 million; half the time
    totals = np.zeros(2 + players, np.int64)
    play_games(table.states, table.parameters, games, totals)
    means = totals / games
    for mean, (expected, deviation) in zip(means[:2], (cards, piles), strict=True):
        assert abs(mean - expected) < 4 * deviation / games**0.5 + 0.1
    for rate, expected in zip(means[2:], wins, strict=True):
        assert abs(rate - expected) < 4 * (expected * (1 - expected) / games) ** 0.5


# --- batches, modes ---------------------------------------------------------------------------------------------------


def test_a_batch_is_many_single_games_and_rows_go_on() -> None:
    rules = make("bettelmann", 3)
    batch = Table(rules, games=5, seed=4)
    lengths: list[list[int]] = [[] for _ in range(5)]
    for _ in range(1500):
        batch.lay(autoreset=True)
        for place, row in enumerate(np.flatnonzero(batch.done)):
            assert batch.last["row"][place] == row
            lengths[row].append(int(batch.last["cards"][place]))
            assert batch.rewards[row].sum() == 0
            assert batch.last["actor"][place] == -1
    for row, cards in enumerate(lengths):
        for game, length in enumerate(cards):
            single = Table(rules, seed=4)
            single.states["row"], single.states["game"] = row, game
            LOOPS.start(single.states, single.parameters, np.arange(1), False)
            assert single.play().state["cards"] == length
    assert min(map(len, lengths)) > 1


NO_JIT = """
import hashlib, numpy as np
from bestia_env.cards import Pack
from bestia_env.bettelmann.game import FAMILY
from bestia_env.bettelmann.variants import VARIANTS
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
L, digest = FAMILY.loops, hashlib.sha256()
np.seterr(over="ignore")  # the random numbers wrap on purpose
small = {"pack": Pack(suits="cd", ranks=("A", "K", "Q", "J", "4", "3", "2")), "hard_cap": 50}
games = [(make(name, n), 10) for name, row in VARIANTS.items() for n in range(row.players[0], row.players[1] + 1)]
for partial in ("close", "pass_on"):
    for elimination in ("late", "immediate"):
        for n, limit in ((2, None), (3, 20)):
            rules = make("bettelmann", n, partial=partial, elimination=elimination, limit_cards=limit, **small)
            games.append((rules, 60))
for rules, steps in games:
    n = rules.num_players
    P = FAMILY.parameters(rules, SessionConfig())
    S, V, last = np.zeros(2, FAMILY.state_dtype), np.zeros(2, FAMILY.view_dtype), np.zeros(2, FAMILY.state_dtype)
    S["seed"], S["row"] = 5, [0, 1]
    L.start(S, P, np.arange(2), False)
    rewards, scores, done, cut = np.zeros((2, n)), np.zeros((2, n)), np.zeros(2, bool), np.zeros(2, bool)
    layout, actions, mask = FAMILY.tensor(rules), np.zeros(2, np.int64), np.zeros((2, 1), bool)
    tensor, copies = np.zeros((2, layout.size), np.float32), np.zeros(2, FAMILY.state_dtype)
    for step in range(steps):
        L.random_actions(S, P, actions)
        if L.step(S, P, np.arange(len(S)), actions, rewards, scores, done, cut, last):
            S["game"] += done
            L.start(S, P, np.flatnonzero(done), False)
        L.observe(S, P, np.arange(2), np.array([step % n, 0]), V)
        L.encode(V, P, layout.parameters, tensor)
        L.redeal(V, P, np.array([step, 7], np.uint64), copies)
        L.legal(S, P, np.arange(len(S)), mask)
        for array in (S, V, rewards, scores, last, tensor, copies, mask):
            digest.update(array.tobytes())
    L.forfeit(S, P, 0, 1, rewards[0], scores[0])
    digest.update(S.tobytes())
print(digest.hexdigest())
"""


def test_compiled_and_plain_python_agree_to_the_byte() -> None:
    def run(**environment: str) -> str:
        env = {**os.environ, **environment}
        return subprocess.run(
            [sys.executable, "-c", NO_JIT],
            env=env,
            cwd=Path(__file__).parents[1],
            check=True,
            text=True,
            capture_output=True,
        ).stdout

    assert run(NUMBA_DISABLE_JIT="1") == run(NUMBA_DISABLE_JIT="0") != hashlib.sha256().hexdigest()
