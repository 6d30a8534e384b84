"""The rules of thumb in scripted positions: what docs/agents.md says, hand by hand."""

from __future__ import annotations

import pytest

from agents.thumb import STYLES, Thresholds, ThumbPolicy
from bestia_env import GameBatch, make_policy, make_rules


def position(rules, deal, actions=""):
    """A batch of one game after some actions, comma between them: ``knock, play Ah``."""
    batch = GameBatch(rules, 1, seed=1, autoreset=False)
    batch.reset(deals=[deal])
    for text in filter(None, (word.strip() for word in actions.split(","))):
        batch.step([batch.layout.action(text, int(batch.view()["exchange_cards"][0]))])
    return batch


def decides(batch, policy="medium"):
    """What an agent does next, as a text."""
    view = batch.view()
    action = make_policy(policy, batch.rules).act(view, batch.keys())[0]
    return batch.layout.text(int(action), int(view["exchange_cards"][0]))


BESTIA = make_rules("bestia", 3)


# seat 1 speaks first; trumps are hearts and the turn-up is 5h
@pytest.mark.parametrize(
    ("hand", "who_knocks"),
    [
        ("Ah 7s 2d", "loose medium tight"),
        ("3h 7s 2d", "loose medium tight"),
        ("Kh 7s 2d", "loose medium tight"),
        ("Qh 7s 2d", "loose medium"),
        ("Jh 7s 2d", "loose medium"),
        ("7h 7s 2d", "loose"),
        ("2h As Ad", "loose"),
        ("As 3s Ad", ""),
        ("4h 2h 2d", "loose medium"),
        ("Jh 2h 2d", "loose medium tight"),
        ("6h 4h 2h", "loose medium tight"),
    ],
)
def test_who_knocks(hand, who_knocks):
    batch = position(BESTIA, {"dealer": 0, "turn_up": "5h", "hands": ["6c 7c 4c", hand, "6d 7d 4d"]})
    knocking = {name for name in STYLES if decides(batch, name) == "knock"}
    assert knocking == {"always", *who_knocks.split()}


