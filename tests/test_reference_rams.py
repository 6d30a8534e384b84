"""The second implementation of the Rams group against the worked deals of rules/rams.md, to the chip."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from tests.reference.rams import (
    Settlement,
    antes_of_deal,
    divisor,
    legal_cards,
    next_forced,
    preset,
    risk_of_deal,
    settle,
)
from tests.reference.rams_script import run, start

# --- section 2.2 -------------------------------------------------------------------------------------------------

COLUMNS = {
    "A": {"must_head": False, "ruff": "any_trump"},
    "A+": {"must_head": False, "ruff": "highest_trump"},
    "P": {"must_head": True, "ruff": "overtrump_else_any_card"},
    "P+": {"must_head": True, "ruff": "overtrump_else_any_trump"},
}
TABLE = [
    ("7s 2s Ah", "6s", "7s 2s", "7s 2s", "7s", "7s"),
    ("4s 2s Ah", "6s", "4s 2s", "4s 2s", "4s 2s", "4s 2s"),
    ("3s 2s Ah", "6s 5h", "3s 2s", "3s 2s", "3s 2s", "3s 2s"),
    ("7h 2h Ac", "6s 5h", "7h 2h", "7h", "7h", "7h"),
    ("4h 2h Ac", "6s 5h", "4h 2h", "4h", "4h 2h Ac", "4h 2h"),
    ("4h 2h Ac", "6s", "4h 2h", "4h", "4h 2h", "4h 2h"),
    ("Kh 4h Ac", "6h Jh", "Kh 4h", "Kh 4h", "Kh", "Kh"),
    ("5h 4h Ac", "6h Jh", "5h 4h", "5h 4h", "5h 4h", "5h 4h"),
    ("Ad Kc", "6s 5h", "Ad Kc", "Ad Kc", "Ad Kc", "Ad Kc"),
    ("3s 2h 5h", "Ks As", "3s", "3s", "3s", "3s"),
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} on {row[1]}")
def test_hand_checked_legality(row: tuple[str, ...], column: str) -> None:
    rules = preset("bestia", 4) | COLUMNS[column]
    expected = row[2 + list(COLUMNS).index(column)]
    assert legal_cards(row[0].split(), row[1].split(), "h", rules) == set(expected.split())


def leads(hand: str, duty: str, **more: Any) -> set[str]:
    tricks = more.pop("tricks_played", 0)
    rules = preset("bestia", 4, lead_top_trump=duty, **more.pop("rules", {}))
    return legal_cards(hand.split(), [], "h", rules, tricks_played=tricks, **more)


def test_lead_duties() -> None:
    hand, free = "Ah 3h 2c", {"Ah", "3h", "2c"}
    assert leads(hand, "none") == free
    assert leads(hand, "ace") == {"Ah"}
    assert leads(hand, "ace", tricks_played=1) == free
    assert leads(hand, "ace", tricks_played=1, rules={"lead_top_trump_every_trick": True}) == {"Ah"}
    assert leads("3h 2c", "ace", turned_out="Ah") == {"3h", "2c"}
    assert leads("3h 2c", "ace_or_exposed_next", turned_out="Ah") == {"3h"}
    assert leads("3h 2c", "ace_or_exposed_next", turned_out="Kh") == {"3h", "2c"}
    assert leads("Kh 2h 2c", "highest_remaining", turned_out="3h") == {"Kh", "2h", "2c"}
    every = {"lead_top_trump_every_trick": True}
    out = {"turned_out": "3h", "played": {"Ah"}, "tricks_played": 1, "rules": every}
    assert leads("Kh 2h 2c", "highest_remaining", **out) == {"Kh"}
    trumps = {"lead_trump_after_first": True}
    assert leads(hand, "none", tricks_played=1, rules=trumps) == {"Ah", "3h"}
    assert leads(hand, "none", rules=trumps) == free
    assert leads("2c 3d", "none", tricks_played=1, rules=trumps) == {"2c", "3d"}


# --- section 6, the worked deals ---------------------------------------------------------------------------------

BESTIA_HANDS = ["2c 2s 6c", "Kh 7s 2d", "4c 5c 6d", "As 3d 4h"]
BESTIA_DECLARING = "1 knock, 2 pass, 3 knock, 0 pass, 2 draw, 0 pass"


def test_bestia() -> None:
    deal = start(preset("bestia", 4), BESTIA_HANDS, "5h", "5s Qc Jc", carry=6)
    assert (deal.pot0, deal.phase, deal.legal()) == (9, "declare", {"pass", "knock"})
    run(deal, BESTIA_DECLARING)
    assert deal.participants == [1, 2, 3]
    run(deal, "1 play 7s, 2 play 5s, 3 play As, 3d 2d Jc, 4h Kh Qc")
    assert deal.over
    assert deal.actor is None
    assert (deal.winners, deal.tricks) == ([3, 3, 1], [0, 1, 0, 2])
    assert deal.net == [-3, 3, -9, 6]
    assert (deal.carry_after, deal.anybody_bestia) == (9, True)
    assert deal.score == [Fraction(0), Fraction(3, 9), Fraction(-9, 9), Fraction(6, 9)]


def test_bestia_with_the_duties() -> None:
    deal = start(preset("bestia_strict", 4), BESTIA_HANDS, "5h", "5s Qc Jc", carry=6)
    run(deal, BESTIA_DECLARING + ", 7s 5s As")
    assert deal.legal() == {"play 4h"}
    run(deal, "4h Kh Jc, 1 play 2d, 2 play Qc, 3 play 3d")
    assert (deal.winners, deal.net, deal.carry_after) == ([3, 1, 3], [-3, 3, -9, 6], 9)


def test_ruff_example() -> None:
    rules = preset("bestia", 4)
    assert legal_cards({"4h", "2d", "3c"}, ["Ks"], "h", rules) == {"4h"}
    assert legal_cards({"7h", "2c", "3d"}, ["Ks", "4h"], "h", rules) == {"7h"}


ROMAN_HANDS = ["6c Qc 3c 6s 7s", "3d Ac 2c 4c 5c", "Ah 4d 6d 7d 4h", "Jc Jh Js Qh 3h", "Ad Kd 7c Kh 5s"]
ROMAN_STOCK = "Kc 6h 7h 4s 2h 5h 5d 3s Qs 2s"


def test_bestia_roman() -> None:
    deal = start(preset("bestia_roman", 5), ROMAN_HANDS, "Jd", ROMAN_STOCK)
    run(deal, "1 exchange 2c 4c 5c, 2 third, 3 pass, 4 exchange Kh 5s")
    run(deal, "0 pass, 1 exchange 7h, 2 exchange 4d 6d 7d 4h, 4 knock")
    assert (deal.participants, deal.principal, deal.pot, deal.pot0) == ([1, 2, 4], 4, 80, 50)
    assert deal.hands[4] == set("Ad Kd 7c 4s 2h".split())
    assert deal.hands[1] == set("3d Ac Kc 6h 5h".split())
    assert deal.hands[2] == set("5d 3s Qs 2s Ah".split())
    run(deal, "4 play Ad, 1 play 3d, 2 play 5d, Kd 5h 2s, 7c")
    assert deal.legal() == {"play Kc", "play Ac"}
    run(deal, "Kc Qs, Ac 3s 2h, 6h Ah 4s")
    assert deal.winners == [4, 4, 1, 1, 2]
    assert (deal.shares, deal.penalties) == ([0, 32, 16, 0, 32], [0] * 5)
    assert (deal.next_half_ante, deal.carry_after) == (None, 0)
    assert deal.net == [-10, 12, -4, -10, 12]


def test_bestia_roman_knock_in_circuit_one_forces_the_unspoken_in() -> None:
    deal = start(preset("bestia_roman", 5), ROMAN_HANDS, "Jd", ROMAN_STOCK)
    run(deal, "1 exchange 2c 4c 5c, 2 third, 3 pass, 4 knock")
    assert (deal.participants, deal.phase, deal.actor) == ([1, 4, 0], "play", 4)


def settle_roman(tricks: list[int]) -> Settlement:
    return settle(
        preset("bestia_roman", 5), pot=80, risk=80, tricks=tricks, participants=[1, 2, 4], principal=4, first_winner=4
    )


def test_bestia_roman_other_outcomes() -> None:
    knocker_empty = settle_roman([0, 3, 2, 0, 0])
    assert (knocker_empty.shares, knocker_empty.penalties) == ([0, 48, 32, 0, 0], [0, 0, 0, 0, 120])
    assert knocker_empty.carry_after + 5 * 10 == 170
    best = settle_roman([0, 2, 0, 0, 3])
    assert (best.shares, best.penalties) == ([0, 32, 0, 0, 48], [0, 0, 80, 0, 0])
    assert (best.best_principal, best.carry_after) == (4, 80)
    rules = preset("bestia_roman", 5)
    antes = antes_of_deal(rules, dealer=1, half_ante=4, credits=[0] * 5, entitled=[True] * 5)
    assert antes == [10, 10, 10, 10, 5]
    assert best.carry_after + sum(antes) == 125


FIVE_HANDS = ["6h Ad Jh Qh", "7c 6c 5c 3c 2c", "3h Ac Qd Jd 4d", "Qs 6d 5d 7h 5h", "Jc Qc 3s 3d Kd"]
FIVE_STOCK = "7d 5s 2s Kc 2d 4s Js 4c As"
FIVE_SCRIPT = (
    "1 pass, 2 exchange 4d Jd Qd, 3 exchange 5d 6d 5h 7h, 4 pass, 0 exchange Jh Qh,"
    "2 play 3h, 3 play Qs, 0 play Kh, Ac Kc 4c, 7d 2d Ad, As 5s 4s, 6h 2s Js"
)


@pytest.mark.parametrize(
    ("name", "net"), [("bestia_five", [2, -1, 1, -6, -1]), ("bestia_five_majority", [4, -1, -1, -6, -1])]
)
def test_bestia_five(name: str, net: list[int]) -> None:
    deal = start(preset(name, 5, ante=1), FIVE_HANDS, "Kh", FIVE_STOCK)
    assert deal.hands[0] == {"6h", "Ad", "Jh", "Qh", "Kh"}
    run(deal, FIVE_SCRIPT)
    assert deal.winners == [2, 2, 0, 0, 0]
    assert (deal.net, deal.carry_after) == (net, 5)
    assert deal.carry_after + 5 == 10


def test_bestia_buco() -> None:
    rules = preset("bestia_buco", 6, ante=1)
    deal = start(rules, ["2c As 3h", "", "Ac 5s 4h", "", "", ""], "7c", extra="6d Jd 7d")
    run(deal, "1 pass, 2 knock, 3 buco")
    assert deal.legal() == {"pass", "knock"}
    run(deal, "4 pass, 5 pass, 0 knock, 2 play Ac, 3 play 6d, 0 play 2c, 5s Jd As, 3h 4h 7d")
    assert deal.winners == [2, 0, 0]
    assert (deal.shares, deal.penalties) == ([4, 0, 2, 0, 0, 0], [0, 0, 0, 6, 0, 0])
    assert deal.carry_after + 6 == 12


def test_julepe() -> None:
    hands = ["3h 3c Js 7d Qd", "Ah 7h Ks 4c 5c", "7c Kc Ac Jc 6d", "Kh Jh 4s 5s 6s"]
    deal = start(preset("julepe", 4), hands, "5h", "6c 4d As Qc 5d Kd", carry=8)
    run(deal, "1 exchange 4c 5c, 2 pass, 3 exchange 4s 5s 6s")
    sizes = Counter(len(text.split()) - 1 for text in deal.legal() - {"pass"})
    assert sizes == {1: 6, 2: 15, 3: 20, 4: 15, 5: 6, 6: 1}
    run(deal, "0 exchange 7d Qd")
    assert deal.hands[0] == {"3h", "5h", "3c", "Js", "Kd"}
    run(deal, "1 play Ah, 3 play Jh, 0 play 5h, Ks As Js, Kh 3h 7h, Kd 4d 5d, 3c 6c Qc")
    assert deal.winners == [1, 3, 0, 0, 0]
    assert (deal.shares, deal.penalties) == ([12, 0, 0, 0], [0, 12, 0, 12])
    assert (deal.carry_after, deal.carry_after + 4) == (24, 28)


def test_mauscheln() -> None:
    hands = ["Js 8s Jd 10d", "7h 8h 9h 10h", "As Kd Qd 7c", "Ks 7d 8d 9d"]
    deal = start(preset("mauscheln", 4), hands, "9s", "10c Jh Ad 8c Qs 7s Ah Kc", carry=12)
    run(deal, "1 pass, 2 knock, 3 knock, 0 pass, 1 knock")
    run(deal, "2 exchange 7c, 3 exchange 7d 8d 9d, 1 exchange 7h 8h 9h 10h")
    assert (deal.principal, deal.pot) == (2, 16)
    run(deal, "2 play As, 3 play Ks, 1 play 7s, Kd Ad Qs, Ah 10c Jh, Kc Qd 8c")
    assert deal.winners == [2, 1, 1, 1]
    assert deal.net == [-4, 12, -12, -16]
    assert (deal.carry_after, deal.carry_after + 4) == (32, 36)
    assert settle(
        preset("mauscheln", 4),
        pot=16,
        risk=16,
        tricks=[0, 3, 0, 1],
        participants=[1, 2, 3],
        principal=2,
        first_winner=1,
    ).penalties == [0, 0, 32, 0]


def test_tippen() -> None:
    rules = preset("tippen", 3)
    assert next_forced(rules, carry=0, first_deal=True, previous_bestia=False)
    deal = start(rules, ["Qd As 8h", "Kd 9h 7s", "Ac 10c Js"], "8d", forced=True)
    run(deal, "1 play 9h, 2 play Js, 0 play 8h, Kd 10c Qd, 7s Ac As")
    assert deal.winners == [1, 1, 0]
    assert [won + ante for won, ante in zip(deal.net, deal.antes, strict=True)] == [1, 2, -3]
    assert (deal.carry_after, deal.carry_after + 3) == (3, 6)
    assert not next_forced(rules, carry=3, first_deal=False, previous_bestia=True)


# --- section 6, money lines without cards ------------------------------------------------------------------------


def online_deal(credits: list[int], carry: int, tricks: dict[int, int]) -> tuple[list[int], int, int, int]:
    """Credits after, pot, risk and carry after of a tournament deal; seats without credit are out."""
    rules = preset("online3", 4)
    entitled = [has > 0 for has in credits]
    antes = antes_of_deal(rules, dealer=0, half_ante=None, credits=credits, entitled=entitled)
    after_ante = [has - ante for has, ante in zip(credits, antes, strict=True)]
    pot = carry + sum(antes)
    risk = risk_of_deal(pot, after_ante, entitled)
    result = settle(
        rules,
        pot=pot,
        risk=risk,
        tricks=[tricks.get(seat, 0) for seat in range(4)],
        participants=list(tricks),
        principal=None,
        first_winner=max(tricks, key=lambda seat: tricks[seat]),
    )
    after = [after_ante[seat] + result.shares[seat] - result.penalties[seat] for seat in range(4)]
    return after, pot, risk, result.carry_after


def test_online3_tournament() -> None:
    deal_1 = online_deal([1000, 800, 250, 90], 0, {0: 2, 2: 1, 1: 0})
    assert deal_1 == ([1150, 710, 280, 0], 360, 0, 0)
    deal_2 = online_deal(deal_1[0], 0, {1: 2, 0: 1, 2: 0})
    assert deal_2 == ([1150, 810, 0, 0], 300, 180, 180)
    deal_3 = online_deal(deal_2[0], 180, {0: 2, 1: 1})
    assert deal_3[1:3] == (380, 380)
    for after, _, _, carry in (deal_1, deal_2, deal_3):
        assert sum(after) + carry == 2140


def share_online3(pot: int, rake_bp: int, tricks: list[int]) -> Settlement:
    participants = [seat for seat, taken in enumerate(tricks) if taken]
    return settle(
        preset("online3", 4, rake_bp=rake_bp),
        pot=pot,
        risk=pot,
        tricks=tricks,
        participants=participants,
        principal=None,
        first_winner=0,
    )


def test_online3_cash() -> None:
    assert share_online3(1000, 0, [2, 1, 0, 0]).shares == [667, 333, 0, 0]
    raked = share_online3(1000, 500, [2, 1, 0, 0])
    assert (raked.shares, raked.rake, raked.carry_after) == ([634, 316, 0, 0], 50, 0)
    assert share_online3(3000, 1000, [2, 1, 0, 0]).shares == [1800, 900, 0, 0]
    assert share_online3(1000, 0, [1, 1, 1, 0]).shares == [334, 333, 333, 0]


def test_online4() -> None:
    result = settle(
        preset("online4", 4), pot=20, risk=20, tricks=[1, 2, 1, 0], participants=[0, 1, 2], principal=0, first_winner=1
    )
    assert (result.shares, result.penalties, result.carry_after) == ([5, 10, 5, 0], [20, 0, 0, 0], 20)


def test_bestia_at_the_cap() -> None:
    rules = preset("bestia", 5, penalty_cap=30)
    result = settle(
        rules, pot=48, risk=48, tricks=[2, 1, 0, 0, 0], participants=[0, 1, 2, 3], principal=None, first_winner=0
    )
    assert (result.shares, result.penalties) == ([32, 16, 0, 0, 0], [0, 0, 30, 30, 0])
    assert result.carry_after + 3 == 63


def settle_julepe(tricks: list[int]) -> Settlement:
    return settle(
        preset("julepe", 6),
        pot=13,
        risk=13,
        tricks=tricks,
        participants=[seat for seat in range(6) if tricks[seat] >= 0],
        principal=None,
        first_winner=0,
    )


def test_quota_split_and_its_rest() -> None:
    three_two = settle_julepe([3, 2, 0, 0, 0, 0])
    assert (three_two.shares[:2], three_two.penalties, three_two.carry_after) == ([6, 6], [0, 0, 13, 13, 13, 13], 53)
    nobody = settle_julepe([1, 1, 1, 1, 1, 0])
    assert (sum(nobody.shares), nobody.bestie, nobody.carry_after) == (0, [0, 1, 2, 3, 4, 5], 7 * 13)
    assert divisor(preset("julepe", 4)) == 2
    assert divisor(preset("bestia_five_majority", 4)) == 1
    assert divisor(preset("mauscheln", 4)) == 4


def test_no_rake_on_a_deal_that_pays_nobody() -> None:
    rules = preset("bestia_five_majority", 4, rake_bp=1000)
    tie = settle(
        rules, pot=100, risk=100, tricks=[2, 2, 1, 0], participants=[0, 1, 2, 3], principal=None, first_winner=0
    )
    assert (tie.rake, tie.shares, tie.carry_after) == (0, [0, 0, 0, 0], 200)
    walk_over = settle(rules, pot=100, risk=100, tricks=[0] * 4, participants=[2], principal=None, first_winner=None)
    assert (walk_over.rake, walk_over.shares, walk_over.carry_after) == (10, [0, 0, 90, 0], 0)
    nobody = settle(rules, pot=100, risk=100, tricks=[0] * 4, participants=[], principal=None, first_winner=None)
    assert (nobody.rake, nobody.carry_after) == (0, 100)
