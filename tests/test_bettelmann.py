"""Bettelmann against the golden games of rules/bettelmann.md, and the ends of a game that are no win."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bestia_env.bettelmann.game import FAMILY
from bestia_env.registry import make_rules as make
from tests.bettelmann_table import LOOPS, Table, played


def trace(table: Table) -> str:
    """A game as the page's traces write it, up to its last card; a winner's last pile is not among them."""
    tokens = []
    while not table.over:
        seat, before = (
            table.actor,
            {name: np.copy(table.state[name]) for name in ("piles", "out", "held", "pile_length")},
        )
        tokens.append(f"{seat}{table.marks(table.stacks()[seat][:1])}")
        table.lay()
        if not table.over:
            s = table.state
            tokens += [f"[out P{other}]" for other in range(4) if s["out"][other] and not before["out"][other]]
            if s["piles"] > before["piles"]:
                tokens.append(f"[take P{table.actor} {before['pile_length'] + 1}]")
    return " ".join(tokens)


# --- golden games -----------------------------------------------------------------------------------------------------

VECTORS = {
    "V1": ("K-/--/--", "close", "0K 1- 1- [take P0 3] 0- [out P1] 2- 0K 2-", (0, 7, 2)),
    "V1'": ("K-/--/--", "pass_on", "0K 1- 1- 2- [take P0 4] 0- [out P1] 2- 0K", (0, 7, 2)),
    "V2": ("-J/--/--", "close", "0- 1- 2- 0J 1- [take P0 5] 0- [out P1] 2- 0-", (0, 8, 2)),
    "V3": ("-Q-/-/----", "close", "0- 1- 2- 0Q [out P1] 2- 2- [take P0 6] 0- 2- 0-", (0, 9, 2)),
    "V4": ("J/Q", "close", "0J 1Q", (1, 2, 1)),
    "V5": ("J/A--/----", "close", "0J 1A 2- 2- 2- 2-", (1, 6, 1)),
    "V6": (
        "A---/-J/--/---",
        "close",
        "0A 1- 1J 2- [take P1 4] 1A 2- [take P1 2] 1- [out P2] 3- 0- 1J 3- [take P1 5] 1- 3- 0- 1A [out P3] 0-",
        (1, 16, 4),
    ),
    "V6'": (
        "A---/-J/--/---",
        "pass_on",
        "0A 1- 1J 2- [take P1 4] 1A 2- 3- 3- 3- [take P1 5] 1- [out P2] [out P3] 0- 1J 0- [take P1 4] 1- 0- 1A",
        (1, 16, 4),
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_small_vectors_for_three_and_four(name: str) -> None:
    deal, partial, expected, (winner, cards, piles) = VECTORS[name]
    stacks = deal.split("/")
    table = Table(make("bettelmann", len(stacks), partial=partial), stacks)
    assert trace(table) == expected
    assert table.outcome() == ("win", cards, piles, [winner])


EXERCISM = """
-/- 2 1 | --/- 3 1 | --/--- 4 1 | -A/----- 7 1 | -A/----K 7 1 | -A--Q/----K 10 1 | -A--Q/----K-J 12 1
-A--Q-/----K-J 13 1 | J/-J 5 2 | J--/-JA 12 4
--------------------------/----------AAAAKKKKQQQQJJJJ 40 4
----------AAAAKKKKQQQQJJJJ/-------------------------- 40 4
-A-A-K-K-Q-Q-J-J----------/-A-A-K-K-Q-Q-J-J---------- 59 4
-A-A-K-K-Q-Q-J-J----------/----------J-J-Q-Q-K-K-A-A- 151 21
K---J----AK---J-J---------/--KAQ-A-Q-----Q-K--A-Q-J-- 542 76
-A---QJ-----KA--K---K---K-/----QJA------JA-Q-JQ------ 327 42
"""


@pytest.mark.parametrize("case", EXERCISM.replace("\n", "|").strip("|").split("|"))
def test_camicia_exercise(case: str) -> None:
    deal, cards, tricks = case.split()
    assert played(deal).outcome()[:3] == ("win", int(cards), int(tricks))


@pytest.mark.parametrize(("deal", "cards", "tricks"), [("J--/-J-", 8, 3), ("--J-/K-J-", 16, 4)])
def test_camicia_exercise_loops(deal: str, cards: int, tricks: int) -> None:
    assert played(deal).outcome() == ("cycle", cards, tricks, [0, 1])


RECORDS = """
---JQ---K-A----A-J-K---QK-/-J-----------AJQA----K---Q 5790 805 0
K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ-- 7157 1007 1
----Q------A--K--A-A--QJK-/-Q--J--J---QK---K----JA--- 7207 1015 1
--A-Q--J--J---Q--AJ-K---K-/-J-------Q------A--A--QKK- 7225 1016 0
----K---A--Q-A--JJA------J/-----KK---------A-JK-Q-Q-Q 7972 1106 0
---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A--- 8344 1164 1
"""


@pytest.mark.parametrize("line", RECORDS.strip().splitlines())
def test_record_games(line: str) -> None:
    deal, cards, tricks, winner = line.split()
    assert played(deal, "bettelmann_records").outcome() == ("win", int(cards), int(tricks), [int(winner)])


CASELLA = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
ENDLESS = f"""
{CASELLA} 4 474
-----------------KA------J/Q-K---Q-KQQJ----A-KAAJ--J- 6 484
-----------------KQ------J/Q-K---Q-KAQJ----A-KAAJ--J- 6 484
---------------KA----J----/-K---Q-KQQJ--A-KAAJ--J--Q- 5 477
---------------KQ----J----/-K---Q-KAQJ--A-KAAJ--J--Q- 5 477
--------------KA---J------/K---Q-KQQJ-A-KAAJ--J--Q--- 5 473
--------------KQ---J------/K---Q-KAQJ-A-KAAJ--J--Q--- 5 473
-----------Q----KQ-K-J----/---K---A-KQQJ-A----AAJ--J- 4 478
-----------Q----KQ-K-J----/---K---Q-KQAJ-A----AAJ--J- 4 478
----------Q----KQ--J-----K/--K---A-KQQJA----AAJ--J--- 4 474
----------Q----KQ--J-----K/--K---Q-KQAJA----AAJ--J--- 4 474
----------Q----KQ-J-----KA/--K---A-KQQJ-----AAJ--J--- 4 473
----------Q----KQ-J-----KA/--K---Q-KQAJ-----AAJ--J--- 4 473
----K---A-KQQJ-A----AAJ--J/-----------Q----KQ-K-J---- 4 479
----K---Q-KQAJ-A----AAJ--J/-----------Q----KQ-K-J---- 4 479
---K---A-KQQJ-----AAJ--J--/----------Q----KQ-J-----KA 4 474
"""


def pile_starts(table: Table) -> list[tuple[str, int, int]]:
    """Both stacks, leader and cards so far at the start of every pile, the last one where the repeat is noticed."""
    starts = []
    while not table.over:
        if table.state["pile_length"] == 0:
            starts.append(("/".join(map(table.marks, table.stacks())), table.actor, int(table.state["cards"])))
        table.lay()
    return [*starts, ("/".join(map(table.marks, table.stacks())), int(table.state["turn"]), int(table.state["cards"]))]


@pytest.mark.parametrize("line", ENDLESS.strip().splitlines())
def test_endless_games(line: str) -> None:
    deal, entered, cards = line.split()
    stacks = deal.split("/")
    table = Table(make("bettelmann_records"), stacks, seed=5)
    starts = pile_starts(table)
    assert table.outcome() == ("cycle", int(cards), int(entered) + 62, [0, 1])
    assert (table.rewards[0].tolist(), table.done[0], table.truncated[0]) == ([0, 0], True, False)
    assert starts[-1][:2] == starts[int(entered)][:2]
    assert starts[-1][2] - starts[int(entered)][2] == 440


def test_casella_states() -> None:
    starts = pile_starts(Table(make("bettelmann_records"), CASELLA.split("/"), seed=6))
    assert starts[:5] == [
        (CASELLA, 0, 0),
        ("---Q-KQAJ-----AAJ--J--------K---/----Q----KQ-J-----KA", 0, 10),
        ("QAJ-----AAJ--J--------K---------Q-Q-K---/-KQ-J-----KA", 0, 24),
        ("-----AAJ--J--------K---------Q-Q-K---Q-KAQJ-/J-----KA", 0, 31),
        ("---AAJ--J--------K---------Q-Q-K---Q-KAQJ-/-----KA-J-", 1, 34),
    ]
    assert starts[66] == (*starts[4][:2], 474)


@pytest.mark.parametrize(
    ("digits", "entered", "piles", "cards"),
    [
        ("00200000021000013000/00020001020310030300", 1, 36, 188),
        ("00000030100202020310/00010000300002100300", 1, 20, 156),
        ("00302020303100000310/00100200002000000010", 0, 84, 546),
    ],
)
def test_camicia_loops(digits: str, entered: int, piles: int, cards: int) -> None:
    table = Table(make("camicia"), digits.replace("0", "-").replace("1", "A").split("/"), seed=7)
    starts = pile_starts(table)
    assert table.outcome()[0] == "cycle"
    assert len(starts) - 1 == entered + piles
    assert starts[-1][:2] == starts[entered][:2]
    assert starts[-1][2] - starts[entered][2] == cards


def test_example_of_the_source_corrected() -> None:
    anna, ben, clara, david = range(4)
    stacks = ["6h 5c 5h 4h 7c", "9s 2c 2d 2h 2s", "Jd Qs 8c", "4c 3h Ah 8d"]
    table = Table(make("bettelmann", 4), stacks)
    for seat in (anna, ben, clara, david):
        assert table.actor == seat
        table.lay()
    state = FAMILY.full_state(table.rules, table.state)
    assert (state["actor"], state["stacks"][clara], state["pile"]) == (clara, "Qs 8c 6h 9s Jd 4c", "")
    for seat in (clara, david, david, anna):
        assert table.actor == seat
        table.lay()
    view = FAMILY.view_dict(table.rules, table.views()[0])
    assert (view["pile"], view["owner"], view["due"], view["actor"]) == ("Qs 3h Ah 5c", 3, 3, 0)
    assert table.actor == anna


# --- ends that are no win ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deal", "changes", "expected", "shares"),
    [
        ("--/--", {"limit_cards": 2}, ("limit", 2, 0, [0, 1]), [0, 0]),
        ("---/--", {"limit_cards": 2}, ("limit", 2, 0, [0]), [1, -1]),
        ("--J-/----/--", {"limit_cards": 7}, ("limit", 7, 0, [1]), [-1, 2, -1]),
        ("--J--/----/---", {"limit_cards": 8}, ("limit", 8, 1, [0]), [2, -1, -1]),
        ("--Q--/-----/---", {"limit_cards": 8}, ("limit", 8, 0, [0, 1]), [Fraction(1, 2), Fraction(1, 2), -1]),
        ("--Q--/-----/---", {"limit_cards": 8, "on_limit": "finish_pile"}, ("limit", 9, 1, [0]), [2, -1, -1]),
        ("---/---/---/-", {"limit_cards": 7}, ("limit", 7, 0, [0, 1, 2]), [*[Fraction(1, 3)] * 3, -1]),
        ("---/---/---", {"hard_cap": 5}, ("cap", 5, 0, [0, 1, 2]), [0, 0, 0]),
        ("---/---/-", {"hard_cap": 5}, ("cap", 5, 0, [0, 1]), [Fraction(1, 2), Fraction(1, 2), -1]),
        ("J--/-J-", {"hard_cap": 7}, ("cap", 7, 2, [0, 1]), [0, 0]),
        ("--/-", {"elimination": "immediate"}, ("win", 2, 1, [0]), [1, -1]),
    ],
)
def test_limit_cap_and_immediate(deal: str, changes: Any, expected: Any, shares: list[Any]) -> None:
    table = played(deal, **changes)
    assert table.outcome() == expected
    n = len(shares)
    assert [Fraction(int(top), int(table.state["score_base"])) for top in table.state["score_top"][:n]] == shares
    assert table.rewards[0].tolist() == table.scores[0].tolist() == [float(share) for share in shares]
    assert bool(table.truncated[0]) == (expected[0] == "cap")


def test_a_loop_without_detection_ends_at_the_cap() -> None:
    with pytest.warns(UserWarning, match="detect_cycle=False.*hard_cap=1000"):
        rules = make("bettelmann", detect_cycle=False, hard_cap=1000)
    assert Table(rules, ["J--", "-J-"]).play().outcome()[:2] == ("cap", 1000)


def test_forfeit_is_a_loss_and_the_others_share() -> None:
    table = Table(make("bettelmann", 4), ["---", "-", "--J", "---"], seed=1)
    while table.actor != 2 or not table.state["out"][1]:
        table.lay()
    LOOPS.forfeit(table.states, table.parameters, 0, 2, table.rewards[0], table.scores[0])
    assert table.outcome()[::3] == ("forfeit", [0, 3])
    assert table.rewards[0].tolist() == [1, -1, -1, 1]
    assert (table.over, table.actor) == (True, -1)
