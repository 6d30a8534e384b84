"""Our games as OpenSpiel's: chance is exact, the engine is the same, a seat is told what it has seen and no more."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from math import comb
from typing import Any

import numpy as np
import pyspiel
import pytest

import bestia_env
from bestia_env import BestiaError, GameBatch, Pack, RulesError, SessionConfig
from bestia_env.openspiel import make_game
from bestia_env.rams.state import MAX_PLANNED
from tests import playthroughs

NAMES = bestia_env.variants() + bestia_env.mini_variants()
RAMS = [name for name in NAMES if "hand_size" in bestia_env.make_rules(name).values()]  # type: ignore[attr-defined]
TABLES = [(name, n) for name in NAMES for n in sorted(set(bestia_env.player_range(name)))]


def sampled(state: Any, rng: random.Random) -> int:
    """A random action of whoever is asked, chance included."""
    if not state.is_chance_node():
        return int(rng.choice(state.legal_actions()))
    outcomes = state.chance_outcomes()
    assert sum(chance for _, chance in outcomes) == pytest.approx(1, abs=1e-12)
    actions, chances = zip(*outcomes, strict=True)
    assert list(actions) == sorted(set(actions)) == state.legal_actions()
    return int(rng.choices(actions, chances)[0])


def played(game: Any, rng: random.Random, decisions: int | None = None) -> Any:
    """A random game, up to the given decision if it has so many."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if not state.is_chance_node():
            if decisions == 0:
                break
            decisions = None if decisions is None else decisions - 1
        state.apply_action(sampled(state, rng))
    return state


# --- games and their parameters ---------------------------------------------------------------------------------------


def test_names_and_parameters_read_back() -> None:
    game = make_game(
        "bestia", 4, carry=6, dealer=1, penalty_cap=30, pack=Pack(suits="cdh", ranks=("A", "K", "7", "6", "5"))
    )
    twins = pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game)), make_game(game.rules, carry=6, dealer=1)
    for twin in twins:
        assert (str(twin), twin.rules) == (str(game), game.rules)
    assert game.rules == bestia_env.parse_rules(str(game.rules))
    assert pyspiel.load_game("python_bestia(variant=mini_bestia,players=2)").num_players() == 2


