"""What we promise to whom: every interface of other people's, checked by their own tests where they have some.

| to users of | promised | where it is checked |
|---|---|---|
| PettingZoo | ``api_test``, ``seed_test``, ``parallel_api_test``, ``render_test`` | here; all tables: test_aec |
| Gymnasium | ``check_env``, ``make``, ``make_vec``, its vector wrappers | here; episodes and autoreset: test_learner |
| Stable-Baselines3 | ``check_env``, MaskablePPO on both roads, masks through wrappers | here |
| OpenSpiel | ``random_sim_test``, playthroughs | test_openspiel |
| processes | pickling, ``spawn`` | here |
| pip | the wheel in an empty environment; the oldest and newest Python | test_package; here |
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import NormalizeReward, RecordEpisodeStatistics
from pettingzoo import AECEnv
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor, VecNormalize

from bestia_env import BestiaError, BestiaVectorEnv, IllegalActionError, OpponentPool, SessionConfig, aec_env, variants
from bestia_env.aec_learner import AECLearner
from bestia_env.sb3 import BestiaVecEnv
from bestia_env.single import BestiaEnv
from tests.aec_tools import RAMS, flat

ROOT = Path(__file__).resolve().parents[1]
ONE_OF_EACH_KIND = ["bestia", "bestia_roman", "online3", "julepe", "mauscheln", "tippen", "bettelmann"]


# --- PettingZoo -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ONE_OF_EACH_KIND)
@pytest.mark.filterwarnings("ignore:Action mask is a single number:UserWarning")  # Bettelmann has one action
def test_pettingzoo(variant: str) -> None:
    api_test(aec_env(variant), num_cycles=20)
    seed_test(lambda: aec_env(variant), num_cycles=20)
    render_test(lambda render_mode: aec_env(variant, render_mode=render_mode))
    parallel_api_test(turn_based_aec_to_parallel(aec_env(variant)), num_cycles=20)


# --- Gymnasium --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", variants())
def test_gymnasium_accepts_every_preset(variant: str) -> None:
    env = gymnasium.make(f"bestia_env:bestia/{variant}-v0", opponents="random", illegal_action="terminate")
    check_env(env.unwrapped)  # samples without masks, so illegal actions must not raise
    check_env_of_sb3(env)


def test_gymnasium_finds_ids_after_a_plain_import() -> None:
    code = "import bestia_env, gymnasium; gymnasium.make('bestia_env:bestia/bestia-v0'); print('made')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "made\n"


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_gymnasiums_vector_wrappers_read_the_ends_of_episodes(mode: AutoresetMode) -> None:
    plain = BestiaVectorEnv(8, "bestia", 4, autoreset_mode=mode)
    env = NormalizeReward(RecordEpisodeStatistics(BestiaVectorEnv(8, "bestia", 4, autoreset_mode=mode)))
    observation, _ = env.reset(seed=1)
    plain.reset(seed=1)
    rng, returns, episodes = np.random.default_rng(1), np.zeros(8), 0
    for _ in range(60):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in observation["action_mask"]])
        observation, _, terminated, _, infos = env.step(actions)
        returns += plain.step(actions)[1]
        told = infos.get("episode")
        if told is not None:
            assert np.array_equal(infos["_episode"], terminated)
            assert told["r"][terminated].tolist() == pytest.approx(returns[terminated].tolist())
        returns[terminated] = 0
        episodes += int(terminated.sum())
    assert episodes > 60


def test_single_envs_can_be_vectorised_by_gymnasium() -> None:
    env = gymnasium.make_vec("bestia_env:bestia/bestia-v0", 3, "sync", num_players=4)
    observation, infos = env.reset(seed=1)
    assert infos["seat"].tolist() == [0, 0, 0]
    for _ in range(20):
        actions = np.array([np.flatnonzero(mask)[0] for mask in observation["action_mask"]])
        observation, *_ = env.step(actions)
    env.close()


# --- whose reward it is -----------------------------------------------------------------------------------------------


class ThreePayoffs(AECEnv[str, Any, Any]):
    """Three seats act once each, in turn; at the end they are paid -1, 0 and +1."""

    metadata = {"name": "three_v0", "render_modes": []}  # noqa: RUF012  # PettingZoo's declaration

    def __init__(self) -> None:
        self.possible_agents = ["player_0", "player_1", "player_2"]
        self._spaces = {
            agent: (spaces.Box(0, 1, (3,), np.float32), spaces.Discrete(2)) for agent in self.possible_agents
        }
        self.render_mode = None

    def observation_space(self, agent: str) -> Any:
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> Any:
        return self._spaces[agent][1]

    def observe(self, agent: str) -> Any:
        return np.eye(3, dtype=np.float32)[self.possible_agents.index(agent)]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": np.ones(2, np.int8)} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def render(self) -> None:
        """Nothing to see."""

    def close(self) -> None:
        """Nothing to release."""

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        place = self.possible_agents.index(self.agent_selection)
        self._cumulative_rewards[self.agent_selection] = 0
        if place < 2:
            self.agent_selection = self.possible_agents[place + 1]
            return
        self.rewards = dict(zip(self.agents, (-1, 0, 1), strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]


class AsTaught(gymnasium.Env[Any, Any]):
    """The widespread recipe: one trajectory through all seats, each step paid what the mover has just got."""

    def __init__(self, aec: Any) -> None:
        self.aec = aec

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.aec.reset(seed)
        return self.aec.observe(self.aec.agent_selection), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        mover = self.aec.agent_selection
        self.aec.step(action)
        following = self.aec.agent_selection
        over = self.aec.terminations[following]
        return self.aec.observe(following), self.aec.rewards[mover], over, False, {"mover": mover}


def returns_by_agent(env: Any, who: Any, episodes: int = 6) -> dict[str, set[float]]:
    """Agent → the returns of the episodes (or, where agents mix, of the steps that ended one) that were its own."""
    told = defaultdict(set)
    for _ in range(episodes):
        env.reset()
        total, over = 0.0, False
        while not over:
            _, reward, over, _, info = env.step(0)
            total += reward
        told[who(env, info)].add(total)
    return dict(told)


def test_each_learner_gets_its_own_payoff_and_as_taught_only_the_last_mover_gets_one() -> None:
    own = {"player_0": {-1.0}, "player_1": {0.0}, "player_2": {1.0}}
    assert returns_by_agent(AECLearner(ThreePayoffs()), lambda env, _: env._me) == own
    for agent in own:
        assert returns_by_agent(AECLearner(ThreePayoffs(), agent), lambda env, _: env._me) == {agent: own[agent]}
    assert returns_by_agent(AsTaught(ThreePayoffs()), lambda _, info: info["mover"]) == {"player_2": {1.0}}
    api_test(ThreePayoffs(), num_cycles=10)


def test_every_seat_of_a_batch_gets_its_own_payoff() -> None:
    """A deal in which three seats win -3, 0 and +3: three learners see three payoffs."""
    deal = {
        "dealer": 0,
        "carry": 0,
        "turn_up": "5h",
        "hands": ["2c 4c 6c", "Kc 7c 5c", "Ah 3h Kh"],
        "stock": "2s 4s 6s",
    }
    actions = {0: "pass", 1: "pass", 2: "knock"}
    paid = []
    for seat in range(3):
        env = BestiaEnv("bestia", 3, seat=seat, opponents=Spoken(actions), second_chance=False)
        env.reset(seed=1, options=deal)
        total, over = 0.0, False
        while not over:
            action = Spoken(actions).choose(env.table.view(f"player_{seat}"), seat, env.rules)
            _, reward, over, _, _ = env.step(action)
            total += reward
        paid.append(total)
    assert paid == [-3.0, 0.0, 3.0]


class Spoken:
    """Declares as told by seat, and plays its first legal card."""

    def __init__(self, words: dict[int, str]) -> None:
        self.words = words

    def bind(self, rules: Any) -> None:
        self.rules = rules

    def act(self, views: Any, keys: Any) -> Any:
        n = self.rules.num_players
        seats = (0 - views["dealer"]) % n  # the dealer is seat 0, and Views count from the viewer
        return np.array([self.choose(view, int(seat), self.rules) for view, seat in zip(views, seats, strict=True)])

    def choose(self, view: Any, seat: int, rules: Any) -> int:
        from bestia_env import family_of

        legal = view["legal"]
        word = family_of(rules).layout(rules).action(self.words[seat])
        return word if legal[word] else int(legal.argmax())


# --- Stable-Baselines3 ------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """More threads than one make small networks slower where cores are shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def vec_env(num_envs: int = 32, **arguments: Any) -> BestiaVecEnv:
    arguments = {"session": SessionConfig(carry="typical"), "reward": "score", "seed": 5} | arguments
    return BestiaVecEnv("bestia", num_envs, 4, **arguments)


