"""The tips and the player of each game in scripted positions: what docs/agents.md says, rule by rule."""

from __future__ import annotations

from fractions import Fraction

import pytest

import bestia_env
from agents import agent_names, make_agent, thumb_names
from agents.games import PLAYERS
from bestia_env import BestiaError, make_rules
from tests.test_agents_hands import BESTIA, decides, play_position, position

# --- last_seat ------------------------------------------------------------------------------------------------------


def test_last_seat_takes_what_is_free_and_nothing_else():
    tippen = make_rules("tippen", 3)
    best = {"dealer": 0, "carry": 6, "turn_up": "9h", "hands": ["Jh Ad 9d", "Ah Kh Qh", "7s 8s 9s"]}
    assert decides(position(tippen, best), "last_seat") == "pass"  # three sure tricks
    assert decides(position(tippen, best, "knock, pass"), "last_seat") == "pass"
    assert decides(position(tippen, best, "pass, pass"), "last_seat") == "knock"
    deal = {"dealer": 0, "carry": 6, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"]}
    assert decides(position(BESTIA, deal, "pass, pass, pass, pass"), "last_seat") == "pass"  # the dealer may yet draw
    assert decides(position(BESTIA, deal, "pass, pass, pass, pass, pass"), "last_seat") == "draw"
    poor = {"dealer": 0, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"], "credits": [500, 500, 60]}
    assert decides(position(make_rules("online3", 3), poor), "last_seat").startswith("exchange")  # nothing at risk


# --- the tips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("carry", [0, 300])  # T1 asks for no pot
@pytest.mark.parametrize(
    ("hand", "says"),
    [("Ah 7s 2d", "knock"), ("3h 7s 2d", "knock"), ("Kh 7s 2d", "pass"), ("Kh Qh Jh", "pass"), ("As 3s Ad", "pass")],
)
def test_tip_1_ace_or_three(hand, says, carry):
    deal = {"dealer": 0, "carry": carry, "turn_up": "5h", "hands": ["6c 7c 4c", hand, "6d 7d 4d"]}
    assert decides(position(BESTIA, deal), "tips") == says
    if says == "knock":
        assert decides(position(BESTIA, deal | {"dealer": 1}, "knock, knock"), "tips") == "knock"  # against any number


def test_tip_1_in_other_packs_means_the_two_highest():
    rules = make_rules("tippen", 3)
    for hand, says in (("Ah 7s 8d", "knock"), ("Kh 7s 8d", "knock"), ("Qh 7s 8d", "pass")):
        deal = {"dealer": 0, "carry": 300, "turn_up": "9h", "hands": ["7c 8c 9c", hand, "7d 9d 10d"]}
        assert decides(position(rules, deal), "tips") == says


@pytest.mark.parametrize(("carry", "says"), [(3, "draw"), (4, "pass"), (60, "pass")])
def test_tip_2_the_doctor_is_for_small_pots(carry, says):
    deal = {"dealer": 0, "carry": carry, "turn_up": "5h", "hands": ["6c 7c 4c", "2c Kc Qc", "6d 7d 4d"]}
    assert decides(position(BESTIA, deal, "pass, knock, pass"), "tips") == says  # the ante is 3
    passed = deal | {"hands": ["6c 7c 4c", "Ah Kc Qc", "6d 7d 4d"]}  # T1 speaks of knocking
    assert decides(position(BESTIA, passed, "pass, knock, pass"), "tips") == says
    capped = make_rules("bestia", 3, penalty_cap=6)
    assert decides(position(capped, deal, "pass, knock, pass"), "tips") == "draw"  # a bestia cannot cost more


def test_tip_3_late_seats_see_how_many_play():
    deal = {"dealer": 0, "carry": 3, "turn_up": "5h", "hands": ["Jh 7c 4c", "Qh Kc Qc", "2h 7d 4d"]}
    assert decides(position(BESTIA, deal), "tips") == "pass"
    assert decides(position(BESTIA, deal, "pass"), "tips") == "pass"  # the dealer has yet to speak
    assert decides(position(BESTIA, deal, "pass, pass"), "tips") == "knock"
    assert decides(position(BESTIA, deal, "pass, knock"), "tips") == "knock"
    assert decides(position(BESTIA, deal, "knock, knock"), "tips") == "pass"  # two are in
    assert decides(position(BESTIA, deal | {"carry": 4}, "pass, knock"), "tips") == "pass"  # T2
    buco = make_rules("bestia_col_buco", 3)
    trumpless = deal | {"hands": ["Js 7c 4c", "Qh Kc Qc", "2h 7d 4d"]}
    assert decides(position(buco, trumpless, "pass, knock"), "tips") == "buco"
    assert decides(position(buco, trumpless | {"carry": 90}, "pass, knock"), "tips") == "pass"
    assert decides(position(buco, trumpless | {"carry": 90}, "pass, pass"), "tips") == "knock"  # it lies there


# --- julepe ---------------------------------------------------------------------------------------------------------

JULEPE = make_rules("julepe", 5)
SIDE = ["4c 5c 6c 7c Jc", "4d 5d 6d 7d Jd", "Qc Kc 3c Ac Qd", "Kd 3d Ad Qs Ks"]


@pytest.mark.parametrize(
    ("trumps", "goes_in"),
    [  # against 0, 1, 2, 3 rivals, and as the dealer, who holds the turn-up 5h as well, against 1
        ("Ah", "yes yes yes no yes"),
        ("3h", "yes yes no no yes"),
        ("Kh", "yes no no no yes"),
        ("4h", "yes no no no no"),
        ("Ah 4h", "yes yes yes yes yes"),
        ("Kh 7h", "yes yes yes no yes"),
        ("Qh 7h", "yes yes no no yes"),
        ("7h 6h", "yes no no no yes"),
        ("7h 6h 4h", "yes yes yes yes yes"),
        ("", "no no no no no"),
    ],
)
def test_julepe_asks_for_more_against_more(trumps, goes_in):
    mine = " ".join([*trumps.split(), *"4s 5s 6s 7s Js".split()][:5])

    def says(place, said):
        hands = [*SIDE[:place], mine, *SIDE[place:]]
        return decides(position(JULEPE, {"dealer": 0, "turn_up": "5h", "hands": hands}, said), "julepe")

    told = [
        says(4, "pass, pass, pass"),  # the dealer has yet to speak: half a rival, rounded down
        says(2, "pass"),  # three have
        says(1, ""),  # four have
        says(4, "exchange, exchange, exchange"),
        says(0, "exchange, pass, pass, pass"),
    ]
    assert ["no" if said == "pass" else "yes" for said in told] == goes_in.split()


def test_julepe_dealer_takes_the_turn_up_and_a_free_pot():
    deal = {"dealer": 0, "turn_up": "5h", "hands": ["Kh 4s 5s 6s 7s", *SIDE]}
    assert decides(position(JULEPE, deal, "exchange, pass, pass, pass"), "julepe") == "exchange 4s 5s 6s 7s"
    deal = {"dealer": 0, "turn_up": "5h", "hands": ["Js 4s 5s 6s 7s", *SIDE]}
    assert decides(position(JULEPE, deal, "exchange, pass, pass, pass"), "julepe") == "pass"
    assert decides(position(JULEPE, deal, "pass, pass, pass, pass"), "julepe") == "exchange 4s 5s 6s 7s Js"


def julepe_lead(hand, name):
    deal = {"dealer": 0, "turn_up": "5h", "hands": [SIDE[0], hand, SIDE[1], SIDE[2], "6h Kd Qs Js 7s"]}
    return decides(position(JULEPE, deal, "exchange, exchange, pass, pass, pass"), name)


def test_julepe_saves_two_trumps():
    assert julepe_lead("Ah 4h As 5s 6s", "julepe") == "play As"
    assert julepe_lead("Ah 4h As 5s 6s", "medium") == "play Ah"
    assert julepe_lead("Ah 4h Ks 5s 6s", "julepe") == "play Ah"  # no ace at the side
    assert julepe_lead("Ah 4h 7h As 5s", "julepe") == "play Ah"  # three
    assert julepe_lead("Ah As Ks 5s 6s", "julepe") == "play Ah"  # one


# --- mauscheln ------------------------------------------------------------------------------------------------------

MAUSCHELN = make_rules("mauscheln", 4)


@pytest.mark.parametrize(
    ("trumps", "opens", "opens_late", "joins"),
    [
        ("Ah", True, True, True),
        ("Kh", False, False, True),
        ("Qh", False, False, True),
        ("Jh", False, False, False),
        ("Qh Jh", True, True, True),
        ("Jh 7h", False, True, True),
        ("10h 7h", False, True, True),
        ("9h 7h", False, False, True),
        ("10h 9h 7h", True, True, True),
        ("", False, False, False),
    ],
)
def test_mauscheln_opens_for_two_tricks_and_joins_for_one(trumps, opens, opens_late, joins):
    mine = " ".join([*trumps.split(), *"7s 8s 9s Js".split()][:4])
    others = ["7c 8c 9c Jc", "7d 8d 9d Jd", "Qc Kc Qd Kd"]

    def says(place, said):
        hands = [*others[:place], mine, *others[place:]]
        return decides(position(MAUSCHELN, {"dealer": 0, "turn_up": "8h", "hands": hands}, said), "mauscheln")

    told = [says(1, ""), says(3, "pass, pass"), says(2, "knock")]
    assert told == ["knock" if goes_in else "pass" for goes_in in (opens, opens_late, joins)]
    assert says(1, "pass, pass, knock, pass") == told[2]  # also late


# --- roman ----------------------------------------------------------------------------------------------------------

ROMAN = make_rules("bestia_roman", 5)
WEAK = ["6c 7c 4c 2c 5c", "2s 4s 5s 6s 7s", "Kd Qd 6d 4d 5d", "Js Jc Jd Qs Qc"]


def roman_at(mine, place, said):
    hands = [*WEAK[:place], mine, *WEAK[place:]]
    return position(ROMAN, {"dealer": 0, "turn_up": "Jh", "hands": hands}, said)


@pytest.mark.parametrize(
    ("mine", "place", "said", "says"),
    [
        # two or more have yet to speak and would be forced in
        ("Ah 3s 7d 2d Ks", 1, "", "knock"),
        ("5h 4h 7d 2d Ks", 1, "", "knock"),
        ("5h 4h 7d 2d Ks", 3, "pass, pass", "knock"),
        ("3h As 7d 2d Ks", 1, "", "exchange 2d 7d Ks"),
        ("Kh 3s 7d 2d Ks", 1, "", "exchange 2d 7d Ks 3s"),
        ("Qh 3s 7d 2d Ks", 1, "", "pass"),  # four to come are two rivals
        ("Qh 3s 7d 2d Ks", 2, "pass", "exchange 2d 7d Ks 3s"),
        ("As 3s 7d 2d Ks", 2, "pass", "pass"),
        # not so many: first the exchange
        ("Ah 3s 7d 2d Ks", 4, "pass, pass, pass", "exchange 2d 7d Ks 3s"),
        ("5h 4h 7d 2d Ks", 4, "pass, pass, pass", "exchange 2d 7d Ks"),
        ("5h 4h 2h 7d Ks", 4, "pass, pass, pass", "knock"),
        ("Kh 4h As Ac Ad", 4, "pass, pass, pass", "knock"),  # nothing to lay off: as after an exchange
        ("Qh 4h As Ac Ad", 4, "pass, pass, pass", "exchange"),
        ("As 3s 7d 2d Ks", 4, "pass, pass, pass", "exchange 2d 7d Ks 3s"),  # anything, where only the dealer is left
        ("2h 3s 7d 2d Ks", 4, "exchange, pass, pass", "exchange 2d 7d Ks 3s"),
        ("Kh 3s 7d 2d Ks", 4, "exchange, exchange, pass", "exchange 2d 7d Ks 3s"),
        ("Qh 3s 7d 2d Ks", 4, "exchange, exchange, pass", "pass"),
        ("Kh 3s 7d 2d Ks", 4, "exchange, exchange, exchange", "pass"),
        ("3h As 7d 2d Ks", 4, "exchange, exchange, exchange", "exchange 2d 7d Ks"),
    ],
)
def test_roman_first_turn(mine, place, said, says):
    assert decides(roman_at(mine, place, said), "roman") == says


@pytest.mark.parametrize(
    ("mine", "says"),
    [
        ("Kh 2h 7d 2d Ks", "knock"),
        ("4h 2h 5h 2d Ks", "knock"),
        ("Qh 2h 7d 2d Ks", "exchange 2d 7d Ks"),  # again: let another end it
        ("Ah 3s 7d 2d Ks", "exchange 2d 7d Ks 3s"),
        ("2h 3s 7d 2d Ks", "exchange 2d 7d Ks 3s"),
        ("As 3s 7d 2d Ks", "pass"),  # it has looked at its new cards and leaves for nothing
    ],
)
def test_roman_second_turn(mine, says):
    batch = roman_at(mine, 1, "exchange, exchange, pass, pass, pass")
    assert decides(batch, "roman") == says


def test_roman_ends_what_the_rules_let_it():
    hands = [*WEAK[:1], "Qh 3s 7d 2d Ks", *WEAK[1:]]
    rules = make_rules("bestia_roman", 5, max_circuits=1)
    batch = position(rules, {"dealer": 0, "turn_up": "Jh", "hands": hands}, "exchange, exchange, pass, pass, pass")
    assert decides(batch, "roman") == "pass"  # no exchange any more, and too weak to knock


# --- online ---------------------------------------------------------------------------------------------------------

ONLINE = make_rules("online3", 4)


def online_at(mine, said, place=1, rules=ONLINE, credits=2000, carry=0):
    others = ["6c 7c 4c 2c", "6d 7d 4d 2d", "6s 7s 4s 2s"]
    hands = [" ".join(hand.split()[: rules.hand_size]) for hand in [*others[:place], mine, *others[place:]]]
    deal = {"dealer": 0, "carry": carry, "turn_up": "5h", "hands": hands, "credits": [credits] * 4}
    return position(rules, deal, said)


@pytest.mark.parametrize(
    ("trumps", "rivals_1", "rivals_2", "rivals_3"),
    [
        ("3h", True, True, True),
        ("Qh", True, True, False),
        ("Jh", True, False, False),
        ("7h", False, False, False),
        ("6h 4h", True, True, False),
        ("Jh 4h", True, True, True),
        ("", False, False, False),
    ],
)
def test_online_asks_for_more_against_more(trumps, rivals_1, rivals_2, rivals_3):
    mine = " ".join([*trumps.split(), "Ks", "Kd", "Qc"][:3])
    told = [
        decides(online_at(mine, "exchange, pass, pass", 0), "online") != "pass",
        decides(online_at(mine, "exchange, exchange, pass", 0), "online") != "pass",
        decides(online_at(mine, "exchange, exchange, exchange", 0), "online") != "pass",
    ]
    assert told == [rivals_1, rivals_2, rivals_3]


def test_online_last_with_nobody_in_needs_nothing():
    assert decides(online_at("Ks Kd Qc", "pass, pass", 3), "online") == "exchange Qc Kd Ks"  # one has yet to speak
    assert decides(online_at("Ks Kd Qc", "pass", 2), "online") == "pass"


def test_online_goes_in_lighter_when_little_can_be_lost():
    batch = online_at("Qh Kd Qc", "exchange, exchange, exchange", 0, carry=100, credits=300)
    assert (batch.view()["risk"][0], batch.view()["pot"][0]) == (200, 500)
    assert decides(batch, "online") == "exchange Qc Kd"  # as against two
    batch = online_at("Qh Kd Qc", "exchange, exchange, exchange", 0, carry=100, credits=400)
    assert (batch.view()["risk"][0], batch.view()["pot"][0]) == (300, 500)
    assert decides(batch, "online") == "pass"


def test_online_reenters_blind():
    said = "exchange, pass, pass, pass"
    assert decides(online_at("Ks Kd Qc", said), "online") == "pass"
    assert decides(online_at("Ks Kd Qc", said, credits=300, carry=100), "online") == "draw"  # little can be lost
    assert decides(online_at("Ks Kd Qc", "pass, pass, pass, pass, pass, pass, pass"), "online") == "draw"  # free
    four = make_rules("online4", 4)
    assert decides(online_at("Ks Kd Qc Qd", said, rules=four), "online") == "draw"  # four cards against one
    assert decides(online_at("Ks Kd Qc Qd", "exchange, exchange, pass, pass", rules=four), "online") == "pass"


# --- card play ------------------------------------------------------------------------------------------------------


def test_players_of_a_game_take_side_tricks_high_while_others_follow():
    def follows(said, name):
        hands = ["2c 4c 6s Kc 5c", "Js 6c Jc Jd 7c", "As Ks Qd 2d 4d", "4s 7s 5d 6d Kd", "Qs Qc Qh 6h 3c"]
        batch = position(ROMAN, {"dealer": 0, "turn_up": "Jh", "hands": hands}, said)
        return decides(batch, name)

    # the first to speak forces everybody in, and leads
    assert follows("knock, play Js", "roman") == "play As"
    assert follows("knock, play Js", "medium") == "play Ks"
    hands = ["As Ks Qd 2d 4d", "Js 6c Jc Jd 7c", "2c 4c 6s Kc 5c", "4s 7s 5d 6d Kd", "Qs Qc Qh 6h 3c"]
    last = position(ROMAN, {"dealer": 0, "turn_up": "Jh", "hands": hands}, "knock, play Js, play 6s, play 7s, play Qs")
    assert decides(last, "roman") == "play Ks"  # nobody plays after it: the cheapest that wins


def test_seats_that_are_out_do_not_play_after_it():
    hands = [SIDE[0], "Js Qs 4h 6h 7h", "As Ks 4s 5s 6s", SIDE[1], SIDE[2]]
    said = "exchange, exchange, pass, pass, pass, play Js"
    batch = position(JULEPE, {"dealer": 0, "turn_up": "5h", "hands": hands}, said)
    assert decides(batch, "julepe") == "play Ks"


def test_tips_play_cards_like_medium():
    assert decides(play_position(["6c 7c 4c", "3h As 2d", "6d 7d 4d"]), "tips") == "play As"


# --- refusals -------------------------------------------------------------------------------------------------------

ACCEPTS = {
    "julepe": {"julepe"},
    "mauscheln": {"mauscheln", "mousel"},
    "roman": {"bestia_roman"},
    "online": {"online3", "online4"},
}


@pytest.mark.parametrize("name", thumb_names())
def test_who_plays_which_preset(name):
    played = {variant for variant in bestia_env.variants() if name in agent_names(make_rules(variant))}
    assert played == ACCEPTS.get(name, set(bestia_env.variants()))


@pytest.mark.parametrize(
    ("name", "variant", "changes", "lacks"),
    [
        ("julepe", "julepe", {"turn_up_owner": "nobody"}, "turn_up_owner=dealer_swap"),
        ("julepe", "julepe", {"exchange_when": "after"}, "exchange_when=declaring"),
        ("julepe", "julepe", {"quota": (1, 1), "ante": 60}, "a quota of two tricks"),
        ("mauscheln", "mauscheln", {"late_join": False}, "late_join=True"),
        ("mauscheln", "mauscheln", {"exchange_max": 0}, "exchange_when=after"),
        ("mauscheln", "mauscheln", {"quota": (1, 1)}, r"quota=\(2, 1\)"),
        ("mauscheln", "julepe", {}, "principal=first_in"),
        ("roman", "bestia_five", {}, "bidding=circuits"),
        ("roman", "bestia_roman", {"quota": (2, 1)}, "a quota of one trick"),
        ("online", "online3", {"stakes": "unlimited", "ante": 300}, "stakes=table"),
        ("online", "online3", {"second_chance": False}, "second_chance=True"),
        ("online", "online3", {"exchange_max": 0, "exchange_when": "after"}, "exchange_when=declaring"),
        ("online", "bettelmann", {}, "games of the Rams group"),
    ],
)
def test_refusals_say_what_is_missing(name, variant, changes, lacks):
    with pytest.raises(BestiaError, match=rf"agent '{name}' cannot play {variant}.*allowed are.*{lacks}"):
        make_agent(name).bind(make_rules(variant, **changes))


def test_a_players_needs_are_fields_and_not_names():
    """The same rules under another label are played; a number the player does not depend on may change."""
    for name, variants in ACCEPTS.items():
        for variant in variants:
            rules = make_rules(variant)
            make_agent(name).bind(make_rules("rams", **rules.values()))
    make_agent("roman").bind(make_rules("bestia_roman", principal_penalty=(Fraction(1), Fraction(1)), max_circuits=3))


def test_every_player_of_a_game_is_tested_here():
    assert set(ACCEPTS) == set(PLAYERS)
