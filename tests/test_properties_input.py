"""Deals set up by hand: what is given comes out as given, the rest is random, contradictions are refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestia_env.batch import GameBatch
from bestia_env.cards import cards_of, mask_of
from bestia_env.errors import BestiaError, RecordError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Phase
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
from tests.rams_play import (
    ALL,
    DRAWN,
    ONE_EACH,
    assert_cards_partition,
    assert_decision_is_open,
    changed_rules,
    label,
    one_game,
    say,
    stock_cards,
    varied_actions,
)
from tests.test_properties import play_checked, snapshot

CARDS = ("hands", "turn_up", "extra_hand", "stock")


def full_deal(rules: RamsRules, rng: np.random.Generator) -> dict[str, Any]:
    """A deal that says everything there is to say."""
    n, pack = rules.num_players, rules.cards
    dealer = int(rng.integers(n))
    entitled = [seat in (dealer, (dealer + 1) % n) or bool(rng.random() < 0.8) for seat in range(n)]
    order = pack.texts(rng.permutation(pack.num_cards).tolist()).split()
    owner = dealer if rules.turn_up_owner == "dealer" else -1
    sizes = [(rules.hand_size - (seat == owner)) * entitled[seat] for seat in range(n)]
    deal: dict[str, Any] = {"dealer": dealer, "entitled": entitled, "turn_up": order.pop()}
    deal["hands"] = [" ".join(order.pop() for _ in range(size)) for size in sizes]
    deal["extra_hand"] = " ".join(order.pop() for _ in range(rules.hand_size * rules.extra_hand))
    deal["stock"] = " ".join(order)
    deal["carry"] = int(rng.integers(0, 3)) * rules.divisor
    if rules.best_principal_half_ante:
        deal["half_ante"] = int(rng.integers(n))
    deal["credits"] = [int(chips) for chips in rng.integers(1, 900, n)]
    if rules.forced_deal == "after_no_bestia":
        deal["forced"] = bool(rng.random() < 0.5)
    return deal


def assert_dealt(batch: GameBatch, deal: dict[str, Any]) -> None:
    """A game stands as its deal says."""
    rules, state = batch.rules, batch.states[0]
    assert isinstance(rules, RamsRules)
    pack, n = rules.cards, rules.num_players
    turn_up = pack.card(deal["turn_up"])
    for seat, text in enumerate(deal["hands"]):
        owned = 1 << turn_up if rules.turn_up_owner == "dealer" and seat == deal["dealer"] else 0
        assert state["first_hand"][seat] == mask_of(pack.cards(text)) | owned
    stock = state["stock"][state["stock_next"] : state["stock_end"]].tolist()
    assert (state["turn_up"], stock) == (turn_up, pack.cards(deal["stock"]))
    assert state["extra_hand"] == mask_of(pack.cards(deal["extra_hand"]))
    assert (state["dealer"], state["carry"]) == (deal["dealer"], deal["carry"])
    assert state["entitled"][:n].astype(bool).tolist() == deal["entitled"]
    ante = min([rules.ante, *(chips for chips, may in zip(deal["credits"], deal["entitled"], strict=True) if may)])
    level = ante if rules.stakes == "table" else rules.ante
    payers = deal["entitled"] if rules.ante_payer == "all" else [seat == deal["dealer"] for seat in range(n)]
    antes = [(level // 2 if seat == deal.get("half_ante") else level) * payers[seat] for seat in range(n)]
    assert state["antes"][:n].tolist() == antes
    assert state["pot_before"] == deal["carry"] + sum(antes)
    stakes = int(state["pot"] - state["pot_before"])
    assert sum(deal["credits"]) - int(state["credits"].sum()) == sum(antes) + stakes
    forced = deal.get("forced", rules.forced_deal == "bare_ante" and deal["carry"] == 0)
    assert state["forced"] == forced
    assert (state["phase"] == Phase.DECLARE) != forced


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_deal_comes_out_as_given(rules: RamsRules) -> None:
    for seed in range(4):
        deal = full_deal(rules, np.random.default_rng(seed))
        batch = one_game(rules, deal)
        assert_dealt(batch, deal)
        assert_cards_partition(rules, batch.states)


@DRAWN
@given(changed_rules(), st.integers(0, 2**32), st.sets(st.sampled_from(CARDS)))
def test_any_part_of_a_deal_may_be_given(rules: RamsRules, seed: int, given_keys: set[str]) -> None:
    rng = np.random.default_rng(seed)
    deal = full_deal(rules, rng)
    credits = 100 if rules.stakes == "table" else 0
    assert_dealt(one_game(rules, deal, credits=credits), deal)
    part = {key: value for key, value in deal.items() if key in given_keys or key not in CARDS}
    if "hands" in part:
        part["hands"] = [text if rng.random() < 0.5 else "" for text in deal["hands"]]
    if "stock" in part:
        part["stock"] = " ".join(deal["stock"].split()[: int(rng.integers(0, 4))])
    batch = one_game(rules, part, credits=credits)
    pack, state = rules.cards, batch.states[0]
    assert_cards_partition(rules, batch.states)
    for seat, text in enumerate(part.get("hands", [])):
        assert mask_of(pack.cards(text)) & ~int(state["first_hand"][seat]) == 0
    stock = pack.cards(part.get("stock", ""))
    assert state["stock"][state["stock_next"] :][: len(stock)].tolist() == stock
    if "turn_up" in part:
        assert state["turn_up"] == pack.card(part["turn_up"])
    again = one_game(rules, part, credits=credits)
    assert again.states.tobytes() == batch.states.tobytes()  # the rest is drawn from the address
    assert play_checked(batch, rng) == 1


def test_what_is_not_given_is_random() -> None:
    batch = GameBatch("bestia", 500, num_players=4, seed=1)
    batch.reset(deals=[{"turn_up": "5h", "hands": ["", "Kh 7s 2d", "", ""]}] * 500)
    pack = make("bestia", 4).cards
    assert len({int(hand) for hand in batch.states["hand"][:, 0]}) > 400
    assert set(batch.states["hand"][:, 1].tolist()) == {mask_of(pack.cards("Kh 7s 2d"))}
    assert set(batch.states["dealer"].tolist()) == {0, 1, 2, 3}
    seen = np.array(
        [np.count_nonzero(batch.states["hand"][:, 0] >> np.uint64(card) & np.uint64(1)) for card in range(40)]
    )
    given_cards = pack.cards("Kh 7s 2d 5h")
    assert not seen[given_cards].any()
    others = np.delete(seen, given_cards)
    assert ((others - others.mean()) ** 2 / others.mean()).sum() < 80  # chi-squared, 35 degrees of freedom
    batch.reset(deals=[{"dealer": 0}] * 500)
    assert len({int(hand) for hand in batch.states["hand"][:, 1]}) > 400


def test_rows_without_a_deal_are_dealt_as_ever() -> None:
    batch, plain = GameBatch("bestia", 3, seed=8), GameBatch("bestia", 3, seed=8)
    batch.reset(deals=[None, {"carry": 6}, {}])
    plain.reset()
    for row in (0, 2):
        assert batch.states[row : row + 1].tobytes() == plain.states[row : row + 1].tobytes()
    assert batch.states["carry"].tolist() == [0, 6, 0]


def test_a_set_up_deal_is_the_first_of_its_session() -> None:
    session = SessionConfig(num_deals=2, carry=30, dealer=1)
    batch = GameBatch("bestia", 1, num_players=4, seed=1, autoreset=False, session=session)
    batch.reset(deals=[{"carry": 6, "dealer": 3, "turn_up": "5h"}])
    for _ in range(8):
        batch.step([0])
    state = batch.states[0]
    assert (state["deal"], state["dealer"], state["carry"]) == (1, 0, 9)
    assert state["pot"] == 12


# --- a short stock --------------------------------------------------------------------------------------------------


def short_of_cards(plans: list[str], deal: dict[str, Any] | None = None) -> GameBatch:
    """Ten seats at a pack of 40: three draw the whole stock of nine cards, a fourth waits for the first reshuffle."""
    game = deal if deal is not None else {}
    batch = one_game(make("bestia", 10), {"dealer": 0, "turn_up": "5h"} | game | {"reshuffles": plans})
    say(batch, *["pass"] * 10)  # then seats 1, 2 and 3 stay out for good, 4, 5 and 6 draw the stock
    say(batch, *["pass"] * 3, *["draw"] * 3)
    assert batch.states["stock_next"][0] == batch.states["stock_end"][0]
    return batch


def folded(batch: GameBatch) -> list[int]:
    return cards_of(int(np.bitwise_or.reduce(batch.states["hand"][0, 1:4])))


def test_reshuffles_come_out_as_planned() -> None:
    pack = make("bestia", 10).cards
    cards = folded(short_of_cards([]))
    plan = [cards[index] for index in np.random.default_rng(1).permutation(9)]
    batch = short_of_cards([pack.texts(plan)])
    for turn, seat in enumerate((7, 8, 9)):
        say(batch, "draw")
        assert batch.states["hand"][0, seat] == mask_of(plan[3 * turn : 3 * turn + 3])
        assert batch.states["reshuffles"][0] == 1
        assert_cards_partition(make("bestia", 10), batch.states)


@pytest.mark.parametrize("fault", ["short", "long", "other", "all"])
def test_a_planned_stock_of_other_cards_loses_no_card(fault: str) -> None:
    """Which cards a reshuffle takes is known only when it comes: a plan that does not fit is not dealt from."""
    rules = make("bestia", 10)
    pack, cards = rules.cards, folded(short_of_cards([]))
    strange = next(card for card in range(40) if card not in cards)
    plan = {"short": cards[:-1], "long": [*cards, strange], "other": [*cards[:-1], strange], "all": list(range(40))}[
        fault
    ]
    batch, random = short_of_cards([pack.texts(plan)]), short_of_cards([])
    for games in (batch, random):
        while games.actor[0] >= 0:
            games.step(games.random_actions())
            assert_cards_partition(rules, games.states)
            assert_decision_is_open(games)
    assert batch.rewards.tolist() == random.rewards.tolist()


def test_a_slightly_different_set_is_reshuffled_alike() -> None:
    """Two games at one address fold hands that differ by a card: the others come in the same order."""
    pack = make("bestia", 10).cards
    order = pack.texts(card for card in range(40) if pack.text(card) != "5h").split()
    hands = [" ".join(order[3 * seat : 3 * seat + 3]) for seat in range(10)]
    swapped = [*hands]
    swapped[1], swapped[9] = " ".join([*order[3:5], order[29]]), " ".join([order[27], order[28], order[5]])
    stocks = []
    for dealt in (hands, swapped):
        batch = short_of_cards([], {"hands": dealt})
        say(batch, "draw")
        stocks.append(batch.states["stock"][0, : batch.states["stock_end"][0]].tolist())
    common = set(stocks[0]) & set(stocks[1])
    assert len(common) == 8
    assert stocks[0] != sorted(stocks[0])
    assert [card for card in stocks[0] if card in common] == [card for card in stocks[1] if card in common]


def test_the_discards_come_back_when_the_folded_hands_are_used_up() -> None:
    rules = make("bestia", 10)
    batch = one_game(rules, {"dealer": 0})
    say(batch, *["pass"] * 10, *["draw"] * 3)
    discards = int(batch.states["discards"][0])
    assert len(cards_of(discards)) == 9
    say(batch, "draw")
    assert batch.states["reshuffles"][0] == 1
    assert int(batch.states["hand"][0, 4]) & ~discards == 0  # nobody had folded, and his own three do not come back
    assert int(batch.states["discards"][0]) == int(batch.states["first_hand"][0, 4])
    assert int(stock_cards(batch.states)[0]) & ~discards == 0


# --- bad input ------------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    ({"turn_up": "5h 6h"}, "turn_up='5h 6h': 2 cards; at most 1"),
    ({"turn_up": 5}, "turn_up=5; allowed are card texts"),
    ({"turn_up": "8h"}, "turn_up='8h': card '8h' is not in the pack italian40: ranks A 3 K Q J 7 6 5 4 2, suits cdhs"),
    ({"turn_up": "zz"}, "card 'zz' is not in the pack"),
    ({"turn_up": "2c", "hands": ["2c 3c 4c", "", "", "", ""]}, "card 2c is given twice"),
    ({"hands": ["2c 2c 3c", "", "", "", ""]}, "hands[0]='2c 2c 3c': card 2c is named twice"),
    ({"hands": ["", "2c", "", "", ""]}, "hands[1]='2c': 1 cards; seat 1 is dealt 3"),
    ({"hands": ["", "2c 3c 4c 5c", "", "", ""]}, "hands[1]='2c 3c 4c 5c': 4 cards; at most 3"),
    ({"hands": ["2c 3c 4c"]}, "hands=['2c 3c 4c']; allowed is a list of 5 values, one a seat"),
    ({"hands": "2c 3c 4c"}, "hands='2c 3c 4c'; allowed is a list of 5 values"),
    ({"hands": None}, "hands=None; allowed is a list of 5 values"),
    ({"hands": [["2c", "3c", "4c"], "", "", "", ""]}, "hands[0]=['2c', '3c', '4c']; allowed are card texts"),
    ({"hands": ["2c 3c 4c", "4c 5c 6c", "", "", ""]}, "card 4c is given twice"),
    ({"hands": ["2c 3c 4c", "", "", "", ""], "stock": "4c"}, "card 4c is given twice"),
    ({"hands": ["2c 3c 4c"] * 5, "entitled": [False, True, True, True, True], "dealer": 1}, "hands[0]"),
    ({"stock": "2c 2c"}, "stock='2c 2c': card 2c is named twice"),
    ({"stock": ["2c"]}, "stock=['2c']; allowed are card texts"),
    ({"stock": " ".join(f"{rank}{suit}" for rank in "A3KQJ76" for suit in "cdhs")}, "28 cards; at most 24"),
    ({"extra_hand": "2c 3c 4c"}, "extra_hand='2c 3c 4c': 3 cards; the rules lay 0"),
    ({"reshuffles": "2c"}, "reshuffles='2c'; allowed is a list of at most 4 stocks"),
    ({"reshuffles": None}, "reshuffles=None; allowed is a list"),
    ({"reshuffles": [""]}, "reshuffles[0]=''; allowed is a stock of at least one card"),
    ({"reshuffles": ["2c", "3c 3c"]}, "reshuffles[1]='3c 3c': card 3c is named twice"),
    ({"reshuffles": ["2c"] * 5}, "allowed is a list of at most 4 stocks"),
    ({"dealer": 5}, "dealer=5; allowed are integers from 0 to 4"),
    ({"dealer": -1}, "dealer=-1; allowed are integers from 0 to 4"),
    ({"dealer": True}, "dealer=True; allowed are integers"),
    ({"dealer": "1"}, "dealer='1'; allowed are integers"),
    ({"dealer": None}, "dealer=None; allowed are integers"),
    ({"carry": -1}, "carry=-1; allowed are integers from 0 to"),
    ({"carry": 2**53}, "carry=9007199254740992; allowed are integers from 0 to"),
    ({"carry": 1.5}, "carry=1.5; allowed are integers"),
    ({"carry": "typical"}, "carry='typical'; allowed are integers"),
    ({"forced": True}, "forced=True; rules with forced_deal=never have no forced deals"),
    ({"forced": "no"}, "forced='no'; allowed are True and False"),
    ({"half_ante": 1}, "half_ante=1; rules without best_principal_half_ante have no half antes"),
    ({"credits": [1, 2]}, "credits=[1, 2]; allowed is a list of 5 values"),
    ({"credits": 5}, "credits=5; allowed is a list of 5 values"),
    ({"credits": [1.5] * 5}, "credits=1.5; allowed are integers from"),
    ({"entitled": [True, False, False, False, False], "dealer": 0}, "allowed are two or more entitled seats"),
    ({"entitled": [False, True, True, True, True], "dealer": 0}, "the dealer (0) among them"),
    ({"entitled": [True] * 4}, "allowed is a list of 5 values"),
    ({"entitled": [2, 1, 1, 1, 1]}, "entitled=2; allowed are True and False"),
]


@pytest.mark.parametrize(("deal", "reason"), BAD, ids=lambda part: repr(part)[:60])
def test_a_deal_that_contradicts_itself_is_refused_and_nothing_changes(deal: dict[str, Any], reason: str) -> None:
    batch = GameBatch("bestia", 3, seed=1)
    batch.step(batch.random_actions())
    kept = snapshot(batch)
    with pytest.raises(RecordError, match=re.escape(reason)):
        batch.reset(deals=[{"carry": 3}, deal, None])
    assert snapshot(batch) == kept
    with pytest.raises(BestiaError, match=re.escape(reason)):
        batch.reset(rows=[2], deals=[deal])
    assert snapshot(batch) == kept


@pytest.mark.parametrize(
    ("variant", "deal", "reason"),
    [
        ("bestia_buco", {"extra_hand": "2c 3c"}, "extra_hand='2c 3c': 2 cards; the rules lay 3"),
        ("bestia_roman", {"half_ante": 9}, "half_ante=9; allowed are integers from 0 to 4"),
        ("bestia_five", {"dealer": 0, "hands": ["2c 3c 4c 5c 6c", "", "", "", ""]}, "5 cards; seat 0 is dealt 4"),
        ("bestia_five", {"dealer": 1, "hands": ["2c 3c 4c 5c", "", "", "", ""]}, "4 cards; seat 0 is dealt 5"),
        ("tippen", {"carry": 0, "forced": False}, "exactly when carry is 0, here 0"),
        ("tippen", {"carry": 3, "forced": True}, "exactly when carry is 0, here 3"),
        ("tippen", {"turn_up": "6h"}, "card '6h' is not in the pack piquet32"),
        ("julepe", {"turn_up": "2h"}, "card '2h' is not in the pack italian36"),
        ("online3", {"credits": [5, 5, 5, 5, 0]}, "credits=0; allowed are integers from 1"),
    ],
)
def test_deals_that_do_not_fit_the_rules(variant: str, deal: dict[str, Any], reason: str) -> None:
    batch = GameBatch(variant, 1, seed=1, num_players=4 if variant == "tippen" else 5)
    kept = snapshot(batch)
    with pytest.raises(RecordError, match=re.escape(reason)):
        batch.reset(deals=[deal])
    assert snapshot(batch) == kept


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_an_unknown_key_warns_and_is_ignored(rules: RamsRules) -> None:
    batch, plain = GameBatch(rules, 1, seed=1), GameBatch(rules, 1, seed=1)
    with pytest.warns(UserWarning, match=rf"deal key 'turnup' is not known to {rules.variant}.*known are .*turn_up"):
        batch.reset(deals=[{"turnup": "5h"}])
    plain.reset()
    assert snapshot(batch) == snapshot(plain)


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_text_gives_nothing(empty: str | None) -> None:
    batch = one_game(make("bestia", 4), {"turn_up": empty, "stock": empty, "extra_hand": empty, "hands": [""] * 4})
    assert_cards_partition(make("bestia", 4), batch.states)
    rng = np.random.default_rng(1)
    while batch.actor[0] >= 0:
        batch.step(varied_actions(batch.legal(), batch.layout, rng))
    assert batch.done[0]