def learner(env: Any, policy: str = "MlpPolicy", **arguments: Any) -> MaskablePPO:
    return MaskablePPO(policy, env, n_steps=16, batch_size=128, n_epochs=2, device="cpu", seed=3, **arguments)


@pytest.mark.parametrize("wrapped", [lambda env: env, VecMonitor, lambda env: VecNormalize(VecMonitor(env))])
def test_maskable_ppo_learns_saves_loads_and_evaluates(wrapped: Any, tmp_path: Path) -> None:
    env = wrapped(vec_env(32, opponents=["random", "medium", "tight"]))
    model = learner(env)
    model.learn(1500)  # an illegal action would raise
    assert all(np.isfinite(weights.detach().numpy()).all() for weights in model.policy.parameters())
    model.save(tmp_path / "model")
    again = MaskablePPO.load(tmp_path / "model", env=env, device="cpu")
    observation = env.reset()
    masks = np.stack(env.env_method("action_masks"))
    one, two = (m.predict(observation, action_masks=masks, deterministic=True)[0] for m in (model, again))
    assert np.array_equal(one, two)
    assert masks[np.arange(32), one].all()
    reward, _ = evaluate_policy(again, env, n_eval_episodes=40, warn=False)
    assert -4 < reward < 4


def test_a_dict_observation_holds_the_mask_of_the_same_moment() -> None:
    env = vec_env(16, dict_observation=True)
    model = learner(env, "MultiInputPolicy")
    model.learn(300)
    observation = env.reset()
    for _ in range(20):
        assert np.array_equal(observation["action_mask"].astype(bool), np.stack(env.env_method("action_masks")))
        actions = observation["action_mask"].argmax(axis=1)
        observation, _, done, infos = env.step(actions)
        assert all(
            set(infos[row]["terminal_observation"]) == {"observation", "action_mask"} for row in done.nonzero()[0]
        )


