"""What a seat may know, in every phase of every game: the View, and all that is made of it, tell that and no more."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.cards import cards_of
from bestia_env.errors import IllegalActionError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Phase
from bestia_env.registry import make_rules as make
from tests.rams_play import (
    ALL,
    DRAWN,
    ONE_EACH,
    SOME,
    assert_cards_partition,
    assert_decision_is_open,
    changed_rules,
    chips,
    encoded,
    everybody,
    label,
    one_game,
    pool,
    say,
    sessions,
    stock_cards,
    varied_actions,
    views_of_everybody,
    with_states,
)

ADDRESS = ("key", "seed", "row", "game", "deal", "decision")


def redealt(batch: GameBatch, views: np.ndarray, copies: int, seed: int = 3) -> GameBatch:
    keys = np.random.default_rng(seed).integers(2**64, size=len(views) * copies, dtype=np.uint64)
    return batch.redeal(views, keys, copies)


# --- redeal: the hidden cards may change, nothing a seat is told does -----------------------------------------------


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_redeal_changes_nothing_that_the_seat_is_told(rules: RamsRules) -> None:
    batch = pool(rules)
    views = views_of_everybody(batch)
    other = redealt(batch, views, copies=2)
    again = other.view(np.zeros(other.num_games, np.int64))
    twice = take_rows(views, np.repeat(np.arange(len(views)), 2))
    assert again.tobytes() == twice.tobytes()
    for pad in (None, 10):
        assert encoded(batch, again, pad).tobytes() == encoded(batch, twice, pad).tobytes()
    told = batch.family.view_text, batch.family.view_dict
    for before, after in zip(twice[::7], again[::7], strict=True):
        assert told[0](rules, before) == told[0](rules, after)
        assert json.dumps(told[1](rules, before)) == json.dumps(told[1](rules, after))
    mine = other.actor == 0
    size = batch.layout.num_actions
    assert np.array_equal(twice["actor"], other.actor)
    assert np.array_equal(other.legal()[mine], twice["legal"][mine, :size].astype(bool))
    assert not twice["legal"][~mine].any()


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_redealt_games_are_games(rules: RamsRules) -> None:
    batch = pool(rules)
    views = views_of_everybody(batch)
    other = redealt(batch, views, copies=1, seed=4)
    rng = np.random.default_rng(1)
    total = chips(other.states)
    hands = take_rows(other.states, np.arange(other.num_games))["hand"]
    assert np.array_equal(hands[:, 0], views["hand"])
    assert np.array_equal(np.bitwise_count(hands[:, : rules.num_players]), views["held"][:, : rules.num_players])
    for _ in range(2000):
        assert_cards_partition(rules, other.states)
        legal = assert_decision_is_open(other)
        if not legal.any():
            break
        other.step(varied_actions(legal, other.layout, rng))
        assert np.array_equal(chips(other.states), total)
    assert (other.states["over"] == 1).all()


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_redeals_differ(rules: RamsRules) -> None:
    batch = pool(rules)
    early = np.flatnonzero(batch.states["phase"] == Phase.DECLARE)
    views = batch.view(batch.actor[early], early)
    other = redealt(batch, views, copies=8)
    hands = other.states["hand"].reshape(len(early), 8, -1)
    assert all(len({tuple(deal) for deal in deals.tolist()}) == 8 for deals in hands)
    same = batch.redeal(views, np.zeros(len(early), np.uint64))
    assert same.states.tobytes() == batch.redeal(views, np.zeros(len(early), np.uint64)).states.tobytes()


@settings(DRAWN, max_examples=60)
@given(st.data(), changed_rules(), st.integers(0, 2**32))
def test_a_redeal_changes_nothing_under_any_rules(data: st.DataObject, rules: RamsRules, seed: int) -> None:
    batch = GameBatch(rules, 3, seed=seed, session=data.draw(sessions(rules)), autoreset=False)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        for _ in range(3):
            batch.step(varied_actions(batch.legal(), batch.layout, rng))
        views = views_of_everybody(batch)
        other = redealt(batch, views, copies=1, seed=seed)
        assert other.view(0).tobytes() == views.tobytes()
        assert_cards_partition(rules, other.states)
        assert_decision_is_open(other)
    for _ in range(2000):
        legal = other.legal()
        if not legal.any():
            break
        other.step(varied_actions(legal, other.layout, rng))
    assert_cards_partition(rules, other.states)
    assert (other.actor == -1).all()


DEALER_OWNS_BUCO = make("bestia_buco", 4, turn_up_owner="dealer")


@pytest.mark.parametrize(
    ("rules", "said", "places"),
    [
        (make("bestia_five", 4), ["exchange", "exchange", "pass", 0], {"dealer": 1.0}),
        (make("bestia_five", 4), ["exchange", "exchange", "pass", "pass"], {"table": 1.0}),
        (make("bestia_five", 4), ["exchange", "exchange", "pass", 3], {"dealer": 5 / 7, "discards": 2 / 7}),
        (make("julepe", 4), ["exchange", "exchange", "pass", "pass"], {"table": 1.0}),
        (make("julepe", 4), ["exchange", "exchange", "pass", 1], {"dealer": 5 / 6, "discards": 1 / 6}),
        (make("bestia_roman", 4), ["exchange", "exchange", "pass", 3], {"table": 1.0}),
        (DEALER_OWNS_BUCO, ["knock", "knock", "pass", "knock"], {"dealer": 1.0}),
        (DEALER_OWNS_BUCO, ["knock", "knock", "pass", "buco"], {"discards": 1.0}),
    ],
)
def test_the_turn_up_is_dealt_where_the_table_knows_it_to_be(
    rules: RamsRules, said: list[Any], places: dict[str, float]
) -> None:
    """Seen by eldest, when the dealer, seat 3 of 4, has spoken: a number is which of his cards he laid off."""
    batch = one_game(rules, {"dealer": 3, "turn_up": "Kh"})
    for word in said:
        if isinstance(word, int):
            batch.step([batch.layout.first_exchange + word])
        else:
            say(batch, word)
    copies = 3000
    states = redealt(batch, batch.view(0), copies).states
    turned = np.uint64(1) << states["turn_up"].astype(np.uint64)
    lies = {
        "dealer": states["hand"][:, 3] & turned != 0,
        "discards": states["discards"] & turned != 0,
        "elsewhere": (states["hand"][:, 1] | states["hand"][:, 2] | stock_cards(states)) & turned != 0,
        "table": states["turn_up_taken"] == 0,
    }
    assert {place for place, there in lies.items() if there.any()} == set(places)
    for place, share in places.items():
        assert abs(lies[place].mean() - share) < 4 * (share * (1 - share) / copies) ** 0.5 + 1e-9


def test_cards_that_were_shuffled_back_are_not_with_seats_that_never_drew() -> None:
    """Seat 1 knows his folded hand: it lies in the new stock or with those who drew, not with seats 4 and 5."""
    batch = one_game(make("bestia", 10), {"dealer": 0})
    say(batch, *["pass"] * 3, "knock", "knock", *["pass"] * 5, *["pass"] * 3, *["draw"] * 4)
    assert batch.states["reshuffles"][0] == 1
    states = redealt(batch, batch.view(1), copies=3000).states
    folded = batch.states["first_hand"][0, 1]
    relative = states["hand"][:, [(seat - 1) % 10 for seat in range(10)]]
    found = [int(np.bitwise_count(relative[:, seat] & folded).sum()) for seat in range(10)]
    assert [seat for seat in range(10) if found[seat]] == [6, 7, 8, 9]
    assert np.bitwise_count(stock_cards(states) & folded).sum() > 1000


# --- hidden cards reach no View, whatever they are ------------------------------------------------------------------


def hidden_places(rules: RamsRules, state: Any, viewer: int) -> list[tuple[str, int, int]]:
    """(place, index in it, card) of every card that the viewer has not seen and whose place he does not know."""
    free = [
        ("hand", seat, card)
        for seat in range(rules.num_players)
        if seat != viewer
        for card in cards_of(state["hand"][seat])
    ]
    free += [("discards", 0, card) for card in cards_of(int(state["discards"]) & ~int(state["buried"][viewer]))]
    free += [("extra_hand", 0, card) for card in cards_of(state["extra_hand"])]
    free += [("stock", place, int(state["stock"][place])) for place in range(state["stock_next"], state["stock_end"])]
    return [place for place in free if place[2] != state["turn_up"]]


def put(state: Any, places: list[tuple[str, int, int]], cards: list[int]) -> None:
    """Lays other cards in the given places."""
    for name, index, card in places:
        if name == "hand":
            state["hand"][index] &= ~np.uint64(1 << card)
        elif name != "stock":
            state[name] &= ~np.uint64(1 << card)
    for (name, index, _), card in zip(places, cards, strict=True):
        if name == "hand":
            state["hand"][index] |= np.uint64(1 << card)
        elif name == "stock":
            state["stock"][index] = card
        else:
            state[name] |= np.uint64(1 << card)


@pytest.mark.parametrize("rules", SOME, ids=label)
def test_no_view_depends_on_hidden_cards(rules: RamsRules) -> None:
    batch, rng = pool(rules), np.random.default_rng(2)
    seats = rng.integers(rules.num_players, size=batch.num_games)
    other = with_states(batch, batch.states)
    for state, viewer in zip(other.states, seats.tolist(), strict=True):
        places = hidden_places(rules, state, viewer)
        put(state, places, [places[index][2] for index in rng.permutation(len(places))])
    changed = (other.states["hand"] != batch.states["hand"]).any(axis=1)
    assert changed[batch.states["phase"] == Phase.DECLARE].all()
    assert changed.mean() > 0.6
    assert other.view(seats).tobytes() == batch.view(seats).tobytes()


@pytest.mark.parametrize("rules", SOME, ids=label)
def test_two_hidden_cards_change_places(rules: RamsRules) -> None:
    """Another hand and the stock swap a card: only the seat that holds the hand sees it."""
    batch, rng = pool(rules), np.random.default_rng(6)
    other, owners = with_states(batch, batch.states), np.full(batch.num_games, -1)
    for row, state in enumerate(other.states):
        stock = [place for place in hidden_places(rules, state, -1) if place[0] == "stock"]
        held = [place for place in hidden_places(rules, state, -1) if place[0] == "hand"]
        if stock and held:
            first, second = stock[rng.integers(len(stock))], held[rng.integers(len(held))]
            put(state, [first, second], [second[2], first[2]])
            owners[row] = second[1]
    assert (owners >= 0).mean() > 0.5
    before, after = views_of_everybody(batch), views_of_everybody(other)
    rows, seats = everybody(batch)
    same = [one.tobytes() == two.tobytes() for one, two in zip(before, after, strict=True)]
    assert np.array_equal(same, seats != owners[rows])


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_the_message_about_an_illegal_action_names_only_the_actors_own_options(rules: RamsRules) -> None:
    batch = pool(rules)
    acting = np.flatnonzero(batch.actor >= 0)
    views = batch.view(batch.actor[acting], acting)
    other = redealt(batch, views, copies=1)
    same_address = with_states(batch, take_rows(batch.states, acting))
    for name in ADDRESS:  # a redealt game has an address of its own, which the message names
        other.states[name] = same_address.states[name]
    pack = rules.cards
    for row, view in enumerate(views):
        told = other.explain_illegal(row, batch.layout.num_actions)
        seat = int(same_address.actor[row])
        assert same_address.explain_illegal(row, batch.layout.num_actions) == told.replace("seat 0 ", f"seat {seat} ")
        options, own = told.split("allowed are ")[1].split(" (seed=")[0], cards_of(view["hand"])
        named = {card for card in range(pack.num_cards) if f"play[{pack.text(card)}]" in options}
        assert named <= set(own)
        assert len(options.split(", ")) == view["legal"].sum()


# --- seats are relative, cards have no order ------------------------------------------------------------------------


@pytest.mark.parametrize("rules", SOME, ids=label)
def test_the_table_turns_and_nobody_sees_a_difference(rules: RamsRules) -> None:
    n, pack, rng = rules.num_players, rules.cards, np.random.default_rng(8)
    first = GameBatch(rules, 1, seed=2, autoreset=False)
    credits = [(5 + seat) * max(rules.ante, 1) for seat in range(n)]
    order = pack.texts(rng.permutation(pack.num_cards).tolist()).split()
    sizes = [rules.hand_size - (rules.turn_up_owner == "dealer" and seat == 0) for seat in range(n)]
    hands = [" ".join(order.pop() for _ in range(size)) for size in sizes]
    extra = " ".join(order.pop() for _ in range(rules.hand_size * rules.extra_hand))
    deal = {"carry": 0, "turn_up": order.pop(), "extra_hand": extra, "stock": " ".join(order)}
    if rules.forced_deal != "bare_ante":
        deal["carry"] = 7 * rules.divisor
    first.reset(deals=[deal | {"dealer": 0, "hands": hands, "credits": credits}])
    turn = n - 1
    turned = first.clone()
    shuffled = [" ".join(reversed(hand.split())) for hand in hands]  # the same cards in another order, too
    turned.reset(
        deals=[deal | {"dealer": turn, "hands": shuffled[1:] + shuffled[:1], "credits": credits[1:] + credits[:1]}]
    )
    decisions = 0
    while first.actor[0] >= 0:
        assert (first.actor[0] + turn) % n == turned.actor[0]
        for seat in range(n):
            assert first.view(seat).tobytes() == turned.view((seat + turn) % n).tobytes()
        action = varied_actions(first.legal(), first.layout, rng)
        first.step(action)
        if first.states["reshuffles"][0] == 0:
            turned.step(action)
        else:  # the turned game has another address, so its reshuffles differ
            break
        decisions += 1
    assert decisions >= 2
    assert np.array_equal(first.rewards[0], np.roll(turned.rewards[0], -turn))


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_every_view_holds_the_table_from_its_own_seat(rules: RamsRules) -> None:
    batch, n = pool(rules), rules.num_players
    rows, seats = everybody(batch)
    views, states = batch.view(seats, rows), take_rows(batch.states, rows)
    absolute = (seats[:, None] + np.arange(n)) % n
    for name in ("status", "tricks", "antes"):
        assert np.array_equal(views[name][:, :n], np.take_along_axis(states[name][:, :n], absolute, 1)), name
    for name in ("actor", "dealer", "principal", "first_in", "leader"):
        expected = np.where(states[name] < 0, -1, (states[name] - seats) % n)
        assert np.array_equal(views[name], expected), name
    for name in ("hand", "first_hand", "laid", "buried"):
        assert np.array_equal(views[name], np.take_along_axis(states[name], seats[:, None], 1)[:, 0]), name
    shown = np.take_along_axis(states["plays"][:, :, :n], absolute[:, None, :], 2)[:, : rules.hand_size]
    assert np.array_equal(views["plays"][:, : rules.hand_size, :n], shown)
    assert np.array_equal(views["stock_left"], np.bitwise_count(stock_cards(states)))
    assert np.array_equal(views["discards"], np.bitwise_count(states["discards"]))
    assert np.array_equal(views["legal"].any(axis=1), states["actor"] == seats)
    credits = np.take_along_axis(states["credits"][:, :n], absolute, 1) * (rules.stakes == "table")
    assert np.array_equal(views["credits"][:, :n], credits)


def test_an_action_text_names_only_cards_of_the_view() -> None:
    batch = pool(next(rules for rules in ONE_EACH if rules.variant == "bestia_five"))
    layout = batch.layout
    acting = np.flatnonzero(batch.actor >= 0)
    for view in batch.view(rows=acting):
        own = int(view["exchange_cards"])
        for action in view["legal"].nonzero()[0].tolist():
            text = layout.text(action, own)
            assert layout.action(text, own) == action
        hidden = batch.rules.cards.text(next(card for card in range(40) if not own >> card & 1))
        with pytest.raises(IllegalActionError, match=f"{hidden} not in hand"):
            layout.action(f"exchange {hidden}", own)


# --- redeal is uniform ----------------------------------------------------------------------------------------------


def chi_squared(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2).sum() / expected)


def test_unseen_cards_are_equally_likely_in_every_hidden_place() -> None:
    batch = GameBatch("bestia", 1, num_players=4, seed=4, autoreset=False)
    while batch.states["phase"][0] != Phase.PLAY or batch.states["trick"][0] < 1:
        batch.step([batch.legal()[0].nonzero()[0][-1]])
    viewer = int(batch.actor[0])
    view = batch.view(viewer)
    copies = 20_000
    states = redealt(batch, view, copies).states
    seen = int(view["hand"][0]) | int(batch.states["played"][0]) | 1 << int(view["turn_up"][0])
    unseen = [card for card in range(40) if not seen >> card & 1]
    assert len(unseen) == 40 - 2 - 4 - 1
    limit = 2.5 * len(unseen)  # beyond the 0.9999 quantile of chi-squared with about 32 degrees of freedom
    for hand in (states["hand"][:, 1], states["hand"][:, 2], states["hand"][:, 3]):
        counts = np.array([np.count_nonzero(hand >> np.uint64(card) & np.uint64(1)) for card in range(40)])
        assert not counts[[card for card in range(40) if card not in unseen]].any()
        assert chi_squared(counts[unseen]) < limit
    start = int(states["stock_next"][0])
    for place in (start, start + 1, int(states["stock_end"][0]) - 1):
        counts = np.bincount(states["stock"][:, place], minlength=40)
        assert counts.sum() == counts[unseen].sum() == copies
        assert chi_squared(counts[unseen]) < limit
    pairs = np.bincount(states["stock"][:, start].astype(int) * 40 + states["stock"][:, start + 1], minlength=1600)
    assert np.count_nonzero(pairs) == len(unseen) * (len(unseen) - 1)