@pytest.mark.parametrize(
    ("said", "who_draws"),
    [
        ("pass, pass, pass", "always loose medium tight"),  # the pot lies there
        ("pass, knock, pass", "always loose medium"),
        ("pass, knock, knock", "always loose"),
    ],
)
def test_who_draws(said, who_draws):
    deal = {"dealer": 0, "carry": 6, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"]}
    batch = position(BESTIA, deal, said)
    drawing = {name for name in STYLES if decides(batch, name) == "draw"}
    assert drawing == set(who_draws.split())


def test_a_free_pot_is_taken_whatever_the_hand():
    deal = {"dealer": 0, "carry": 6, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"]}
    last_draw = position(BESTIA, deal, "pass, pass, pass, pass, pass")
    assert [decides(last_draw, name) for name in ("tight", "medium", "never")] == ["draw", "draw", "pass"]
    tippen = make_rules("tippen", 3)
    weak = {"dealer": 0, "carry": 6, "turn_up": "9h", "hands": ["7c 8c 9c", "7d 8d 9d", "7s 8s 9s"]}
    assert decides(position(tippen, weak, "pass")) == "pass"
    assert [decides(position(tippen, weak, "pass, pass"), name) for name in ("tight", "never")] == ["knock", "pass"]
    assert decides(position(tippen, weak, "pass, knock")) == "pass"
    # those who passed could still join the first who goes in, so a mauscheln pot is never free
    hands = ["7c 8c 9c 10c", "7d 8d 9d 10d", "7s 8s 9s 10s"]
    assert (
        decides(position(make_rules("mauscheln", 3), {"dealer": 0, "turn_up": "7h", "hands": hands}, "pass, pass"))
        == "pass"
    )


def test_nothing_at_risk_is_taken_too():
    rules = make_rules("online3", 3)
    deal = {"dealer": 0, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"], "credits": [500, 500, 60]}
    assert decides(position(rules, deal)) == "exchange 2c Qc Kc"
    assert decides(position(rules, deal | {"credits": [500, 500, 500]})) == "pass"


def test_buco():
    rules = make_rules("bestia_buco", 4)
    deal = {"dealer": 0, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d", "6s 7s 4s"]}
    assert decides(position(rules, deal, "pass")) == "pass"  # two seats may still go in
    assert decides(position(rules, deal, "pass, pass")) == "buco"  # the dealer alone
    assert decides(position(rules, deal, "pass, knock, pass")) == "buco"  # one is in, nobody follows
    assert decides(position(rules, deal, "knock, knock, pass")) == "pass"
    strong = deal | {"hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d", "Ah 7s 4s"]}
    assert decides(position(rules, strong, "pass, pass")) == "knock"


def test_exchange_while_declaring_keeps_trumps_and_side_aces():
    rules = make_rules("bestia_five", 4)
    hands = ["6c 7c 4c 2c", "Jh As 3s 7d 2d", "4h 2h Kd Qd 6d", "6s 7s 4s 2s 5s"]
    deal = {"dealer": 0, "turn_up": "5h", "hands": hands}
    batch = position(rules, deal)
    assert decides(batch) == "exchange 2d 7d 3s"
    assert decides(batch, "always") == "exchange 2d 7d 3s"
    assert decides(batch, "never") == "pass"
    assert decides(position(rules, deal, "exchange")) == "exchange 6d Qd Kd"
    assert decides(position(rules, deal, "exchange, exchange"), "always") == "exchange 2s 4s 5s 6s"  # four at most


def test_short_stock_limits_the_exchange():
    rules = make_rules("tippen_exchange", 3, recycle="none")
    hands = ["Kc Qc Jc", "Kd Qd 9d", "Ks Qs 9s"]
    batch = position(rules, {"dealer": 0, "carry": 3, "turn_up": "8h", "hands": hands}, "knock, knock, knock")
    batch.states["stock_next"] = batch.states["stock_end"] - 4
    assert decides(batch) == "exchange 9d Qd Kd"
    batch.step([batch.layout.action("exchange 9d Qd Kd", int(batch.view()["exchange_cards"][0]))])
    assert decides(batch) == "exchange 9s"  # one card is left: the cheapest goes


def test_julepe_dealer_lays_off_one_of_six():
    rules = make_rules("julepe", 3)
    hands = ["Kh 7h As Ac Ad", "4c 5c 6c 7c Jc", "4d 5d 6d 7d Jd"]
    batch = position(rules, {"dealer": 0, "turn_up": "5h", "hands": hands}, "pass, pass")
    assert decides(batch) == "exchange Ac"  # nothing is unwanted, but one must go: the cheapest
    poor = ["4s 5s 6s 7s Js", "4c 5c 6c 7c Jc", "4d 5d 6d 7d Jd"]
    batch = position(rules, {"dealer": 0, "turn_up": "5h", "hands": poor}, "pass, pass")
    assert decides(batch) == "exchange 4s 5s 6s 7s Js"  # a free pot; the turn-up stays
    assert decides(position(rules, {"dealer": 0, "turn_up": "5h", "hands": poor}, "exchange, pass")) == "pass"


@pytest.mark.parametrize(
    ("hand", "first", "joins"),
    [("Ah Kc 7c 8c", "pass", "knock"), ("Ah 7h 7c 8c", "knock", "knock"), ("9h 7h 7c 8c", "pass", "knock"),
     ("9h 8h 7h 8c", "knock", "knock"), ("9h 7c 8c 9c", "pass", "pass")],
)  # fmt: skip
def test_mauscheln_asks_for_the_quota(hand, first, joins):
    rules = make_rules("mauscheln", 3)
    deal = {"dealer": 0, "turn_up": "Qh", "hands": ["Qc Jc 10c Kd", hand, "7d 8d 9d 10d"]}
    assert decides(position(rules, deal)) == first
    deal = {"dealer": 0, "turn_up": "Qh", "hands": ["Qc Jc 10c Kd", "7d 8d 9d 10d", hand]}
    assert decides(position(rules, deal, "knock")) == joins


def test_roman_exchanges_once_then_knocks():
    rules = make_rules("bestia_roman", 4)
    hands = ["6c 7c 4c 2c 5c", "Jh As 3s 7d 2d", "Kd Qd 6d 4d 5d", "Ah 3h 2h 4s 2s"]
    deal = {"dealer": 0, "turn_up": "5h", "hands": hands, "stock": "6s 7s Js"}
    batch = position(rules, deal)
    assert decides(batch) == "exchange 2d 7d 3s"
    assert decides(batch, "always") == "knock"
    batch = position(rules, deal, "exchange 2d 7d 3s, pass")
    assert decides(batch) == "knock"  # three trumps: at once
    batch.step([batch.layout.action("pass")])
    batch.step([batch.layout.action("exchange 6c 7c", int(batch.view()["exchange_cards"][0]))])
    assert decides(batch) == "knock"  # it has exchanged
    assert decides(batch, "never") == "pass"


# --- card play ------------------------------------------------------------------------------------------------------

FORCED = {"forced_deal": "bare_ante", "second_chance": False}  # with carry 0 all play the hands they were dealt


def play_position(hands, said="", turn_up="5h", **changes):
    rules = make_rules("bestia", len(hands), **FORCED, **changes)
    return position(rules, {"dealer": 0, "carry": 0, "turn_up": turn_up, "hands": hands}, said)


@pytest.mark.parametrize(
    ("mine", "turn_up", "card"),
    [
        ("Ah 3s 2d", "5h", "Ah"),  # nobody beats the ace of trumps
        ("3h As 2d", "5h", "As"),  # the ace may be out: the dearest side card
        ("3h As 2d", "Ah", "3h"),  # the ace is the turn-up
        ("3h Ah 2d", "5h", "Ah"),
        ("Kh 7h 2d", "5h", "2d"),
        ("Kh 7h 4h", "5h", "Kh"),  # trumps only: the highest
        ("Ks Kc 2h", "5h", "Kc"),  # among equals the lowest id
        ("3s Kc 2h", "5h", "3s"),
    ],
)
def test_leads(mine, turn_up, card):
    assert decides(play_position(["6c 7c 4c", mine, "6d 7d 4d"], turn_up=turn_up)) == f"play {card}"


def test_leads_a_trump_once_the_higher_ones_are_gone():
    hands = ["6c Ah 4c 2c", "As 3h Kh Kd", "6d 7d 4d Qd"]
    four = {"hand_size": 4, "ante": 4}
    assert decides(play_position(hands, **four)) == "play As"
    # seat 0 ruffs the king of diamonds with the ace and leads a club, which seat 1 ruffs with the king
    said = "play Kd, play 7d, play Ah, play 4c, play Kh, play 4d"
    assert decides(play_position(hands, said, **four)) == "play 3h"


@pytest.mark.parametrize(
    ("mine", "led", "card"),
    [
        ("As Ks 2d", "Js", "Ks"),  # the cheapest that wins
        ("7s 2s Ah", "Js", "2s"),  # must follow, cannot win: the cheapest
        ("7s 2s Ah", "6s", "7s"),
        ("Ah 2h Kd", "Js", "2h"),  # must ruff: the cheapest trump wins
        ("Kd 2c Ac", "Js", "2c"),  # cannot win: the cheapest of all
        ("7h 2h As", "Kh", "2h"),  # trumps led, cannot win
        ("3h 2h As", "Kh", "3h"),
        ("3h 2h As", "Ah", "2h"),  # the three is kept: nobody beats it from now on
    ],
)
def test_follows(mine, led, card):
    hands = ["6c 7c 4c", f"{led} 6d 7d", mine]
    if led in mine.split() or led == "6s":
        hands[1] = f"{led} 4d 7d"
    assert decides(play_position(hands, f"play {led}")) == f"play {card}"


def test_third_hand_does_not_overtake_for_nothing():
    hands = ["3s 2s Kd", "Js 6d 7d", "As 6c 7c"]
    assert decides(play_position(hands, "play Js, play As")) == "play 2s"
    # a ruff that would not win is not wasted where the rules leave the choice
    hands = ["4h Kd 2c", "Js 6d 7d", "7h 6c 7c"]
    batch = play_position(hands, "play Js, play 7h", must_head=True, ruff="overtrump_else_any_card")
    assert decides(batch) == "play 2c"


def test_card_play_on_random_deals():
    """The last to play takes the trick with the cheapest winner or throws the cheapest; the top trump is led."""
    rules = make_rules("bestia", 5, **FORCED)
    pack = rules.cards
    batch = GameBatch(rules, 400, seed=9, autoreset=False)
    policy = make_policy("medium", rules)
    last, led = 0, 0
    while (batch.actor >= 0).any():
        views, states = batch.view(), batch.states
        actions = policy.act(views, batch.keys())
        for view, state, action in zip(views, states, actions, strict=True):
            trump = int(state["turn_up"]) // pack.num_ranks
            card = int(action) - batch.layout.first_card
            legal = [int(a) - batch.layout.first_card for a in view["legal"].nonzero()[0]]
            table = [int(c) for c in view["plays"][view["trick"], :5] if c >= 0]

            def worth(c, trump=trump):
                return c % pack.num_ranks + pack.num_ranks * (c // pack.num_ranks == trump)

            def wins(c, table=table, view=view, trump=trump):
                suit = int(view["plays"][view["trick"], view["leader"]]) // pack.num_ranks
                order = {s: 1 + (s == trump) for s in (suit, trump)}
                value = [(order.get(t // pack.num_ranks, 0), t % pack.num_ranks) for t in [*table, c]]
                return max(value) == value[-1]

            if len(table) == 4:
                last += 1
                winning = [c for c in legal if wins(c)]
                assert worth(card) == min(worth(c) for c in winning or legal)
            elif not table:
                ace = pack.num_ranks * (trump + 1) - 1
                top = ace - int(state["turn_up"] == ace)  # nobody owns the turn-up
                if top in legal:
                    led += 1
                    assert card == top
        batch.step(actions)
    assert last == 400 * 3
    assert led > 50


def test_own_thresholds():
    only_aces = ThumbPolicy("aces", Thresholds(top_ranks=(0, 1, 1, 1), unseen_against=-1, takes_what_is_free=False))
    hands = ["6c 7c 4c", "3h Kh 2d", "Ah 7d 4d"]
    batch = position(BESTIA, {"dealer": 0, "turn_up": "5h", "hands": hands})
    assert decides(batch, only_aces) == "pass"
    batch.step([batch.layout.action("pass")])
    assert decides(batch, only_aces) == "knock"