def test_a_vec_env_plays_what_the_vector_env_plays() -> None:
    env, vector = vec_env(16), BestiaVectorEnv(16, "bestia", 4, session=SessionConfig(carry="typical"), reward="score")
    seen, (observation, _) = env.reset(), vector.reset(seed=5)
    for _ in range(40):
        assert flat(seen) == flat(observation["observation"])
        actions = np.stack(env.env_method("action_masks")).argmax(axis=1)
        assert np.array_equal(actions, observation["action_mask"].argmax(axis=1))
        seen, rewards, done, infos = env.step(actions)
        observation, other, terminated, truncated, told = vector.step(actions)
        assert flat(rewards) == flat(other.astype(np.float32))
        assert np.array_equal(done, terminated | truncated)
        for row in np.flatnonzero(done):
            assert flat(infos[row]["terminal_observation"]) == flat(told["final_obs"][row]["observation"])
            assert infos[row]["seat"] == told["final_info"]["seat"][row]
            assert not infos[row]["TimeLimit.truncated"]


def test_training_twice_gives_the_same_weights() -> None:
    weights = []
    for _ in range(2):
        model = learner(vec_env(16, opponents=OpponentPool({"random": "random", "medium": ("medium", 2.0)})))
        model.learn(600)
        weights.append(pickle.dumps([w.detach().numpy() for w in model.policy.parameters()]))
    assert weights[0] == weights[1]


def test_stored_log_probabilities_are_those_of_the_masked_policy() -> None:
    """Recomputed before the first update: the loss sees the masks that the sampling saw."""
    model = learner(vec_env(16))
    _, callback = model._setup_learn(16 * 16)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, 16, use_masking=True)
    (batch,) = model.rollout_buffer.get(16 * 16)
    _, again, _ = model.policy.evaluate_actions(
        batch.observations, batch.actions.long().flatten(), action_masks=batch.action_masks
    )
    assert torch.allclose(again, batch.old_log_prob, atol=1e-5)
    _, unmasked, _ = model.policy.evaluate_actions(batch.observations, batch.actions.long().flatten())
    assert not torch.allclose(unmasked, batch.old_log_prob, atol=1e-2)


def test_illegal_actions_raise_and_change_nothing() -> None:
    env = vec_env(4)
    env.reset()
    masks = np.stack(env.env_method("action_masks"))
    before = pickle.dumps(env.games)
    with pytest.raises(IllegalActionError, match="row 0"):
        env.step(masks.argmin(axis=1))
    assert pickle.dumps(env.games) == before
    env.step(masks.argmax(axis=1))


def test_what_a_batch_cannot_do_is_refused() -> None:
    env = vec_env(4)
    with pytest.raises(BestiaError, match="no actions"):
        env.step_wait()
    with pytest.raises(BestiaError, match="set_attr 'seat'"):
        env.set_attr("seat", 3)
    with pytest.raises(AttributeError, match="env_method 'render'"):
        env.env_method("render")
    with pytest.raises(AttributeError):
        env.get_attr("nothing")
    assert env.has_attr("action_masks")
    assert env.env_is_wrapped(VecMonitor, [1, 2]) == [False, False]
    assert [mask.shape for mask in env.env_method("action_masks", indices=[0, 3])] == [(env.action_space.n,)] * 2
    env.set_options({"carry": 30})
    env.reset()
    assert env.games.batch.states["carry"].tolist() == [30] * 4


