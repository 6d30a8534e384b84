"""What must hold at every step of every game: Hypothesis draws rules, sessions and luck; legal play does the rest."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.cards import cards_of, mask_of
from bestia_env.errors import IllegalActionError
from bestia_env.rams.rules import RamsRules
from bestia_env.session import SessionConfig
from tests.rams_play import (
    ALL,
    DRAWN,
    ONE_EACH,
    SOME,
    assert_cards_partition,
    assert_decision_is_open,
    assert_settled,
    changed_rules,
    chips,
    label,
    pool,
    sessions,
    varied_actions,
    varied_session,
    with_states,
)

FIRST = np.zeros(1, np.int64)
SEEDS = st.integers(0, 2**64 - 1)
PLAYED = ("states", "rewards", "scores", "done", "truncated")


def snapshot(batch: GameBatch) -> bytes:
    """All bytes of a batch that play may change, and the keys of its open decisions."""
    return b"".join(getattr(batch, name).tobytes() for name in PLAYED) + batch.keys().tobytes()


def play_checked(batch: GameBatch, rng: np.random.Generator) -> int:
    """Plays all games of a batch to their end and checks every step; returns how many deals were settled."""
    rules, n = batch.rules, batch.num_players
    assert isinstance(rules, RamsRules)
    total, start, settled = chips(batch.states), batch.states["credits"].copy(), 0
    start += batch.states["antes"]
    won = np.zeros(start.shape, np.int64)
    while True:
        assert_cards_partition(rules, batch.states)
        assert np.array_equal(chips(batch.states), total)
        legal = assert_decision_is_open(batch)
        if not legal.any():
            break
        before = take_rows(batch.states, np.arange(batch.num_games))
        batch.step(varied_actions(legal, batch.layout, rng))
        won[:, :n] += batch.rewards
        ended = (batch.states["deal"] != before["deal"]) | batch.done
        assert not batch.rewards[~ended].any()
        assert not batch.scores[~ended].any()
        for row in np.flatnonzero(ended):
            told = batch.family.settlement(rules, batch.states[row])
            assert_settled(rules, told, batch.rewards[row].tolist(), batch.scores[row].tolist())
            assert_score_is_fair(batch.states[row], told)
            assert {seat for seat, fine in enumerate(told["penalties"]) if fine} <= set(told["participants"])
            assert sum(told["tricks"]) == rules.hand_size * (len(told["participants"]) > 1)
        settled += int(ended.sum())
        assert np.array_equal(batch.done, (batch.states["over"] == 1) & (before["over"] == 0))
    assert np.array_equal(start + won, batch.states["credits"])
    assert not batch.states["credits"][:, n:].any()
    return settled


def assert_score_is_fair(state: Any, told: dict[str, Any]) -> None:
    """The score sums to exactly minus the share of the pot that the house took."""
    top, base = state["score_top"].tolist(), int(state["score_base"])
    pot_before = told["carry_before"] + sum(told["antes"])
    assert Fraction(sum(top), base) == (Fraction(-told["rake"], pot_before) if pot_before else 0)


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_chips_cards_masks_and_scores_of_every_preset(rules: RamsRules) -> None:
    batch = GameBatch(rules, 12, seed=11, session=varied_session(rules), autoreset=False)
    assert play_checked(batch, np.random.default_rng(3)) >= 24


@settings(DRAWN, max_examples=70)
@given(st.data(), changed_rules(), SEEDS)
def test_chips_cards_masks_and_scores_of_any_rules(data: st.DataObject, rules: RamsRules, seed: int) -> None:
    session = data.draw(sessions(rules))
    batch = GameBatch(rules, 4, seed=seed, session=session, autoreset=False)
    assert play_checked(batch, np.random.default_rng(seed)) >= 4


@pytest.mark.parametrize(
    ("variant", "changes"),
    [
        ("bestia", {"max_circuits": 1}),
        ("bestia", {"max_circuits": 60}),
        ("bestia", {"quota": (3, 1)}),
        ("bestia", {"principal_penalty": (2, Fraction(1, 2))}),
        ("bestia", {"lead_top_trump_every_trick": True}),
        ("tippen", {"recycle": "none"}),
        ("mauscheln", {"max_circuits": 60}),
        ("julepe", {"remainder": "first_trick_winner"}),
    ],
)
def test_fields_that_do_not_apply_change_nothing(variant: str, changes: dict[str, Any]) -> None:
    batch, other = (
        GameBatch(variant, 8, seed=1, session=SessionConfig(num_deals=2), **extra) for extra in ({}, changes)
    )
    for _ in range(60):
        assert other.states.tobytes() == batch.states.tobytes()
        assert other.view(0).tobytes() == batch.view(0).tobytes()
        for games in (batch, other):
            games.step(games.random_actions())


# --- mask and apply -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_exactly_the_actions_of_the_mask_are_accepted(rules: RamsRules) -> None:
    batch = pool(rules, 3)
    loops, parameters = batch.family.loops, batch.family.parameters(rules, batch.session)
    legal = batch.legal()
    views = batch.view()
    size = batch.layout.num_actions
    acting = np.flatnonzero(batch.actor >= 0)
    assert np.array_equal(views["legal"][:, :size].astype(bool), legal)
    assert not views["legal"][:, size:].any()
    for row in acting:
        state = batch.states[row : row + 1]
        answers = [loops.first_illegal(state, parameters, FIRST, np.array([action])) for action in range(-3, size + 3)]
        assert answers == [-1 if 0 <= action < size and legal[row, action] else 0 for action in range(-3, size + 3)]
        options = legal[row].nonzero()[0]
        tried = batch.clone(np.full(len(options), row))
        tried.step(options)
        assert (tried.states["decision"] != batch.states["decision"][row]).all() or (tried.states["deal"] > 0).any()
        assert_cards_partition(rules, tried.states)
        assert len({state.tobytes() for state in tried.states}) == len(options)


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_an_illegal_action_is_refused_with_a_reason_and_changes_nothing(rules: RamsRules) -> None:
    source, rng = pool(rules), np.random.default_rng(1)
    for row in np.flatnonzero(source.actor >= 0):
        batch = source.clone([row], copies=3)
        legal, kept = batch.legal()[0], snapshot(batch)
        wrong = [-1, len(legal), 2**62, int(rng.choice(np.flatnonzero(~legal)))]
        for action in wrong:
            actions = np.full(3, np.flatnonzero(legal)[0])
            actions[1] = action
            with pytest.raises(IllegalActionError) as refused:
                batch.step(actions)
            state, message = batch.states[1], str(refused.value)
            assert snapshot(batch) == kept
            assert message.startswith(
                f"row 1: seat {state['actor']} in phase {batch.family.full_state(rules, state)['phase']} "
            )
            assert f"cannot play action {action}" in message
            for option in np.flatnonzero(legal):
                assert f"{option} {batch.layout.name(int(option))}" in message
            for name in ("seed", "row", "game", "deal", "decision"):
                assert f"{name}={state[name]}" in message
            assert str(rules) in message


@pytest.mark.parametrize("rules", [rules for rules in ONE_EACH if rules.exchange_max], ids=label)
def test_exactly_the_cards_named_are_laid_off_and_as_many_come(rules: RamsRules) -> None:
    batch = pool(rules, 24)
    first, last = batch.layout.first_exchange, batch.layout.first_card
    rows, actions = np.nonzero(batch.legal()[:, first:last])
    before, tried = take_rows(batch.states, rows), batch.clone(rows)
    tried.step(actions + first)
    same_deal = tried.states["deal"] == before["deal"]
    assert same_deal.sum() > 50
    assert (before["actor"] == before["dealer"]).any()
    for old, new, action in zip(before[same_deal], tried.states[same_deal], actions[same_deal].tolist(), strict=True):
        seat, owned = int(old["actor"]), cards_of(old["exchange_cards"])
        laid = mask_of(card for place, card in enumerate(owned) if action >> place & 1)
        hand, kept = int(new["hand"][seat]), int(old["exchange_cards"]) & ~laid
        turned = int(old["exchange_cards"]) & ~int(old["hand"][seat])  # what a dealer picks up
        assert kept & ~hand == 0
        assert hand & laid == 0
        assert len(cards_of(hand)) == rules.hand_size
        assert int(new["laid"][seat]) == int(old["laid"][seat]) | laid
        entry = int(new["log_length"]) - 1
        assert (new["log_seat"][entry], new["log_count"][entry]) == (seat, len(cards_of(laid)))
        assert len(cards_of(laid)) - len(cards_of(turned)) <= rules.exchange_max


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_texts_and_actions_are_inverses(rules: RamsRules) -> None:
    batch = pool(rules)
    layout = batch.layout
    for view in batch.view():
        own = int(view["exchange_cards"])
        for action in view["legal"].nonzero()[0].tolist():
            words = layout.text(action, own).split()
            assert layout.action(" ".join(words), own) == action
            assert layout.action(" ".join([*words[:1], *reversed(words[1:])]), own) == action
    assert len(set(layout.names)) == layout.num_actions == len(layout.names)


# --- copies ---------------------------------------------------------------------------------------------------------


def rebuilt(batch: GameBatch) -> GameBatch:
    """A batch restored from the bytes of its states alone."""
    twin = GameBatch(batch.rules, batch.num_games, seed=0, session=batch.session, autoreset=batch.autoreset)
    twin.states[:] = np.frombuffer(batch.states.tobytes(), batch.states.dtype)
    for name in PLAYED[1:]:
        getattr(twin, name)[:] = getattr(batch, name)
    return twin


@DRAWN
@given(st.data(), st.one_of(st.sampled_from(ALL), changed_rules()), SEEDS, st.integers(0, 60), st.booleans())
def test_copies_go_on_alike(data: st.DataObject, rules: RamsRules, seed: int, cut: int, autoreset: bool) -> None:
    batch = GameBatch(rules, 3, seed=seed, session=data.draw(sessions(rules)), autoreset=autoreset)
    for _ in range(cut):
        batch.step(batch.random_actions())
    twins = [batch.clone(), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch)), rebuilt(batch)]
    for _ in range(25):
        batch.step(batch.random_actions())
        for twin in twins:
            twin.step(twin.random_actions())
            assert snapshot(twin) == snapshot(batch)
    ended = np.flatnonzero(batch.done)
    for twin in twins[:3]:
        assert twin.final_view(0, ended).tobytes() == batch.final_view(0, ended).tobytes()


def test_a_clone_is_independent() -> None:
    batch = GameBatch("bestia", 4, seed=1)
    kept = snapshot(batch)
    twin = batch.clone([2, 0], copies=2)
    assert twin.game_id.tolist() == [[2, 0], [2, 0], [0, 0], [0, 0]]
    for _ in range(50):
        twin.step(twin.random_actions())
    twin.reset()
    assert snapshot(batch) == kept


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_ten_thousand_steps_undone(rules: RamsRules) -> None:
    """Undo is: keep the old rows."""
    batch, rng = pool(rules).clone(copies=4), np.random.default_rng(4)
    batch.autoreset = True
    undone = 0
    while undone < 10_000 // len(ONE_EACH):
        kept, fingerprint = take_rows(batch.states, np.arange(batch.num_games)), batch.states.tobytes()
        actions = varied_actions(batch.legal(), batch.layout, rng)
        batch.step(actions)
        after = snapshot(batch)
        batch.states[:] = kept
        assert batch.states.tobytes() == fingerprint
        assert np.array_equal(batch.legal(), with_states(batch, kept).legal())
        batch.step(actions)
        assert snapshot(batch) == after
        undone += batch.num_games


# --- addresses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_batch_equals_single_games(rules: RamsRules) -> None:
    session = varied_session(rules)
    batch = GameBatch(rules, 4, seed=21, session=session)
    singles = [GameBatch(rules, 1, seed=21, session=session, rows=[row]) for row in range(4)]
    backwards = GameBatch(rules, 4, seed=21, session=session, rows=[3, 2, 1, 0])
    for _ in range(70):
        for row, single in enumerate(singles):
            assert single.states.tobytes() == batch.states[row : row + 1].tobytes()
        assert take_rows(backwards.states, np.arange(3, -1, -1)).tobytes() == batch.states.tobytes()
        for games in (batch, backwards, *singles):
            games.step(games.random_actions())
        for name in PLAYED[1:]:
            values = getattr(batch, name)
            assert np.array_equal(np.concatenate([getattr(single, name) for single in singles]), values)
            assert np.array_equal(getattr(backwards, name)[::-1], values)


@DRAWN
@given(st.data(), changed_rules(), SEEDS, st.lists(st.integers(0, 2**40), min_size=1, max_size=5))
def test_a_game_is_a_function_of_its_address(data: st.DataObject, rules: RamsRules, seed: int, rows: list[int]) -> None:
    session = data.draw(sessions(rules))
    batch = GameBatch(rules, len(rows), seed=seed, session=session, rows=rows)
    for _ in range(20):
        batch.step(batch.random_actions())
    chosen = data.draw(st.integers(0, len(rows) - 1))
    replay = GameBatch(rules, 1, seed=seed, session=session)
    replay.reset(games=batch.game_id[[chosen]])
    while int(replay.states["deal"][0]) < int(batch.states["deal"][chosen]) or (
        int(replay.states["decision"][0]) < int(batch.states["decision"][chosen])
    ):
        replay.step(replay.random_actions())
    assert replay.states.tobytes() == batch.states[chosen : chosen + 1].tobytes()


def test_batches_in_turn_do_not_disturb_each_other() -> None:
    games = [GameBatch(rules, 3, seed=5, session=varied_session(rules)) for rules in SOME]
    alone = [GameBatch(rules, 3, seed=5, session=varied_session(rules)) for rules in SOME]
    for _ in range(15):
        for batch in games:
            batch.step(batch.random_actions())
            batch.redeal(batch.view(0), batch.keys())
    for batch, quiet in zip(games, alone, strict=True):
        for _ in range(15):
            quiet.step(quiet.random_actions())
        assert snapshot(batch) == snapshot(quiet)


def test_a_thousand_seeds_give_a_thousand_deals() -> None:
    batch = GameBatch("bestia", 1000, seed=0)
    assert len({deal.tobytes() for deal in batch.states["hand"]}) == 1000
    batch.reset(deals=[{"seed": seed, "game": (0, 0)} for seed in range(1000)])
    assert len({deal.tobytes() for deal in batch.states["hand"]}) == 1000
    for seed in (0, 1, 999):
        assert GameBatch("bestia", 1, seed=seed).states.tobytes() == batch.states[seed : seed + 1].tobytes()
    one = GameBatch("bestia", 1, seed=0)
    deals = set()
    for _ in range(200):
        deals.add(one.states["hand"].tobytes())
        one.reset()
    assert len(deals) == 200


def test_no_seed_draws_one_and_says_which() -> None:
    first, second = GameBatch("bestia"), GameBatch("bestia")
    assert first.seed != second.seed
    assert GameBatch("bestia", seed=first.seed).states.tobytes() == first.states.tobytes()


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_later_deals_do_not_depend_on_earlier_actions(rules: RamsRules) -> None:
    session = SessionConfig(num_deals=3, credits=1000 * rules.ante, carry=4 * rules.divisor)
    dealt: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for rng in (np.random.default_rng(seed) for seed in range(3)):
        batch = GameBatch(rules, 16, seed=2, session=session, autoreset=False)
        while (batch.actor >= 0).any():
            for state in batch.states[(batch.states["decision"] == 0) & (batch.actor >= 0)]:
                cards = (int(state["turn_up"]), int(state["extra_hand"]), *state["first_hand"].tolist())
                dealt.setdefault(tuple(int(state[name]) for name in ("row", "deal", "dealer")), set()).add(cards)
            batch.step(varied_actions(batch.legal(), batch.layout, rng))
    assert len(dealt) == 16 * 3
    assert all(len(cards) == 1 for cards in dealt.values())
    # Deals differ as sets of hands, too: the dealer's turn alone would move the same hands by a seat.
    assert len({frozenset(cards) for (cards,) in dealt.values()}) == 16 * 3


def test_keys_of_decisions_differ_and_depend_on_the_address_alone() -> None:
    batch = GameBatch("bestia_roman", 64, seed=3, session=SessionConfig(num_deals=4))
    seen = set[int]()
    decisions = 0
    for _ in range(60):
        keys = batch.keys()
        seen |= set(keys.tolist())
        decisions += len(keys)
        assert np.array_equal(keys, with_states(batch, batch.states).keys())
        batch.step(batch.random_actions())
    assert len(seen) == decisions
