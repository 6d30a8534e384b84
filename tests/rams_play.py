"""Shared by the batteries of the Rams group: games, random rules, varied play, states of every phase, invariants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.cards import Pack
from bestia_env.errors import RulesError
from bestia_env.family import ActionLayout
from bestia_env.rams.rules import CHOICES, RamsRules
from bestia_env.rams.state import Phase, Status
from bestia_env.rams.variants import VARIANTS
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig

ALL = [make(name, n) for name, row in VARIANTS.items() for n in range(row.players[0], row.players[1] + 1)]
SOME = [make(name, n) for name, row in VARIANTS.items() for n in sorted({*row.players, row.default_players})]
ONE_EACH = [make(name) for name in VARIANTS]
ASKING = (Phase.DECLARE, Phase.SECOND_CHANCE, Phase.EXCHANGE, Phase.PLAY)

# Derandomized: the same examples in every run of CI; `make crosscheck` is where rules are drawn without end.
DRAWN = settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


def label(rules: RamsRules) -> str:
    """How a parametrized test calls a game."""
    return f"{rules.variant}-{rules.num_players}"


# --- random rules and sessions --------------------------------------------------------------------------------------

UNIT = 120  # divides by d and by 2 h for every size of a hand
PACKS = ("italian40", "italian36", "piquet32", "french52")
NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "hand_size": st.integers(1, 6),
    "ante": st.sampled_from([0, UNIT, 5 * UNIT]),
    "stay_stake": st.sampled_from([0, UNIT]),
    "max_circuits": st.sampled_from([None, 1, 2, 4]),
    "exchange_max": st.integers(0, 6),
    "quota": st.tuples(st.integers(1, 3), st.integers(1, 3)),
    "principal_penalty": st.tuples(*[st.sampled_from([Fraction(text) for text in "0 1/2 1 3/2 2".split()])] * 2),
    "penalty_cap": st.sampled_from([None, UNIT, 10 * UNIT]),
    "rake_bp": st.sampled_from([0, 1, 500, 1000]),
    "pack": st.one_of(
        st.sampled_from(PACKS),
        st.builds(
            lambda suits, ranks: Pack(suits=suits, ranks=tuple("A K Q J 10 9 8 7 6 5 4 3 2".split()[:ranks])),
            st.sampled_from(["cdhs", "shdc", "hs", "d", "dhc"]),
            st.integers(2, 13),
        ),
    ),
    "num_players": st.integers(2, 10),
}
BOOLEANS = [spec.name for spec in fields(RamsRules) if spec.type == "bool"]
VALUES: dict[str, st.SearchStrategy[Any]] = (
    {field: st.sampled_from(words) for field, words in CHOICES.items()}
    | dict.fromkeys(BOOLEANS, st.booleans())
    | NUMBERS
)


@st.composite
def changed_rules(draw: st.DrawFn, most: int = 12) -> RamsRules:
    """A preset with some fields changed, as far as the validation lets them."""
    rules = draw(st.sampled_from(ALL))
    values = rules.values() | {"ante": UNIT}
    if values["stay_stake"]:
        values["stay_stake"] = UNIT
    for field in draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True, max_size=most)):
        changed = values | {field: draw(VALUES[field])}
        if field == "hand_size":
            changed["exchange_max"] = min(int(str(changed["exchange_max"])), int(str(changed["hand_size"])))
        try:
            RamsRules(variant="rams", **changed)
        except RulesError:
            continue
        values = changed
    return RamsRules(variant="rams", **values)


@st.composite
def sessions(draw: st.DrawFn, rules: RamsRules) -> SessionConfig:
    """A session that these rules can have."""
    n, most = rules.num_players, 20 * max(rules.ante, 1)
    credits = None
    if rules.stakes == "table":
        credits = draw(st.lists(st.integers(1, most), min_size=n, max_size=n))
    return SessionConfig(
        num_deals=draw(st.sampled_from([1, 1, 2, 3])),
        play_on=draw(st.booleans()),
        carry=draw(st.sampled_from([0, range(0, 9 * rules.divisor, rules.divisor), range(10**6), 10**12])),
        forced=rules.forced_deal == "after_no_bestia" and draw(st.booleans()),
        credits=credits,
    )


def varied_session(rules: RamsRules) -> SessionConfig:
    """Three deals, often with an empty pot, and with table stakes seats that soon have no credit."""
    credits = [rules.ante * (2 + seat) for seat in range(rules.num_players)] if rules.stakes == "table" else None
    return SessionConfig(num_deals=3, carry=range(0, 3 * rules.divisor, rules.divisor), credits=credits)


# --- play -----------------------------------------------------------------------------------------------------------


def varied_actions(legal: np.ndarray, layout: ActionLayout, rng: np.random.Generator) -> np.ndarray:
    """A random legal action a row, every second time one of the verbs if there are any, so that all phases come up."""
    some_verb = legal[:, : layout.first_exchange].any(axis=1) & (rng.random(len(legal)) < 0.5)
    open_ = legal & ~(some_verb[:, None] & (np.arange(legal.shape[1]) >= layout.first_exchange))
    return np.argmax(open_ * rng.uniform(0.1, 1.0, open_.shape), axis=1)


def with_states(batch: GameBatch, states: np.ndarray) -> GameBatch:
    """A batch of the same rules and session that stands at the given states."""
    twin = batch.clone(np.zeros(len(states), np.int64))
    twin.states[:] = states
    twin.autoreset = False
    return twin


def one_game(rules: RamsRules, deal: dict[str, Any], **session: Any) -> GameBatch:
    """A batch of one game that begins with a deal set up by hand and stops at its end."""
    batch = GameBatch(rules, 1, seed=0, autoreset=False, session=SessionConfig(**session))
    batch.reset(deals=[deal])
    return batch


def say(batch: GameBatch, *texts: str) -> None:
    """Plays actions by their text in a batch of one."""
    for text in texts:
        batch.step([batch.layout.action(text, int(batch.states["exchange_cards"][0]))])


def random_deal(rules: RamsRules, rng: np.random.Generator) -> dict[str, Any]:
    """The start of a deal with some seats that are not entitled."""
    n = rules.num_players
    dealer = int(rng.integers(n))
    entitled = [seat == dealer or bool(rng.random() < 0.7) for seat in range(n)]
    entitled[(dealer + 1) % n] = True
    return {"dealer": dealer, "entitled": entitled}


@cache
def pool(rules: RamsRules, each: int = 6, seed: int = 5) -> GameBatch:
    """Some states of every phase that the game has, and of its end; do not step it.

    A third of the games begins with seats that are not entitled to the pot.
    """
    rng = np.random.default_rng(seed)
    batch = GameBatch(rules, 24, seed=seed, session=varied_session(rules), autoreset=False)
    batch.reset(rows=np.arange(8), deals=[random_deal(rules, rng) for _ in range(8)])
    wanted = {Phase.DECLARE, Phase.PLAY, Phase.OVER}
    wanted |= {Phase.SECOND_CHANCE} if rules.second_chance else set()
    wanted |= {Phase.EXCHANGE} if rules.exchanges_after else set()
    found: dict[int, list[np.ndarray]] = {phase: [] for phase in wanted}
    for _ in range(600):
        for row in np.flatnonzero(rng.random(24) < 0.2):
            states = found[int(batch.states["phase"][row])]
            if len(states) < each:
                states.append(take_rows(batch.states, np.array([row])))
        if all(len(states) == each for states in found.values()):
            break
        batch.step(varied_actions(batch.legal(), batch.layout, rng))
        stopped = np.flatnonzero(batch.actor < 0)
        batch.reset(rows=stopped[rng.random(len(stopped)) < 0.5])
    short = {phase: len(states) for phase, states in found.items() if len(states) < each}
    assert not short, f"{label(rules)}: phases hardly reached: {short}"
    return with_states(batch, np.concatenate([state for states in found.values() for state in states]))


# --- what must always hold ------------------------------------------------------------------------------------------


def stock_cards(states: np.ndarray) -> np.ndarray:
    """(B,) the cards of the stock as masks."""
    places = np.arange(states["stock"].shape[1])
    live = (places >= states["stock_next"][:, None]) & (places < states["stock_end"][:, None])
    bits = np.where(live, np.uint64(1) << np.where(live, states["stock"], 0).astype(np.uint64), np.uint64(0))
    return np.bitwise_or.reduce(bits, axis=1)


def assert_cards_partition(rules: RamsRules, states: np.ndarray) -> None:
    """Every card of the pack lies in exactly one place: a hand, stock, discards, buco, tricks or face up."""
    turned = (states["turn_up_taken"] == 0) * (np.uint64(1) << states["turn_up"].astype(np.uint64))
    hidden = [states["discards"], states["extra_hand"], stock_cards(states)]
    places = [*states["hand"].T, *hidden, states["played"], turned]
    cards = rules.cards.num_cards
    stock = (states["stock_end"] - states["stock_next"]).astype(int)
    assert np.array_equal(np.bitwise_or.reduce(places), np.full(len(states), (1 << cards) - 1, np.uint64))
    assert (sum(np.bitwise_count(cards_there).astype(int) for cards_there in places) == cards).all()
    assert np.array_equal(np.bitwise_count(stock_cards(states)), stock)
    assert not (states["buried"] & ~states["laid"]).any()
    assert np.array_equal(np.bitwise_or.reduce(states["buried"], axis=1), states["discards"])


def chips(states: np.ndarray) -> np.ndarray:
    """(B,) all chips there are: what the seats own, what lies on the table, what the house took."""
    table = np.where(states["phase"] == Phase.OVER, states["carry"], states["pot"])
    return np.asarray(states["credits"].sum(axis=1) + table + states["rake_taken"])


def assert_decision_is_open(batch: GameBatch) -> np.ndarray:
    """Whoever acts has a legal action, seats, hands and counts are as they should be; returns the masks."""
    rules, states, legal = batch.rules, batch.states, batch.legal()
    acting = states["actor"] >= 0
    assert np.array_equal(legal.any(axis=1), acting)
    assert np.array_equal(acting, states["phase"] < Phase.SETTLE)
    assert np.array_equal(acting, states["over"] == 0)
    assert (states["decision"] + acting <= rules.max_log + rules.num_players * rules.hand_size).all()
    assert (states["log_length"] <= rules.max_log).all()
    playing = (states["phase"] == Phase.PLAY)[:, None] & (states["status"] == Status.IN)
    laid_down = (states["plays"][:, : rules.hand_size] >= 0).sum(axis=1) + np.bitwise_count(states["hand"])
    assert (laid_down[playing] == rules.hand_size).all()
    who = states["status"][np.arange(len(states)), states["actor"]]
    assert not np.isin(who[acting], [Status.OUT, Status.AWAY]).any()
    return legal


COSTS = ("penalties", "antes", "stakes")


def assert_settled(rules: RamsRules, told: dict[str, Any], reward: Sequence[int], score: Sequence[float]) -> None:
    """The settlement of a deal adds up, chip by chip and as a score."""
    gains, costs = zip(told["shares"], told["split"], strict=True), zip(*(told[name] for name in COSTS), strict=True)
    assert told["net"] == list(reward) == [sum(gain) - sum(cost) for gain, cost in zip(gains, costs, strict=True)]
    pot_before = told["carry_before"] + sum(told["antes"])
    assert told["pot"] == pot_before + sum(told["stakes"])
    kept = told["pot"] - told["rake"] - sum(told["shares"]) + sum(told["penalties"])
    assert told["carry_after"] == kept >= 0
    assert min(told["shares"] + told["penalties"] + told["antes"]) >= 0
    assert sum(told["net"]) == told["carry_before"] - kept - told["rake"] + sum(told["split"])
    assert list(score) == told["score"]
    if pot_before == 0:
        assert not any(score)
    assert max(told["tricks"], default=0) <= rules.hand_size
    assert {seat for seat, share in enumerate(told["shares"]) if share} <= set(told["participants"])


# --- what the seats are told ----------------------------------------------------------------------------------------


def everybody(batch: GameBatch) -> tuple[np.ndarray, np.ndarray]:
    """(rows, seats): every seat of every row."""
    n = batch.num_players
    return np.repeat(np.arange(batch.num_games), n), np.tile(np.arange(n), batch.num_games)


def views_of_everybody(batch: GameBatch) -> np.ndarray:
    """(B * n,) Views, all seats of a row together."""
    rows, seats = everybody(batch)
    return batch.view(seats, rows)


def encoded(batch: GameBatch, views: np.ndarray, pad: int | None = None) -> np.ndarray:
    """(len(views), F) tensors, of one size for all tables where ``pad`` is the largest."""
    layout = batch.family.tensor(batch.rules, pad)
    out = np.full((len(views), layout.size), np.nan, np.float32)
    parameters = batch.family.parameters(batch.rules, batch.session)
    batch.family.loops.encode(views, parameters, layout.parameters, out)
    return out