def one_learner() -> gymnasium.Env[Any, Any]:
    return AECLearner(aec_env("bestia", 4, session=SessionConfig(carry="typical"), reward="score"), opponents="medium")


def test_any_aec_env_can_be_trained_on() -> None:
    check_env_of_sb3(AECLearner(aec_env("bestia", 4, illegal_action="terminate")))
    env = DummyVecEnv([lambda: ActionMasker(one_learner(), lambda e: e.action_masks())] * 2)
    learner(env, "MultiInputPolicy").learn(64)


@pytest.mark.parametrize("variant", variants())
def test_an_aec_learner_is_paid_like_a_learner_of_the_batch(variant: str) -> None:
    """The same games through both drivers: opponents play by the keys of their decisions."""
    session = SessionConfig(carry=8) if variant in RAMS else None
    batch = BestiaEnv(variant, session=session, opponents="random", seat=1)
    aec = AECLearner(aec_env(variant, session=session), "player_1", "random")
    for game in range(6):
        seen, info = batch.reset(seed=3, options={"game": (0, game)})
        if info["skipped_games"]:
            continue
        other, _ = aec.reset(seed=3, options={"game": (0, game)})
        over = False
        while not over:
            assert flat(seen) == flat(other)
            action = int(seen["action_mask"].argmax())
            seen, reward, over, truncated, info = batch.step(action)
            other, paid, aec_over, aec_truncated, told = aec.step(action)
            over = over or truncated
            assert (reward, over) == (paid, aec_over or aec_truncated)
        assert flat(seen["observation"]) == flat(other["observation"])
        assert flat(info["settlement"]) == flat(told["settlement"])


def test_aec_learners_arguments_are_refused() -> None:
    with pytest.raises(BestiaError, match="learner='player_9'"):
        AECLearner(aec_env("bestia", 4), "player_9")
    with pytest.raises(BestiaError, match="'player_9' is no agent"):
        AECLearner(aec_env("bestia", 4), opponents={"player_9": "random"})
    with pytest.raises(BestiaError, match="allowed is a function"):
        AECLearner(ThreePayoffs(), opponents="random")
    with pytest.raises(BestiaError, match="no episode is open"):
        AECLearner(ThreePayoffs()).step(0)


# --- processes and Pythons --------------------------------------------------------------------------------------------


def _play_on(sent: bytes) -> Any:
    """In another process: what a pickled environment does next."""
    env, actions = pickle.loads(sent)
    return [flat(env.step(row)[:4]) for row in actions]


def test_envs_go_to_spawned_processes_in_the_middle_of_games() -> None:
    env = BestiaVectorEnv(4, "bestia", 4, opponents=["random", "tight", "medium"])
    observation, _ = env.reset(seed=2)
    for _ in range(3):
        observation, *_ = env.step(observation["action_mask"].argmax(axis=1))
    copied = pickle.loads(pickle.dumps(env))
    actions, here = [], []
    for _ in range(6):
        actions.append(observation["action_mask"].argmax(axis=1))
        observation, *rest = copied.step(actions[-1])
        here.append(flat((observation, *rest[:3])))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_play_on, (pickle.dumps((env, actions)),)) == here


def test_subproc_vec_env_spawns_them() -> None:
    env = SubprocVecEnv([one_learner, one_learner], start_method="spawn")
    env.seed(1)
    env.reset()
    for _ in range(5):
        masks = np.stack(env.env_method("action_masks"))
        env.step(masks.argmax(axis=1))
    env.close()


OTHER_PYTHONS = [
    version for version in ("3.11", "3.12", "3.13") if version != f"{sys.version_info[0]}.{sys.version_info[1]}"
]


@pytest.mark.parametrize("version", OTHER_PYTHONS)
def test_every_source_compiles_on_other_pythons(version: str, tmp_path: Path) -> None:
    """Its syntax only; ``make pythons`` installs everything there and runs these tests."""
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no Python {version} here")
    code = """
import json, py_compile, sys
from pathlib import Path
root, cache = Path(sys.argv[1]), Path(sys.argv[2])
files = sorted(root.joinpath("bestia_env").rglob("*.py"))
for number, file in enumerate(files):
    py_compile.compile(str(file), cfile=str(cache / f"{number}.pyc"), doraise=True)
print(json.dumps(len(files)))
"""
    done = subprocess.run(
        [python, "-c", code, ROOT, tmp_path], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout) > 40
