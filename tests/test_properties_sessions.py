"""Sessions deal by deal: who deals, what carries over, who must play, how and when a session ends."""

from __future__ import annotations

import json
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.errors import RecordError, RulesError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Phase, Status
from bestia_env.rams.variants import VARIANTS
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
from tests.rams_play import ALL, ONE_EACH, chips, label, varied_actions

GUARD = 2**53


def played(rules: RamsRules, choice: int, **session: Any) -> list[dict[str, Any]]:
    """A session in which everybody always takes the first (0) or the last (-1) of the legal actions: its deals."""
    batch = GameBatch(rules, 1, seed=3, autoreset=False, session=SessionConfig(**session))
    n, deals = rules.num_players, []
    start = batch.states.copy()
    while batch.actor[0] >= 0:
        before = batch.states[0].copy()
        batch.step([np.flatnonzero(batch.legal()[0])[choice]])
        if batch.done[0] or batch.states["deal"][0] > before["deal"]:
            told = batch.family.settlement(rules, batch.states[0])
            told |= {"scores": batch.scores[0].tolist(), "truncated": bool(batch.truncated[0])}
            deals.append(told | {"credits": batch.states["credits"][0, :n].tolist()})
    assert chips(batch.states)[0] == chips(start)[0]
    assert batch.done[0]
    return deals


def test_the_deal_passes_on_and_the_pot_carries_over() -> None:
    deals = played(make("bestia", 4), 0, num_deals=6, dealer=2, carry=9)
    assert [deal["dealer"] for deal in deals] == [2, 3, 0, 1, 2, 3]
    assert [deal["carry_before"] for deal in deals] == [9, 12, 15, 18, 21, 24]
    assert [deal["carry_after"] for deal in deals] == [12, 15, 18, 21, 24, 27]
    assert all(deal["net"] == [-3 * (seat == deal["dealer"]) for seat in range(4)] for deal in deals)
    assert all(deal["participants"] == [] and not any(deal["shares"]) for deal in deals)
    assert deals[-1]["credits"] == [-3, -3, -6, -6]  # without play_on the pot stays unclaimed


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_session_has_as_many_deals_as_it_says(rules: RamsRules) -> None:
    credits = 200 * rules.ante if rules.stakes == "table" else 0
    deals = played(rules, 0, num_deals=4, dealer=1, credits=credits)
    assert [deal["dealer"] for deal in deals] == [(1 + deal) % rules.num_players for deal in range(4)]
    assert [deal["truncated"] for deal in deals] == [False] * 4
    for earlier, later in pairwise(deals):
        assert later["carry_before"] == earlier["carry_after"]


def test_playing_on_ends_after_three_rounds_and_splits_the_pot() -> None:
    deals = played(make("bestia", 4), 0, num_deals=2, play_on=True, dealer=0)
    assert len(deals) == 2 + 3 * 4
    assert not any(any(deal["split"]) for deal in deals[:-1])
    assert deals[-1]["dealer"] == 13 % 4 == 1
    assert deals[-1]["carry_after"] == 42
    assert deals[-1]["split"] == [10, 10, 11, 11]  # the odd chips go to the seats after the dealer
    assert deals[-1]["net"] == [10, 7, 11, 11]
    assert sum(deals[-1]["credits"]) == 0


def test_playing_on_ends_as_soon_as_the_pot_is_taken() -> None:
    """The last to speak takes the pot of a deal that everybody else passed: the session is over after two deals."""
    batch = GameBatch(
        "bestia", 1, num_players=3, seed=1, autoreset=False, session=SessionConfig(play_on=True, dealer=0)
    )
    for action in (0, 0, 0, 0, 0, 0):  # everybody passes twice
        assert not batch.done[0]
        batch.step([action])
    assert (batch.states["deal"][0], batch.states["carry"][0], batch.states["dealer"][0]) == (1, 3, 1)
    for action in (0, 0, 1, 0, 0):  # the dealer knocks alone
        assert not batch.done[0]
        batch.step([action])
    assert batch.done[0]
    assert not batch.truncated[0]
    assert batch.rewards.tolist() == [[0, 3, 0]]
    assert batch.states["carry"][0] == 0