def test_rules_as_data_with_tuples_and_fractions_read_back() -> None:
    game = make_game("bestia_roman", 5, principal_penalty=(2, 1), hand_size=3, exchange_max=3, ante=12, stay_stake=12)
    assert pyspiel.load_game(str(game)).rules == game.rules


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rules": "whist"}, RulesError, "whist"),
        ({"rules": "bestia", "reward": "glory"}, BestiaError, "score and chips"),
        ({"rules": "bestia", "num_players": 4, "dealer": 4}, RulesError, "dealer"),
        ({"rules": "tippen", "forced": True}, RulesError, "forced"),
        ({"rules": bestia_env.make_rules("bestia"), "num_players": 4}, BestiaError, "num_players"),
    ],
)
def test_wrong_parameters_are_named(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_game(**changes)


def test_the_usual_carry_lets_tippen_declare() -> None:
    state = played(make_game("tippen", 3), random.Random(0), 0)
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["pass", "knock"]


def test_chips_are_no_zero_sum_and_scores_are() -> None:
    kinds = pyspiel.GameType.Utility
    assert make_game("bestia").get_type().utility == kinds.ZERO_SUM
    assert make_game("bestia", rake_bp=500).get_type().utility == kinds.GENERAL_SUM
    chips = make_game("bestia", reward="chips", carry=9)
    assert chips.get_type().utility == kinds.GENERAL_SUM
    for seed in range(20):
        returns = played(chips, random.Random(seed)).returns()
        assert all(number == int(number) for number in returns)
        assert chips.min_utility() <= min(returns) <= max(returns) <= chips.max_utility()


# --- the same game as the batch's -------------------------------------------------------------------------------------


def deal_of(state: Any) -> dict[str, Any]:
    """The deal that injection would need for the cards that chance named, undrawn cards in any order."""
    tree, texts = state.tree, state.tree.pack.texts
    answers = [(draw, answer) for draw, answer in state.node.script if draw is not None]
    if "stacks" in tree.batch.family.deal_keys():
        order = [answer[0] for _, answer in answers]
        return {"stacks": [texts(order[seat :: tree.rules.num_players]) for seat in range(tree.rules.num_players)]}
    extra: tuple[int, ...] = ()
    opening = [answer for draw, answer in answers if draw.source in ("dealer", "dealt")]
    deal = dict(tree.cards.deal(opening))
    left = set(range(tree.num_cards)) - {card for cards in opening[-1 - tree.rules.num_players :] for card in cards}
    stocks = [(left, [])]
    for draw, answer in answers[len(opening) :]:
        if draw.source == "extra":
            extra = answer
        else:
            if draw.source == "reshuffled":
                stocks.append(({card for card in range(tree.num_cards) if draw.pool >> card & 1}, []))
            stocks[-1][1].extend(answer)
    hidden = sorted(left - set(stocks[0][1]) - set(extra))
    size = tree.rules.hand_size * tree.rules.extra_hand
    extra = extra or tuple(hidden[:size])
    orders = [
        texts([*named, *sorted(pool - set(named) - (set(extra) if pool is left else set()))]) for pool, named in stocks
    ]
    return deal | {"extra_hand": texts(extra), "stock": orders[0], "reshuffles": orders[1:]}


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_a_batch_plays_the_same(variant: str, players: int) -> None:
    game = make_game(variant, players)
    rams = "hand_size" in game.rules.values()
    carry = {"carry": game.get_parameters()["carry"]} if rams else {}
    for seed in range(3 if rams else 1):
        state = played(game, random.Random(seed))
        deal = deal_of(state) | carry
        if len(deal.get("reshuffles", ())) > MAX_PLANNED:
            continue  # more than injection can plan
        batch = GameBatch(game.rules, 1, seed=1, session=SessionConfig(), autoreset=False)
        batch.reset(deals=[deal])
        for draw, answer in state.node.script:
            if draw is None:
                batch.step(np.array([answer[0]]))
        assert batch.done[0]
        assert state.returns() == batch.scores[0].tolist()
        assert game.tree.returns(state.node, "chips") == batch.rewards[0].tolist()
        for seat in range(players):
            assert (batch.final_view([seat]) == game.tree.view(state.node, seat)).all()
        returns = state.returns()
        assert game.min_utility() <= min(returns) <= max(returns) <= game.max_utility()
        assert sum(returns) == pytest.approx(0, abs=1e-9)
        assert len(state.history()) <= game.max_game_length() + game.max_chance_nodes_in_history()


# --- chance -----------------------------------------------------------------------------------------------------------


def first_decisions(state: Any, chance: float) -> list[tuple[float, Any]]:
    if not state.is_chance_node():
        return [(chance, state)]
    children = ((chance * part, state.child(action)) for action, part in state.chance_outcomes())
    return [entry for part, child in children for entry in first_decisions(child, part)]


@pytest.mark.parametrize(
    ("variant", "deals"), [("mini_bestia", 6 * 5 * 4), ("mini_bestia_exchange", 6 * comb(5, 2) * comb(3, 2))]
)
def test_all_deals_are_equally_likely(variant: str, deals: int) -> None:
    found = first_decisions(make_game(variant, 2, dealer=1).new_initial_state(), 1.0)
    cards = {(*state.node.record["hand"][0][:2].tolist(), int(state.node.record["turn_up"][0])) for _, state in found}
    assert len(cards) == len(found) == deals
    assert [chance for chance, _ in found] == pytest.approx([1 / deals] * deals)


def test_the_dealer_is_drawn_when_nobody_is_named() -> None:
    state = make_game("bestia", 5).new_initial_state()
    assert state.chance_outcomes() == [(seat, 0.2) for seat in range(5)]
    assert state.action_to_string(3) == "dealer 3"


def test_cards_are_drawn_when_they_are_needed_and_evenly() -> None:
    """Seat 0 passes, seat 1 knocks, seat 0 draws: any of the three cards of the stock."""
    state = make_game("mini_bestia_draw", 2, dealer=1).new_initial_state()
    for wanted in ("turn-up: Ac", "to 0: Kc", "to 1: Ad", "pass", "knock", "draw"):
        state.apply_action(state.string_to_action(wanted))
    outcomes = {state.action_to_string(action): chance for action, chance in state.chance_outcomes()}
    assert outcomes == pytest.approx({"0 draws: Qc": 1 / 3, "0 draws: Qd": 1 / 3, "0 draws: Kd": 1 / 3})


def test_a_reshuffle_draws_from_the_folded_hands_and_then_the_discards() -> None:
    """The stock of ten at 3-card bestia serves three draws; later ones reach for what lies there."""
    game, pools = make_game("bestia", 10), Counter[str]()
    for seed in range(12):
        state = played(game, random.Random(seed))
        sources = [draw.source for draw, _ in state.node.script if draw]
        pools.update(sources[11:])
    assert pools["reshuffled"] >= 3
    assert pools["stock"] >= 10


# --- what a seat is told ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "players"), [table for table in TABLES if table[0] in RAMS])
def test_strings_are_views_and_recall_is_perfect(variant: str, players: int) -> None:
    game = make_game(variant, players)
    views: dict[str, Any] = {}
    past: dict[str, Any] = {}
    for seed in range(2):
        rng, state = random.Random(seed), game.new_initial_state()
        own: list[tuple[Any, ...]] = [()] * players
        while not state.is_terminal():
            action = sampled(state, rng)
            if not state.is_chance_node():
                seat = state.current_player()
                key = state.information_state_string(seat)
                legal = (seat, tuple(state.legal_actions()))
                assert past.setdefault(key, (legal, own[seat])) == (legal, own[seat])
                own[seat] = (*own[seat], (key, action))
                for other in range(players):
                    told = state.information_state_string(other)
                    seen = (game.tree.view(state.node, other).tolist(), tuple(state.information_state_tensor(other)))
                    assert views.setdefault(told, seen) == seen
            state.apply_action(action)


def test_every_information_state_of_a_mini_game_has_one_past() -> None:
    """The whole tree: equal strings mean the same seat, the same choices and the same own history."""
    past: dict[str, Any] = {}

    def walk(state: Any, own: tuple[Any, ...]) -> None:
        if state.is_terminal():
            return
        for action in state.legal_actions():
            after = own
            if not state.is_chance_node():
                seat, key = state.current_player(), state.information_state_string()
                assert past.setdefault(key, (seat, state.legal_actions(), own[seat])) == (
                    seat,
                    state.legal_actions(),
                    own[seat],
                )
                after = tuple((*o, (key, action)) if s == seat else o for s, o in enumerate(own))
            walk(state.child(action), after)

    walk(make_game("mini_bestia", 3, dealer=2).new_initial_state(), ((), (), ()))
    assert len(past) == 1140


def test_two_orders_of_exchanging_are_told_apart() -> None:
    """In circuits the View keeps the sets of cards laid off; the string also keeps which exchange moved which."""
    game, seen = make_game("bestia_roman", 4), 0
    for seed in range(15):
        state = played(game, random.Random(seed))
        for seat in range(4):
            entries = [
                entry for entry in state.information_state_string(seat).split(" | ") if entry.startswith("exchanged=")
            ]
            seen += any(entry.count(";") >= 1 for entry in entries)
    assert seen > 0


def test_nothing_hidden_is_told() -> None:
    state = played(make_game("bestia", 4, dealer=0), random.Random(3), 0)
    others = [bestia_env.cards.cards_of(hand) for hand in state.node.record["hand"][0][1:4].tolist()]
    told = state.information_state_string(0)
    assert not [card for hand in others for card in hand if f" {state.tree.pack.text(card)}" in told.replace("=", " ")]


def test_observers_split_public_from_private() -> None:
    game = make_game("bestia", 4)
    state = played(game, random.Random(3), 2)
    kinds = pyspiel.PrivateInfoType
    public = game.make_py_observer(pyspiel.IIGObservationType(True, False, kinds.NONE))
    private = game.make_py_observer(pyspiel.IIGObservationType(False, False, kinds.SINGLE_PLAYER))
    assert "hand=" not in public.string_from(state, 0)
    assert "turn_up=" not in private.string_from(state, 0)
    assert public.tensor is None
    with pytest.raises(ValueError, match="none"):
        game.make_py_observer(None, {"colour": 1})


# --- copies, resampling, OpenSpiel's own tests ------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["bestia_buco", "bestia_roman", "julepe", "mini_bestia_draw", "camicia"])
def test_states_are_saved_and_cloned(variant: str) -> None:
    game = make_game(variant)
    for decisions in (0, 3, 9):
        state = played(game, random.Random(decisions), decisions)
        twin_game, twin = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        assert (str(twin_game), str(twin), twin.history()) == (str(game), str(state), state.history())
        before = str(state)
        copy = state.clone()
        if not copy.is_terminal():
            copy.apply_action(copy.legal_actions()[0])
            assert str(copy) != before
        assert str(state) == before


@pytest.mark.parametrize(("variant", "players"), TABLES[::2])
def test_resampled_states_are_the_same_to_the_seat(variant: str, players: int) -> None:
    game, rng = make_game(variant, players), random.Random(5)
    for decisions in (0, 2, 7, 12):
        state = played(game, rng, decisions)
        if state.is_terminal():
            continue
        seat = state.current_player()
        other = state.resample_from_infostate(seat, rng.random)
        assert other.information_state_string(seat) == state.information_state_string(seat)
        assert other.information_state_tensor(seat) == state.information_state_tensor(seat)
        assert (other.current_player(), other.legal_actions()) == (seat, state.legal_actions())
        again = game.new_initial_state()
        for action in other.history():
            again.apply_action(action)
        assert str(again) == str(other)
        while not other.is_terminal():
            other.apply_action(sampled(other, rng))


def test_resampling_is_even_over_what_the_table_allows() -> None:
    """Seat 1 holds Ad on the turn-up Ac: the knocker holds any of the four other cards."""
    state = make_game("mini_bestia", 2, dealer=1).new_initial_state()
    for wanted in ("turn-up: Ac", "to 0: Kc", "to 1: Ad", "knock"):
        state.apply_action(state.string_to_action(wanted))
    rng = random.Random(1)
    hands = Counter(int(state.resample_from_infostate(1, rng.random).node.record["hand"][0][0]) for _ in range(400))
    assert len(hands) == 4
    assert max(abs(count - 100) for count in hands.values()) < 35  # four standard deviations


@pytest.mark.parametrize(
    "variant", [*bestia_env.mini_variants(), "bestia", "bestia_roman", "julepe", "online4", "camicia"]
)
def test_random_simulation(variant: str) -> None:
    pyspiel.random_sim_test(make_game(variant), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("name", playthroughs.GAMES)
def test_playthroughs_are_as_kept(name: str) -> None:
    assert playthroughs.path_of(name).read_text(encoding="utf-8") == playthroughs.text(name), (
        "if that is meant: python -m tests.playthroughs, and read the diff"
    )
