"""One learner among policies: what it is paid, whom it plays, and that every driver plays the same games."""

from __future__ import annotations

import copy
import pickle
from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, IllegalActionError, RecordError
from bestia_env.learner import LearnerGames
from bestia_env.opponents import OpponentPool
from bestia_env.policies import RandomPolicy
from bestia_env.registry import default_players, make_rules, variants
from bestia_env.session import SessionConfig
from bestia_env.single import BestiaEnv
from bestia_env.vector import BestiaVectorEnv
from tests.aec_tools import DEAL, any_session, flat

Paid = dict[tuple[int, int], list[float]]


class LowestAction:
    """The first legal action, never random."""

    def __init__(self, name: str = "lowest") -> None:
        self.name = name

    def bind(self, rules: Any) -> None:
        pass

    def act(self, views: Any, keys: Any) -> Any:
        return views["legal"].argmax(axis=1)


class Counting(RandomPolicy):
    """Random, and remembers the size of what it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act_on_masks(self, masks: Any, keys: Any) -> Any:
        self.asked.append(len(masks))
        return super().act_on_masks(masks, keys)


def by_key(games: LearnerGames, policy: RandomPolicy) -> Any:
    """What the policy plays for the learners, by the keys of their decisions."""
    return policy.act(games.batch.view(games.seats), games.batch.keys())


def payments(rules: Any, session: SessionConfig, unit: str, games: int, steps: int) -> Paid:
    """(row, game) → what each seat wins in it, where everybody plays at random by key: from the batch alone."""
    batch = GameBatch(rules, games, seed=5, session=session)
    paid: Paid = {}
    running = np.zeros((games, rules.num_players))
    for _ in range(steps):
        ids = batch.game_id
        batch.step(batch.random_actions())
        running += batch.rewards if unit == "chips" else batch.scores
        for row in np.flatnonzero(batch.done).tolist():
            paid[row, int(ids[row, 1])] = running[row].tolist()
            running[row] = 0
    return paid


@pytest.mark.parametrize("unit", ["chips", "score"])
@pytest.mark.parametrize("variant", variants())
def test_a_learner_gets_all_that_its_seat_is_paid(variant: str, unit: str) -> None:
    rules, session, policy = make_rules(variant), any_session(variant), RandomPolicy()
    policy.bind(rules)
    expected = payments(rules, session, unit, games=12, steps=900)
    games = LearnerGames(GameBatch(rules, 12, seed=5, session=session), "random", reward=unit)
    games.begin(games=[(row, 0) for row in range(12)])
    total, skipped = np.zeros(12), np.zeros(12)
    seen, started = 0, np.zeros(12, np.int64)
    for _ in range(60):
        at, seats = games.batch.game_id, games.seats.copy()
        started = np.where(games.decided, started, at[:, 1])
        games.step(by_key(games, policy))
        total += games.reward
        for row in np.flatnonzero(games.done).tolist():
            if (row, int(at[row, 1])) in expected:
                assert total[row] == pytest.approx(expected[row, int(at[row, 1])][seats[row]], abs=1e-9)
                seen += 1
            total[row] = 0.0
        skipped += games.skipped_games * games.done
    assert seen > 12 or variant.startswith(("bettelmann", "camicia"))
    assert (games.final_seats == seats[games.done]).all()


@pytest.mark.parametrize("variant", ["bestia", "bestia_buco"])
def test_games_without_a_decision_are_counted_and_their_pay_is_told(variant: str) -> None:
    """Episodes and skipped games together are all games, and what they pay together is what the seats are paid."""
    rules = make_rules(variant, 4, last_player_wins=True, second_chance=False)
    session, policy = SessionConfig(carry=12), RandomPolicy()
    policy.bind(rules)
    rows = 40
    expected = payments(rules, session, "chips", rows, 1500)
    games = LearnerGames(GameBatch(rules, rows, seed=5, session=session), "random", skip_forced=True)
    games.begin(games=[(row, 0) for row in range(rows)])
    paid, at = defaultdict(float), games.batch.game_id[:, 1]
    told, skipped = games.skipped_reward.copy(), games.skipped_games.copy()
    for _ in range(80):
        games.step(by_key(games, policy))
        for row in range(rows):
            paid[row] += games.reward[row]
        told += games.skipped_reward * games.done
        skipped += games.skipped_games * games.done
    at = games.batch.game_id[:, 1]
    n = rules.num_players
    assert skipped.sum() > 0
    for row in range(rows):
        played = [game for game in range(int(at[row])) if (row, game) in expected]
        assert len(played) == at[row]
        whole = sum(expected[row, game][(row + game) % n] for game in played)
        open_game = games._pending[row] if not games.decided[row] else None
        if open_game is not None:  # nothing of an open game has been paid
            assert paid[row] + told[row] == pytest.approx(whole)


@pytest.mark.parametrize("variant", variants())
def test_a_vector_env_plays_what_single_envs_play(variant: str) -> None:
    seeds, rng = [3, 1, 2**62, 9], np.random.default_rng(0)
    session = any_session(variant)
    arguments: dict[str, Any] = {"session": session, "reward": "score", "opponents": "random"}
    vector = BestiaVectorEnv(4, variant, autoreset_mode=AutoresetMode.DISABLED, **arguments)
    singles = [BestiaEnv(variant, **arguments) for _ in seeds]
    observation, infos = vector.reset(seed=seeds)
    told = [env.reset(seed=seed) for env, seed in zip(singles, seeds, strict=True)]
    for _ in range(40):
        for row, (seen, info) in enumerate(told):
            assert flat({name: array[row] for name, array in observation.items()}) == flat(seen)
            assert infos["seat"][row] == info["seat"]
            assert flat(infos["action_mask"][row]) == flat(info["action_mask"])
        actions = np.array([rng.choice(np.flatnonzero(seen["action_mask"])) for seen, _ in told])
        observation, rewards, terminated, truncated, infos = vector.step(actions)
        steps = [env.step(int(action)) for env, action in zip(singles, actions, strict=True)]
        assert rewards.tolist() == [step[1] for step in steps]
        assert terminated.tolist() == [step[2] for step in steps]
        assert truncated.tolist() == [step[3] for step in steps]
        told = [(step[0], step[4]) for step in steps]
        over = terminated | truncated
        if over.any():
            for row in range(4):
                assert flat({name: array[row] for name, array in observation.items()}) == flat(told[row][0])
            observation, infos = vector.reset(options={"reset_mask": over})
            told = [env.reset() if over[row] else told[row] for row, env in enumerate(singles)]


@pytest.mark.parametrize("skip_forced", [False, True])
def test_the_modes_of_autoreset_tell_the_same_story(skip_forced: bool) -> None:
    """What each row sees, does and is paid, game by game, is the same; only when it is told differs."""
    stories = []
    for mode in AutoresetMode:
        env = BestiaVectorEnv(
            8, "bestia", 4, session=SessionConfig(carry="typical"), autoreset_mode=mode, skip_forced=skip_forced
        )
        policy = RandomPolicy()
        policy.bind(env.rules)
        observation, infos = env.reset(seed=11)
        story: list[list[Any]] = [[] for _ in range(8)]
        held = np.zeros(8, np.bool_)
        for _ in range(60):
            actions = np.zeros(8, np.int64)
            rows = np.flatnonzero(~held)
            views = env.games.batch.view(env.games.seats[rows], rows)
            actions[rows] = policy.act(views, env.games.batch.keys(rows))
            for row in rows.tolist():
                story[row].append((flat(observation["observation"][row]), int(actions[row])))
            if mode == AutoresetMode.NEXT_STEP:
                actions[held] = -5  # not looked at
            observation, rewards, terminated, truncated, infos = env.step(actions)
            over = terminated | truncated
            assert not rewards[held].any()
            for row in rows.tolist():
                story[row].append(float(rewards[row]))
                if over[row]:
                    last = infos["final_obs"][row] if mode == AutoresetMode.SAME_STEP else observation
                    seen = last["observation"] if mode == AutoresetMode.SAME_STEP else last["observation"][row]
                    story[row].append((flat(seen), "end"))
            held = over if mode == AutoresetMode.NEXT_STEP else held
            if mode == AutoresetMode.DISABLED and over.any():
                with pytest.raises(BestiaError, match="have ended; allowed is reset"):
                    env.step(actions)
                observation, infos = env.reset(options={"reset_mask": over})
        stories.append(story)
    for row in range(8):
        shortest = min(len(story[row]) for story in stories)
        assert shortest > 60
        assert stories[0][row][:shortest] == stories[1][row][:shortest] == stories[2][row][:shortest]


def test_infos_have_gymnasiums_form() -> None:
    env = gymnasium.make_vec("bestia_env:bestia/bestia-v0", num_envs=16, num_players=3, opponents="random")
    assert isinstance(env, BestiaVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observation, infos = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert set(infos) == {f"{mark}{name}" for mark in ("", "_") for name in
                          ("action_mask", "seat", "skipped_games", "skipped_reward")}  # fmt: skip
    rng = np.random.default_rng(1)
    kept: list[Any] = []
    for _ in range(30):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in observation["action_mask"]])
        observation, rewards, terminated, truncated, infos = env.step(actions)
        assert env.observation_space.contains(observation)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert np.array_equal(infos["action_mask"], observation["action_mask"])
        assert observation["action_mask"].any(axis=1).all()
        if (terminated | truncated).any():
            assert np.array_equal(infos["_final_obs"], terminated | truncated)
            assert np.array_equal(infos["final_info"]["_seat"], infos["_final_obs"])
            for row in range(16):
                final = infos["final_obs"][row]
                assert (final is None) == (not terminated[row])
                assert final is None or env.single_observation_space.contains(final)
        else:
            assert "final_obs" not in infos
        arrays = [*observation.values(), rewards, terminated, truncated, *(a for a in infos.values() if a is not None)]
        arrays = [array for array in arrays if isinstance(array, np.ndarray)]
        assert not [1 for new in arrays for old in kept if np.shares_memory(new, old)]
        kept = [*kept, *arrays][-60:]


def test_rotating_seats_take_turns_and_a_fixed_one_stays() -> None:
    env = BestiaEnv("bestia", 4)
    assert [env.reset(seed=1)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(7))] == [0, 1, 2, 3, 0, 1, 2, 3]
    env = BestiaEnv("bestia", 4, seat=2)
    assert [env.reset()[1]["seat"] for _ in range(4)] == [2] * 4


def test_an_address_replays_any_game_of_a_batch() -> None:
    vector = BestiaVectorEnv(6, "julepe", session=SessionConfig(carry=10))
    seen, infos = vector.reset(seed=3)
    env = BestiaEnv("julepe", session=SessionConfig(carry=10))
    for row in range(6):
        own, info = env.reset(seed=3, options={"game": (row, int(vector.games.batch.game_id[row, 1]))})
        assert flat(own["observation"]) == flat(seen["observation"][row])
        assert info["seat"] == infos["seat"][row]


def test_a_deal_can_be_set_up() -> None:
    env = BestiaEnv("bestia", 4, ante=3, seat=3)
    env.reset(seed=1, options=DEAL)
    assert env.table.pot == 9
    assert env.table.view("player_3")["hand"] == env.games.batch.view(3)["hand"][0]
    before = pickle.dumps(env.games)
    with pytest.raises(RecordError, match="dealer"):
        env.reset(options={"dealer": 7})
    assert pickle.dumps(env.games) == before
    with pytest.warns(UserWarning, match="'stok'"):
        env.reset(options={"stok": "5s"})
    vector = BestiaVectorEnv(3, "bestia", 4, ante=3, seat=3)
    vector.reset(seed=1, options=DEAL)
    assert vector.games.batch.states["pot"].tolist() == [9, 9, 9]


def test_opponents_stay_to_the_end_of_a_game_that_has_begun() -> None:
    first, second = LowestAction("first"), LowestAction("second")
    pool = OpponentPool({"first": first})
    games = LearnerGames(GameBatch("bestia", 64, num_players=3, seed=1), pool)
    games.begin()
    began = games.batch.game_id[:, 1].copy()
    pool.add("second", second)
    pool.remove("first")
    policy = RandomPolicy()
    policy.bind(games.batch.rules)
    for _ in range(12):
        games.step(by_key(games, policy))
        for row in range(64):
            mine = games.seats[row]
            others = {games._policies[number].name for number in np.delete(games._table[row], mine).tolist()}
            assert others == ({"first"} if games.batch.game_id[row, 1] == began[row] else {"second"})
    assert (games.batch.game_id[:, 1] > began).all()
    games._forget_policies()
    assert list(games._policies.values()) == [second]


def test_a_pool_draws_by_weight_and_by_the_address_of_the_game() -> None:
    pool = OpponentPool({"a": ("random", 3.0), "b": "random", "c": ("random", 0.0)})
    pool.bind(make_rules("bestia", 5))
    numbers = np.random.default_rng(0).integers(2**64, size=(4000, 4), dtype=np.uint64)
    drawn = pool.draw(numbers)
    assert np.array_equal(drawn, pool.draw(numbers))
    assert np.bincount(drawn.ravel(), minlength=3)[2] == 0
    assert (drawn == 0).mean() == pytest.approx(0.75, abs=0.02)
    alike = OpponentPool({"a": "random", "b": "random"}, same_table=1)
    alike.bind(make_rules("bestia", 5))
    assert (alike.draw(numbers) == alike.draw(numbers)[:, :1]).all()
    assert (alike.draw(numbers) == 0).mean() == pytest.approx(0.5, abs=0.03)
    half = OpponentPool({f"p{k}": "random" for k in range(50)}, same_table=0.5)
    half.bind(make_rules("bestia", 5))
    drawn = half.draw(numbers)
    assert (drawn == drawn[:, :1]).all(axis=1).mean() == pytest.approx(0.5, abs=0.03)
    with pytest.raises(BestiaError, match="same_table=2"):
        OpponentPool({}, same_table=2)
    tables = []
    for size in (4, 9):
        games = LearnerGames(GameBatch("bestia", size, num_players=5, seed=3), copy.deepcopy(pool))
        games.begin(games=[(row, 5) for row in range(size)])
        tables.append(games._table[:4])
    assert np.array_equal(*tables)


def test_opponents_are_asked_in_batches() -> None:
    policy = Counting()
    games = LearnerGames(GameBatch("bestia", 256, num_players=5, seed=1), policy)
    games.begin()
    assert max(policy.asked) > 128
    assert len(policy.asked) < sum(policy.asked) / 20


def test_skip_forced_leaves_only_choices() -> None:
    env = BestiaVectorEnv(32, "bestia", 5, skip_forced=True)
    observation, _ = env.reset(seed=2)
    rng = np.random.default_rng(2)
    for _ in range(30):
        assert (observation["action_mask"].sum(axis=1) > 1).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in observation["action_mask"]])
        observation, *_ = env.step(actions)
    with pytest.raises(BestiaError, match="nothing to decide in 100 games of bettelmann"):
        BestiaEnv("bettelmann", skip_forced=True).reset(seed=1)


# --- illegal actions --------------------------------------------------------------------------------------------------


def an_illegal_action(mask: Any) -> int:
    return int(np.flatnonzero(mask == 0)[0])


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = BestiaEnv("bestia", 5)
    observation, _ = env.reset(seed=1)
    before = pickle.dumps(env.games)
    for action in (an_illegal_action(observation["action_mask"]), -1, 999):
        with pytest.raises(IllegalActionError, match="allowed are"):
            env.step(action)
    assert pickle.dumps(env.games) == before
    vector = BestiaVectorEnv(8, "bestia", 5, illegal_action="terminate")
    observation, _ = vector.reset(seed=1)
    before = pickle.dumps(vector.games)
    with pytest.raises(IllegalActionError, match="row 3"):
        vector.step(np.array([*observation["action_mask"][:3].argmax(axis=1), 999, 0, 0, 0, 0]))
    with pytest.raises(BestiaError, match="allowed are 8 integers"):
        vector.step(np.zeros(8))
    assert pickle.dumps(vector.games) == before


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_an_illegal_action_may_end_the_game_at_the_learners_cost(mode: AutoresetMode) -> None:
    vector = BestiaVectorEnv(
        8, "bestia", 5, session=SessionConfig(carry=15), illegal_action="terminate", autoreset_mode=mode
    )
    observation, _ = vector.reset(seed=1)
    ids, state = vector.games.batch.game_id.copy(), vector.games.batch.states[2]
    ante = 3 if state["dealer"] == vector.games.seats[2] else 0
    actions = observation["action_mask"].argmax(axis=1)
    actions[2] = an_illegal_action(observation["action_mask"][2])
    _, rewards, terminated, _, infos = vector.step(actions)
    assert terminated[2]
    assert rewards[2] == -18 - ante  # bestia of a pot of 15 and the dealer's 3
    told = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
    assert told["illegal_action"].tolist() == [row == 2 for row in range(8)]
    assert vector.games.batch.game_id[2, 1] == ids[2, 1] + 1
    env = BestiaEnv("bestia", 5, illegal_action="terminate")
    observation, _ = env.reset(seed=1)
    _, _, terminated_one, _, info = env.step(an_illegal_action(observation["action_mask"]))
    assert terminated_one
    assert info["illegal_action"] is True


# --- copies, arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_copies_go_on_alike(twin: Any) -> None:
    pool = OpponentPool({"random": "random", "lowest": LowestAction()})
    env = BestiaVectorEnv(16, "bestia_five", opponents=pool, session=SessionConfig(num_deals=2))
    observation, _ = env.reset(seed=4)
    rng = np.random.default_rng(4)
    for _ in range(5):
        observation, *_ = env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in observation["action_mask"]]))
    other = twin(env)
    for _ in range(20):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in observation["action_mask"]])
        one, two = env.step(actions), other.step(actions)
        assert flat(one[:4]) == flat(two[:4])
        observation = one[0]


def test_render_shows_what_the_learner_sees() -> None:
    env = BestiaEnv("bestia", 4, render_mode="ansi", seat=1)
    with pytest.raises(BestiaError, match="no game has begun"):
        env.render()
    env.reset(seed=1, options=DEAL)
    assert env.render() == env.table.view_text("player_1")
    with pytest.raises(BestiaError, match="render_mode=None"):
        BestiaEnv("bestia").render()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"opponents": ["random"] * 3}, "3 given; allowed are 4"),
        ({"opponents": []}, "opponents="),
        ({"opponents": ["nobody"] * 4}, "nobody"),
        ({"opponents": OpponentPool({})}, "the pool is empty"),
        ({"seat": 5}, "seat=5; allowed is None or a seat from 0 to 4"),
        ({"seat": True}, "seat=True"),
        ({"reward": "money"}, "reward='money'; allowed are 'chips', 'score'"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore'"),
        ({"render_mode": "human"}, "render_mode='human'"),
        ({"pad_players": 0}, "pad_players=0"),
        ({"rules": "besta"}, "besta"),
        ({"penalty_cap": -1}, "penalty_cap=-1"),
    ],
)
@pytest.mark.parametrize("made", [BestiaEnv, BestiaVectorEnv])
def test_arguments_are_refused(made: Any, arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(BestiaError, match=match):
        made(**arguments)


def test_arguments_of_calls_are_refused() -> None:
    env, vector = BestiaEnv("bestia"), BestiaVectorEnv(3, "bestia")
    with pytest.raises(BestiaError, match="no episode is open"):
        env.step(0)
    with pytest.raises(BestiaError, match="no episode is open"):
        vector.step(np.zeros(3, np.int64))
    with pytest.raises(BestiaError, match="2 given for 3 rows"):
        vector.reset(seed=[1, 2])
    for mask in (np.ones(2, np.bool_), np.ones(3), np.zeros(3, np.bool_)):
        with pytest.raises(BestiaError, match="reset_mask="):
            vector.reset(options={"reset_mask": mask})
    with pytest.raises(BestiaError, match="autoreset_mode='sometimes'"):
        BestiaVectorEnv(3, "bestia", autoreset_mode="sometimes")
    options = {"reset_mask": np.ones(3, np.bool_)}
    vector.reset(seed=1, options=options)
    assert "reset_mask" in options  # Gymnasium's own take it out of the caller's dict
    pool = OpponentPool({"a": "random"})
    with pytest.raises(BestiaError, match="weight of 'a'=-1"):
        pool.add("a", "random", -1)
    with pytest.raises(BestiaError, match="nobody of the name 'b'"):
        pool.remove("b")
    pool.set_weight("a", 0)
    pool.bind(make_rules("bestia"))
    with pytest.raises(BestiaError, match="weights"):
        pool.draw(np.zeros((1, 4), np.uint64))
    with pytest.raises(BestiaError, match="the pool plays"):
        pool.bind(make_rules("tippen"))


def test_every_preset_has_ids_and_default_tables() -> None:
    for variant in variants():
        env = gymnasium.make(f"bestia_env:bestia/{variant}-v0", disable_env_checker=True)
        assert env.unwrapped.rules.num_players == default_players(variant)