@pytest.mark.parametrize(("carry", "split"), [(2, [0, 1, 1]), (1, [0, 1, 0]), (0, [0, 0, 0])])
def test_what_does_not_divide_ends_a_session_that_plays_on(carry: int, split: list[int]) -> None:
    batch = GameBatch("bestia", 1, num_players=3, seed=1, autoreset=False, session=SessionConfig(play_on=True))
    hands = ["5c 5d As", "Ac 4d 4s", "4c Ad 5s"]
    batch.reset(deals=[{"dealer": 0, "carry": carry, "turn_up": "5h", "hands": hands}])
    for text in (
        "knock knock knock",
        "play Ac",
        "play 4c",
        "play 5c",
        "play 4d",
        "play Ad",
        "play 5d",
        "play 5s",
        "play As",
    ):
        for word in text.split() if text.startswith("knock") else [text]:
            batch.step([batch.layout.action(word)])
    assert not batch.done[0]
    batch.step([batch.layout.action("play 4s")])
    assert batch.done[0]
    told = batch.family.settlement(batch.rules, batch.states[0])
    assert (told["tricks"], told["shares"], told["split"]) == ([1, 1, 1], [1 + carry // 3] * 3, split)
    assert told["carry_after"] == carry
    assert sum(batch.rewards[0].tolist()) == carry


def test_no_deal_starts_that_could_outgrow_exact_numbers() -> None:
    """The bound itself is allowed: 4 x (carry + ante) = 2^53 is dealt, three chips more are not."""
    deals = played(make("bestia", 3), 0, num_deals=10, carry=2**51 - 9)
    assert [deal["carry_before"] for deal in deals] == [2**51 - 9, 2**51 - 6, 2**51 - 3]
    assert [deal["truncated"] for deal in deals] == [False, False, True]
    assert deals[-1]["split"] == [0, 0, 0]
    with pytest.raises(RulesError, match=r"2\^53"):
        played(make("bestia", 3), 0, carry=2**51)


def test_a_carry_that_is_set_up_is_bounded_like_any_other() -> None:
    """A principal who pays tenfold lets a pot of four grow 13-fold: 3 others pay it and he ten times it."""
    rules = make("mauscheln", 4, principal_penalty=(10, 10))
    most = 2**53 // 13 - rules.ante
    batch = GameBatch(rules, 1, seed=1)
    batch.reset(deals=[{"carry": most}])
    assert batch.states["carry"][0] == most
    with pytest.raises(RecordError, match="carry="):
        batch.reset(deals=[{"carry": most + 1}])


LARGEST = [make(name, row.players[1]) for name, row in VARIANTS.items() if row.values.get("stakes") != "table"]


@pytest.mark.parametrize("rules", [rules for rules in LARGEST if rules.penalty_cap is None], ids=label)
def test_pots_explode_until_the_session_is_truncated(rules: RamsRules) -> None:
    batch = GameBatch(rules, 2, seed=5, autoreset=False, session=SessionConfig(num_deals=20_000, carry=2**49 // 11))
    rng, n, total = np.random.default_rng(1), rules.num_players, chips(batch.states)
    payers = n if rules.ante_payer == "all" else 1
    full = (n + 1) * (payers * rules.ante + n * rules.stay_stake)
    for _ in range(20_000):
        if batch.truncated.any():
            break
        assert ((n + 1) * batch.states["carry"] + full <= GUARD).all()
        legal = batch.legal()
        legal[:, 0] &= ~legal[:, 1:].any(axis=1)  # nobody passes who has a choice
        batch.step(varied_actions(legal, batch.layout, rng))
    else:
        pytest.fail("the pot never outgrew 2^53")
    states = take_rows(batch.states, np.flatnonzero(batch.truncated))
    assert (states["phase"] == Phase.OVER).all()
    assert ((n + 1) * states["carry"] + full > GUARD).all()
    assert (np.abs(states["net"]) < 2**53).all()
    assert np.array_equal(chips(states), total[: len(states)])
    assert not states["split"].any()


# --- who must play --------------------------------------------------------------------------------------------------


def test_a_deal_after_one_without_a_bestia_is_forced() -> None:
    batch = GameBatch(
        "bestia_strict", 1, num_players=5, seed=1, autoreset=False, session=SessionConfig(num_deals=4, dealer=0)
    )
    assert (batch.states["forced"][0], batch.states["phase"][0]) == (0, Phase.DECLARE)
    for _ in range(10):
        batch.step([0])
    state = batch.states[0]
    assert (state["deal"], state["forced"], state["phase"]) == (1, 1, Phase.PLAY)
    assert (state["actor"], state["log_length"], state["principal"]) == (2, 0, -1)  # eldest leads, nobody declares
    assert state["status"][:5].tolist() == [Status.IN] * 5
    while batch.states["deal"][0] == 1:
        batch.step(batch.random_actions())
    assert batch.states["forced"][0] == 0  # five seats share three tricks: somebody was bestia
    assert batch.family.settlement(batch.rules, batch.states[0])["forced"]
    for action in (1, 0, 0, 0, 0, 0, 0, 0, 0):
        batch.step([action])
    assert (batch.states["deal"][0], batch.states["forced"][0]) == (3, 1)  # a walk-over is a deal without a bestia, too


def test_the_first_deal_is_forced_if_the_session_says_so() -> None:
    batch = GameBatch("bestia_strict", 4, seed=1, session=SessionConfig(forced=True))
    assert (batch.states["phase"] == Phase.PLAY).all()
    assert (batch.view(0)["forced"] == 1).all()


@pytest.mark.parametrize("variant", ["tippen", "tippen_exchange", "dreiblatt"])
def test_an_empty_pot_forces_everybody(variant: str) -> None:
    first = Phase.EXCHANGE if variant == "tippen_exchange" else Phase.PLAY
    batch = GameBatch(variant, 64, seed=1, session=SessionConfig(carry=range(0, 9, 3), num_deals=3))
    empty = batch.states["carry"] == 0
    assert 0 < empty.sum() < 64
    rng = np.random.default_rng(1)
    for _ in range(80):
        begun = batch.states["decision"] == 0
        assert np.array_equal(batch.states["forced"], batch.states["carry"] == 0)
        assert np.array_equal(batch.states["phase"][begun] == first, batch.states["forced"][begun] == 1)
        batch.step(varied_actions(batch.legal(), batch.layout, rng))


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_the_view_of_a_new_deal_holds_nothing_of_the_deal_before(rules: RamsRules) -> None:
    """A deal set up by hand looks the same as the first of a session and after another game in its row."""
    rng = np.random.default_rng(3)
    pack = rules.cards
    order = pack.texts(rng.permutation(pack.num_cards).tolist()).split()
    sizes = [rules.hand_size - (rules.turn_up_owner == "dealer" and seat == 0) for seat in range(rules.num_players)]
    deal: dict[str, Any] = {"dealer": 0, "turn_up": order.pop(), "carry": 0}
    deal["hands"] = [" ".join(order.pop() for _ in range(size)) for size in sizes]
    deal["extra_hand"] = " ".join(order.pop() for _ in range(rules.hand_size * rules.extra_hand))
    deal["stock"] = " ".join(order)
    fresh, used = (
        GameBatch(rules, 1, seed=seed, autoreset=False, session=SessionConfig(num_deals=2)) for seed in (1, 2)
    )
    for _ in range(25):
        if used.actor[0] < 0:
            used.reset()
        used.step(varied_actions(used.legal(), used.layout, rng))
    fresh.reset(deals=[deal])
    used.reset(deals=[deal])
    for seat in range(rules.num_players):
        assert fresh.view(seat).tobytes() == used.view(seat).tobytes()
    for name in ("seed", "row", "game", "key"):
        fresh.states[name] = used.states[name]
    assert fresh.states.tobytes() == used.states.tobytes()


# --- how a session begins -------------------------------------------------------------------------------------------


def test_carry_and_dealer_are_drawn_from_all_there_is() -> None:
    batch = GameBatch("bestia", 2000, num_players=7, seed=1, session=SessionConfig(carry=range(6, 31, 3)))
    assert set(batch.states["carry"].tolist()) == set(range(6, 31, 3))
    assert set(batch.states["dealer"].tolist()) == set(range(7))
    for name, size in (("carry", 9), ("dealer", 7)):
        counts = np.unique(batch.states[name], return_counts=True)[1]
        assert ((counts - 2000 / size) ** 2 / (2000 / size)).sum() < 30
    fixed = GameBatch("bestia", 50, seed=1, session=SessionConfig(dealer=3, carry=range(30, 0, -15)))
    assert set(fixed.states["dealer"].tolist()) == {3}
    assert set(fixed.states["carry"].tolist()) == {30, 15}


def test_typical_carries_come_from_the_table() -> None:
    text = (resources.files("bestia_env.rams") / "typical.json").read_text(encoding="utf-8")
    tables = json.loads(text)["tables"]
    for rules in ALL:
        table = tables[rules.variant][str(rules.num_players)]
        assert table["ante"] == rules.ante
        given = set(zip(table["carry"], table["forced"], strict=True))
        forced = "typical" if rules.forced_deal == "after_no_bestia" else False
        batch = GameBatch(rules, 512, seed=1, session=SessionConfig(carry="typical", forced=forced))
        drawn = set(zip(batch.states["carry"].tolist(), batch.states["forced"].tolist(), strict=True))
        assert drawn <= given
        assert len(drawn) > len(given) / 2
    session = SessionConfig(carry="typical")
    doubled = GameBatch("bestia", 512, seed=1, session=session, ante=6).states["carry"]
    assert np.array_equal(doubled, 2 * GameBatch("bestia", 512, seed=1, session=session).states["carry"])
    with pytest.raises(RulesError, match=r'carry="typical" has no table for rams with 5 players'):
        GameBatch("rams", 1, seed=1, session=session)


# --- table stakes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [rules for rules in ALL if rules.stakes == "table"], ids=label)
def test_at_the_table_nobody_owes_and_the_last_one_left_takes_the_pot(rules: RamsRules) -> None:
    n, rng = rules.num_players, np.random.default_rng(2)
    start = [rules.ante * (1 + 2 * seat) for seat in range(n)]
    session = SessionConfig(num_deals=200, credits=start)
    batch = GameBatch(rules, 32, seed=6, autoreset=False, session=session)
    dealers = []
    while (batch.actor >= 0).any():
        states = batch.states
        assert (states["credits"] >= 0).all()
        away = states["status"][:, :n] == Status.AWAY
        acting = np.flatnonzero(batch.actor >= 0)
        assert np.array_equal(away[acting], states["entitled"][acting, :n] == 0)
        assert not away[acting, states["actor"][acting]].any()
        assert not away[np.arange(32), states["dealer"]].any()
        assert not states["first_hand"][:, :n][away].any()
        assert not states["antes"][:, :n][away].any()
        assert (states["risk"][acting] <= states["pot"][acting]).all()
        dealers.append(int(states["dealer"][0]))
        batch.step(varied_actions(batch.legal(), batch.layout, rng))
    states = batch.states
    assert (states["credits"].sum(axis=1) + states["carry"] == sum(start)).all()
    alone = (states["credits"] > 0).sum(axis=1) == 1
    assert alone.any()
    assert not states["carry"][alone].any()
    assert len(set(dealers)) > 1
