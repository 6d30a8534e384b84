"""GameBatch: ends and new beginnings, games replayed by address, forfeits, and everything it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, IllegalActionError, RecordError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Phase
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
from tests.rams_play import (
    ONE_EACH,
    SOME,
    assert_cards_partition,
    assert_settled,
    chips,
    label,
    one_game,
    pool,
    say,
    varied_actions,
    varied_session,
)
from tests.test_properties import snapshot

# --- a game ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", SOME, ids=label)
def test_a_finished_row_goes_on_or_stops(rules: RamsRules) -> None:
    """Both ways play the same first game; then one row stops and the other is at its next game, with nothing kept."""
    session, rng = varied_session(rules), np.random.default_rng(7)
    going, stopping = (GameBatch(rules, 8, seed=4, session=session, autoreset=auto) for auto in (True, False))
    ended = np.zeros(8, np.int64)
    while not ended.all():
        first = np.flatnonzero(ended == 0)
        assert take_rows(going.states, first).tobytes() == take_rows(stopping.states, first).tobytes()
        actions = varied_actions(going.legal(), going.layout, rng)
        going.step(actions)
        stopping.step(actions)
        for name in ("rewards", "scores", "done", "truncated"):
            assert np.array_equal(getattr(going, name)[first], getattr(stopping, name)[first]), name
        done = first[going.done[first]]
        assert (stopping.actor[done] == -1).all()
        assert (going.actor[done] >= 0).all()
        assert np.array_equal(going.states["game"][done], np.ones(len(done)))
        for seat in range(rules.num_players):
            assert going.final_view(seat, done).tobytes() == stopping.view(seat, done).tobytes()
        if len(done):
            fresh = GameBatch(rules, len(done), seed=4, session=session)
            fresh.reset(games=going.game_id[done])
            assert take_rows(going.states, done).tobytes() == fresh.states.tobytes()
            assert np.array_equal(going.legal()[done], fresh.legal())
        ended[done] = 1
    assert not stopping.legal().any()
    kept = stopping.states.tobytes()
    stopping.step(np.zeros(8, np.int64))  # rows that have stopped are not asked
    assert stopping.states.tobytes() == kept
    assert not stopping.done.any()
    assert not stopping.rewards.any()
    assert (stopping.random_actions() == 0).all()


def test_final_views_are_there_for_rows_that_have_just_ended() -> None:
    batch = GameBatch("bestia", 6, seed=1)
    with pytest.raises(BestiaError, match=r"rows=\[2\] have not just ended; allowed are rows with done"):
        batch.final_view(0, [2])
    while not batch.done.any():
        batch.step(batch.random_actions())
    views = batch.final_view(3)
    assert len(views) == batch.done.sum()
    assert (views["phase"] == Phase.OVER).all()
    assert (views["actor"] == -1).all()
    assert not views["legal"].any()


def test_reset_deals_the_next_game_of_the_rows_asked_for() -> None:
    batch = GameBatch("bestia", 4, seed=9, autoreset=False)
    while (batch.actor >= 0).any():
        batch.step(batch.random_actions())
    others = take_rows(batch.states, np.array([0, 3]))
    batch.reset(rows=[1, 2])
    assert batch.game_id.tolist() == [[0, 0], [1, 1], [2, 1], [3, 0]]
    assert take_rows(batch.states, np.array([0, 3])).tobytes() == others.tobytes()
    assert (batch.actor[[1, 2]] >= 0).all()
    batch.reset()
    assert batch.game_id.tolist() == [[0, 1], [1, 2], [2, 2], [3, 1]]
    assert not batch.done.any()
    assert not batch.rewards.any()


def test_no_flag_or_reward_of_the_old_game_survives_a_reset_of_its_row() -> None:
    batch = GameBatch("bestia", 4, seed=9, autoreset=False)
    while not batch.done.all():
        batch.step(batch.random_actions())
        ended = np.flatnonzero(batch.done)
        others = np.flatnonzero(~batch.done)
        kept = batch.rewards[others].copy()
        if len(ended):
            batch.reset(rows=ended)
            assert not batch.done[ended].any()
            assert not batch.truncated[ended].any()
            assert not batch.rewards[ended].any()
            assert not batch.scores[ended].any()
            assert np.array_equal(batch.rewards[others], kept)
            break


def test_reset_replays_any_game() -> None:
    session = SessionConfig(num_deals=2, carry=range(0, 30, 3))
    batch = GameBatch("bestia_strict", 16, seed=2, session=session)
    starts = {}
    for _ in range(200):
        for row in np.flatnonzero((batch.states["deal"] == 0) & (batch.states["decision"] == 0)):
            starts[tuple(batch.game_id[row].tolist())] = take_rows(batch.states, np.array([row]))
        batch.step(batch.random_actions())
    assert len(starts) > 40
    games = np.array(list(starts))
    other = GameBatch("bestia_strict", len(games), seed=2, session=session)
    other.reset(games=games)
    assert np.array_equal(other.game_id, games)
    assert other.states.tobytes() == b"".join(state.tobytes() for state in starts.values())
    row, game = games[-1].tolist()
    for address in ({"game": (row, game)}, {"game": games[-1]}):
        one = GameBatch("bestia_strict", 1, seed=77, session=session)
        one.reset(deals=[{"seed": 2} | address])
        assert one.states.tobytes() == starts[row, game].tobytes()


def test_outputs_are_new_arrays_or_those_given() -> None:
    batch = GameBatch("bestia", 8, seed=1)
    masks, views = batch.legal(), batch.view()
    tensors = batch.encode(views)
    kept = [array.tobytes() for array in (masks, views, tensors)]
    batch.step(batch.random_actions())
    again = batch.legal(), batch.view(), batch.encode(batch.view())
    assert [array.tobytes() for array in (masks, views, tensors)] == kept
    assert batch.legal(out=masks) is masks
    assert batch.view(out=views) is views
    assert batch.encode(views, out=tensors) is tensors
    assert [array.tobytes() for array in (masks, views, tensors)] == [array.tobytes() for array in again]
    dirty = np.ones_like(masks)
    assert np.array_equal(batch.legal(out=dirty), masks)


# --- forfeit --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_who_forfeits_pays_a_bestia_and_nobody_else_gains_or_pays(rules: RamsRules) -> None:
    source, n = pool(rules), rules.num_players
    for row in np.flatnonzero(source.actor >= 0):
        batch = source.clone([row], copies=2)
        before = batch.states.copy()
        offender, quiet = int(batch.actor[1]), take_rows(batch.states, np.array([0]))
        base = int(before["risk"][1]) if rules.penalty_cap is None else min(int(before["risk"][1]), rules.penalty_cap)
        batch.forfeit(1)
        told = batch.family.settlement(rules, batch.states[1])
        assert told["penalties"] == [base * (seat == offender) for seat in range(n)]
        assert told["shares"] == [0] * n
        assert told["carry_after"] == before["pot"][1] + base
        assert_settled(rules, told, batch.rewards[1].tolist(), batch.scores[1].tolist())
        paid = before["credits"][1] - batch.states["credits"][1]
        assert paid.tolist() == [base * (seat == offender) for seat in range(10)]
        assert chips(batch.states)[1] == chips(before)[1]
        assert sum(batch.states["score_top"][1].tolist()) == 0
        assert (batch.done.tolist(), batch.truncated[1], batch.actor[1]) == ([False, True], False, -1)
        assert batch.final_view(0).tobytes() == batch.view(0, [1]).tobytes()
        assert_cards_partition(rules, batch.states)
        assert take_rows(batch.states, np.array([0])).tobytes() == quiet.tobytes()
        assert not batch.rewards[0].any()
        with pytest.raises(BestiaError, match="row=1 has stopped; allowed are rows with an actor"):
            batch.forfeit(1)
        batch.reset(rows=[1])
        assert batch.actor[1] >= 0


def test_the_cap_bounds_a_forfeit() -> None:
    batch = one_game(make("bestia", 4, penalty_cap=30), {"carry": 300, "dealer": 0})
    say(batch, "knock", "knock")
    batch.forfeit(0)
    assert batch.rewards[0].tolist() == [-3, 0, 0, -30]


# --- bad input ------------------------------------------------------------------------------------------------------

LEGAL = [0, 0, 0]  # passing, in a fresh batch of three


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        (None, "actions of shape"),
        (0, r"actions of shape"),
        ([0], r"actions of shape \(1,\), dtype int64; allowed are 3 integers"),
        ([0] * 4, r"actions of shape \(4,\)"),
        ([LEGAL], r"actions of shape \(1, 3\)"),
        ([0.0, 0.0, 0.0], r"dtype float64; allowed are 3 integers"),
        ([False] * 3, r"dtype bool"),
        (["0"] * 3, "dtype <U1"),
        ([0, 0, None], "dtype object"),
        ([0, 0, 2**70], "dtype object"),
    ],
)
def test_step_takes_one_integer_a_row(actions: Any, reason: str) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    kept = snapshot(batch)
    with pytest.raises(BestiaError, match=reason):
        batch.step(actions)
    assert snapshot(batch) == kept
    for kind in (np.int8, np.uint8, np.int32, np.uint64):
        batch.clone().step(np.zeros(3, kind))


@pytest.mark.parametrize("action", [2, 41, 42, -1, 2**62, -(2**62)])
def test_an_action_that_is_not_offered_names_its_row(action: int) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    kept = snapshot(batch)
    with pytest.raises(IllegalActionError, match=rf"^row 1: seat \d in phase declare cannot play action {action}\b"):
        batch.step([0, action, 0])
    assert snapshot(batch) == kept


ROWS: list[Any] = [
    3,
    -1,
    [0, 3],
    [-1],
    [0.5],
    [True, False, False],
    np.array([True, False, False]),
    "a",
    [[0, 1]],
    [None],
]


@pytest.mark.parametrize("rows", ROWS, ids=repr)
def test_rows_are_integers_of_the_batch(rows: Any) -> None:
    """A boolean mask is refused, too: read as integers it would quietly name rows 0 and 1."""
    batch = GameBatch("bestia", 3, seed=1)
    kept = snapshot(batch)
    for ask in (
        batch.reset,
        batch.clone,
        batch.keys,
        lambda rows: batch.view(0, rows),
        lambda rows: batch.final_view(0, rows),
    ):
        with pytest.raises(BestiaError, match=r"rows=.*; allowed are integers from 0 to 2"):
            ask(rows)
    assert snapshot(batch) == kept


@pytest.mark.parametrize(
    "seats", [5, -1, [0, 1], [0, 1, 5], [0.5, 1, 2], "a", [True, False, True], [[0, 1, 2]]], ids=repr
)
def test_seats_are_integers_of_the_table(seats: Any) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    with pytest.raises(BestiaError, match="seats="):
        batch.view(seats)


@pytest.mark.parametrize("rows", [[5], [1, 2], [1, 2, 3, 4], [-1, 0, 1], [0.5, 1, 2], "abc", [[1, 2, 3]]], ids=repr)
def test_row_numbers_are_one_a_game(rows: Any) -> None:
    with pytest.raises(BestiaError, match="rows="):
        GameBatch("bestia", 3, seed=1, rows=rows)


@pytest.mark.parametrize("games", [[0, 1], [[0, 1, 2]], [[0, -1]], [[0.5, 1]], [["0", "1"]], [[0, 1]] * 2], ids=repr)
def test_games_are_pairs_of_integers(games: Any) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    kept = snapshot(batch)
    with pytest.raises(BestiaError, match="games"):
        batch.reset(rows=[0], games=games)
    assert snapshot(batch) == kept


@pytest.mark.parametrize("deals", [[None], [None] * 4, {"dealer": 1}, [5, None, None], [None, "x", None], 3], ids=repr)
def test_deals_are_one_a_row(deals: Any) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    kept = snapshot(batch)
    with pytest.raises(BestiaError, match="deals"):
        batch.reset(deals=deals)
    assert snapshot(batch) == kept


@pytest.mark.parametrize("num_games", [0, -1, 2.0, "2", None, True])
def test_the_number_of_games_is_a_positive_integer(num_games: Any) -> None:
    with pytest.raises(BestiaError, match=r"num_games=.*; allowed is a positive integer"):
        GameBatch("bestia", num_games, seed=1)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_a_seed_is_an_unsigned_integer(seed: Any) -> None:
    with pytest.raises(BestiaError, match=r"seed=.*; allowed are integers from 0 to 2\^64 - 1"):
        GameBatch("bestia", 1, seed=seed)
    batch = GameBatch("bestia", 1, seed=2**64 - 1)
    kept = snapshot(batch)
    with pytest.raises(BestiaError, match="seed="):
        batch.reset(deals=[{"seed": seed}])
    assert snapshot(batch) == kept


@pytest.mark.parametrize("game", [(1,), (1, 2, 3), "12", (-1, 0), (1.0, 0), (True, 0), (2**70, 0), 5, None], ids=repr)
def test_an_address_is_a_pair_of_integers(game: Any) -> None:
    batch = GameBatch("bestia", 1, seed=1)
    kept = snapshot(batch)
    with pytest.raises(RecordError, match=r"game=.*; allowed is a pair"):
        batch.reset(deals=[{"game": game}])
    assert snapshot(batch) == kept


@pytest.mark.parametrize("copies", [0, -1, 2.5, True, "2", None])
def test_copies_are_a_positive_integer(copies: Any) -> None:
    batch = GameBatch("bestia", 2, seed=1)
    with pytest.raises(BestiaError, match="copies="):
        batch.clone(copies=copies)
    with pytest.raises(BestiaError, match=r"copies="):
        batch.redeal(batch.view(0), np.zeros(2, np.uint64), copies=copies)


@pytest.mark.parametrize(
    "keys", [np.zeros(3, np.uint64), np.zeros((2, 1), np.uint64), np.zeros(2), [1.5, 2.5], [-1, 0]], ids=repr
)
def test_keys_are_one_a_game(keys: Any) -> None:
    batch = GameBatch("bestia", 2, seed=1)
    with pytest.raises(BestiaError, match="keys"):
        batch.redeal(batch.view(0), keys)


def test_redeal_and_encode_take_views_of_the_family() -> None:
    batch = GameBatch("bestia", 2, seed=1)
    none = batch.redeal(batch.view(0)[:0], np.zeros(0, np.uint64))
    assert (none.num_games, none.legal().shape[0]) == (0, 0)
    for ask in (batch.encode, lambda views: batch.redeal(views, np.zeros(2, np.uint64))):
        for views in (np.zeros(2), batch.states, [1, 2]):
            with pytest.raises(BestiaError, match="views"):
                ask(views)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((3, 1), bool), np.zeros((2, 43), bool), np.zeros((3, 43), np.int8)],
    ids=lambda a: f"{a.shape}-{a.dtype}",
)
def test_an_array_to_fill_must_fit(wrong: np.ndarray) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    with pytest.raises(BestiaError, match=r"out of shape .*; allowed is shape \(3, 43\), dtype bool"):
        batch.legal(out=wrong)
    with pytest.raises(BestiaError, match="out of shape"):
        batch.view(out=wrong)
    with pytest.raises(BestiaError, match="out of shape"):
        batch.encode(batch.view(), out=wrong)
