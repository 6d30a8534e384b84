"""The money lines of rules: rams 6 that have no cards, and the rules of 2.4, in both implementations.

A case is what lies on the table when the last trick is taken; what comes of it is worked out by hand.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bestia_env.batch import GameBatch
from bestia_env.rams.game import FAMILY
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.settle import settle
from bestia_env.rams.state import NOBODY, Status
from bestia_env.records import load_record
from bestia_env.registry import parse_rules
from bestia_env.session import SessionConfig
from tests.reference.rams import Settlement, equity_score
from tests.reference.rams import settle as reference_settle


@dataclass(frozen=True, kw_only=True)
class Case:
    """Lists are by seat; ``tricks`` holds None for a seat that is out."""

    line: str
    rules: str
    pot: int
    tricks: list[int | None]
    shares: list[int]
    penalties: list[int] = field(default_factory=list)
    carry: int
    rake: int = 0
    first: int = NOBODY  # who took the first trick
    principal: int = NOBODY
    risk: int | None = None  # the pot, unless stakes are the table's
    half_ante: int = NOBODY

    @property
    def participants(self) -> list[int]:
        return [seat for seat, tricks in enumerate(self.tricks) if tricks is not None]


CASES = [
    Case(
        line="a pot of 1 that two seats with their quota share: each gets nothing, all is the first trick's winner's",
        rules="rams(num_players=4, stakes=table, ante=1, pot_award=quota_split, remainder=first_trick_winner)",
        pot=1, first=2, tricks=[None, 2, 1, None], shares=[0, 0, 1, 0], carry=0,
    ),
    Case(
        line="a pot of 5 that nobody wins stays whole, whoever took the first trick",
        rules="rams(num_players=4, hand_size=2, quota=(2, 2), stakes=table, ante=1, pot_award=quota_split, "
        "remainder=first_trick_winner)",
        pot=5, risk=0, first=2, tricks=[None, 1, 1, None], shares=[0, 0, 0, 0], penalties=[0, 0, 0, 0], carry=5,
    ),
    Case(
        line="bestia: cap 30 on a pot of 48 with two bestie: 16 a trick, they pay 30 + 30, next pot 63 with the ante",
        rules="bestia(num_players=4, penalty_cap=30)",
        pot=48, tricks=[0, 2, 1, 0], shares=[0, 32, 16, 0], penalties=[30, 0, 0, 30], carry=60,
    ),
    Case(
        line="roman, 2-2-1 on a pot of 80: 32 32 16, no discount on a tie",
        rules="bestia_roman(num_players=5)",
        pot=80, principal=4, tricks=[None, 2, 1, None, 2], shares=[0, 32, 16, 0, 32], carry=0,
    ),
    Case(
        line="roman: had it been 3-2-0 with the knocker empty: he pays 120, next pot 170 with 50 of antes",
        rules="bestia_roman(num_players=5)",
        pot=80, principal=4, tricks=[None, 3, 2, None, 0], shares=[0, 48, 32, 0, 0], penalties=[0, 0, 0, 0, 120],
        carry=120,
    ),
    Case(
        line="roman: had 4 won 3: 48, 32, and 2 pays 80; 4's next ante is 5, next pot 125",
        rules="bestia_roman(num_players=5)",
        pot=80, principal=4, tricks=[None, 2, 0, None, 3], shares=[0, 32, 0, 0, 48], penalties=[0, 0, 80, 0, 0],
        carry=80, half_ante=4,
    ),
    Case(
        line="roman: 3/2 of an odd pot is rounded up; what does not divide by five stays",
        rules="bestia_roman(num_players=5)",
        pot=87, principal=4, tricks=[None, 3, 2, None, 0], shares=[0, 51, 34, 0, 0], penalties=[0, 0, 0, 0, 131],
        carry=133,
    ),
    Case(
        line="five, majority: 0 takes 5, 3 pays 5, next pot 10",
        rules="bestia_five_majority(num_players=5, ante=1)",
        pot=5, tricks=[3, None, 2, 0, None], shares=[5, 0, 0, 0, 0], penalties=[0, 0, 0, 5, 0], carry=5,
    ),
    Case(
        line="five, majority: a tie leaves the pot, and bestie pay",
        rules="bestia_five_majority(num_players=5)",
        pot=25, tricks=[2, None, 2, 0, 1], shares=[0] * 5, penalties=[0, 0, 0, 25, 0], carry=50,
    ),
    Case(
        line="julepe: A takes 12, B and D pay 12 each, pot 24",
        rules="julepe(num_players=4)",
        pot=12, tricks=[3, 1, None, 1], shares=[12, 0, 0, 0], penalties=[0, 12, 0, 12], carry=24,
    ),
    Case(
        line="julepe: two split it equally, also 3-2",
        rules="julepe(num_players=4)",
        pot=12, tricks=[3, None, 2, None], shares=[6, 0, 6, 0], carry=0,
    ),
    Case(
        line="julepe: nobody with two tricks: the pot stays and everybody pays it",
        rules="julepe(num_players=5)",
        pot=12, tricks=[1] * 5, shares=[0] * 5, penalties=[12] * 5, carry=72,
    ),
    Case(
        line="mauscheln: B +12; C 4 - 16; D -16; pot 32",
        rules="mauscheln(num_players=4)",
        pot=16, principal=2, tricks=[None, 3, 1, 0], shares=[0, 12, 4, 0], penalties=[0, 0, 16, 16], carry=32,
    ),
    Case(
        line="mauscheln: with no trick at all C pays 32",
        rules="mauscheln(num_players=4)",
        pot=16, principal=2, tricks=[None, 3, 0, 1], shares=[0, 12, 0, 4], penalties=[0, 0, 32, 0], carry=32,
    ),
    Case(
        line="mauscheln: the cap bounds the base before the multiplier",
        rules="mauscheln(num_players=4, penalty_cap=12)",
        pot=16, principal=2, tricks=[None, 4, 0, 0], shares=[0, 16, 0, 0], penalties=[0, 0, 24, 12], carry=36,
    ),
    Case(
        line="a forced deal has no principal: everybody has the others' quota",
        rules="mauscheln(num_players=3, late_join=False, forced_deal=bare_ante)",
        pot=4, tricks=[1, 1, 2], shares=[1, 1, 2], carry=0,
    ),
    Case(
        line="online3 tournament, deal 1: pot 360, risk 0; A two tricks, C one, B none",
        rules="online3(num_players=4)",
        pot=360, risk=0, first=0, tricks=[2, 0, 1, None], shares=[240, 0, 120, 0], carry=0,
    ),
    Case(
        line="online3 tournament, deal 2: pot 300, risk 180; B two, A one, C none: carry 180",
        rules="online3(num_players=4)",
        pot=300, risk=180, first=1, tricks=[1, 2, 0, None], shares=[100, 200, 0, 0], penalties=[0, 0, 180, 0],
        carry=180,
    ),
    Case(
        line="with table stakes the base is the smaller of risk and cap",
        rules="online3(num_players=4, penalty_cap=50)",
        pot=300, risk=180, first=1, tricks=[1, 2, 0, None], shares=[100, 200, 0, 0], penalties=[0, 0, 50, 0], carry=50,
    ),
    Case(
        line="online3 cash, 4 x 2.50, no rake: A tricks 1 and 3, B trick 2: 6.67 and 3.33",
        rules="online3(num_players=4, ante=250)",
        pot=1000, risk=1000, first=0, tricks=[2, 1, None, None], shares=[667, 333, 0, 0], carry=0,
    ),
    Case(
        line="10.00 in three tricks: 3.34 3.33 3.33",
        rules="online3(num_players=4, ante=250)",
        pot=1000, risk=1000, first=2, tricks=[1, 1, 1, None], shares=[333, 333, 334, 0], carry=0,
    ),
    Case(
        line="online3 cash, rake 5 %: 9.50: A 6.34, B 3.16",
        rules="online3(num_players=4, ante=250, rake_bp=500)",
        pot=1000, risk=1000, first=0, tricks=[2, 1, None, None], shares=[634, 316, 0, 0], rake=50, carry=0,
    ),
    Case(
        line="online3 cash, rake 10 % on 3 x 10: two tricks 18, one 9",
        rules="online3(num_players=3, ante=10, rake_bp=1000)",
        pot=30, risk=30, first=1, tricks=[2, 1, None], shares=[18, 9, 0], rake=3, carry=0,
    ),
    Case(
        line="the rake is rounded down, and a bestia's risk is that of the pot before it",
        rules="online3(num_players=3, rake_bp=333)",
        pot=110, risk=110, first=2, tricks=[0, 1, 2], shares=[0, 35, 72], penalties=[110, 0, 0], rake=3, carry=110,
    ),
    Case(
        line="a walk-over is raked",
        rules="online3(num_players=3, rake_bp=500)",
        pot=300, risk=300, tricks=[None, 0, None], shares=[0, 285, 0], rake=15, carry=0,
    ),
    Case(
        line="no rake on a deal that pays nobody",
        rules="julepe(num_players=5, rake_bp=500)",
        pot=20, tricks=[1] * 5, shares=[0] * 5, penalties=[20] * 5, carry=120,
    ),
    Case(
        line="nobody in: the pot carries over",
        rules="online3(num_players=3, rake_bp=500)",
        pot=300, risk=300, tricks=[None] * 3, shares=[0] * 3, carry=300,
    ),
    Case(
        line="exactly one takes the whole pot: no quota, no bestia",
        rules="julepe(num_players=4)",
        pot=12, tricks=[None, None, 0, None], shares=[0, 0, 12, 0], carry=0,
    ),
    Case(
        line="online4: pot 20, opener one trick, second two, third one: 5, 10, 5; the opener pays 20",
        rules="online4(num_players=4, ante=5)",
        pot=20, risk=20, first=1, principal=1, tricks=[None, 1, 2, 1], shares=[0, 5, 10, 5], penalties=[0, 20, 0, 0],
        carry=20,
    ),
]  # fmt: skip


def of_the_engine(rules: RamsRules, case: Case) -> tuple[Settlement, int]:
    states = np.zeros(1, FAMILY.state_dtype)
    state: Any = states[0]
    n = rules.num_players
    state.pot = state.pot_before = case.pot
    state.risk = case.pot if case.risk is None else case.risk
    state.status[:n] = [Status.OUT if tricks is None else Status.IN for tricks in case.tricks]
    state.tricks[:n] = [tricks or 0 for tricks in case.tricks]
    state.num_in, state.principal, state.half_ante = len(case.participants), case.principal, NOBODY
    state.winners[0] = case.first
    settle(state, FAMILY.parameters(rules, SessionConfig())[0])
    told = FAMILY.settlement(rules, state)
    settled = Settlement(told["shares"], told["penalties"], told["rake"], told["carry_after"])
    return settled, int(state.half_ante)


def of_the_reference(rules: RamsRules, case: Case) -> tuple[Settlement, int]:
    settled = reference_settle(
        rules.values(),
        pot=case.pot,
        risk=case.pot if case.risk is None else case.risk,
        tricks=[tricks or 0 for tricks in case.tricks],
        participants=case.participants,
        principal=None if case.principal == NOBODY else case.principal,
        first_winner=None if case.first == NOBODY else case.first,
    )
    return settled, NOBODY if settled.best_principal is None else settled.best_principal


@pytest.mark.parametrize("settled_by", [of_the_engine, of_the_reference])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line)
def test_money_lines(case: Case, settled_by: Any) -> None:
    rules = parse_rules(case.rules)
    settled, half_ante = settled_by(rules, case)
    assert settled.shares == case.shares
    assert settled.penalties == (case.penalties or [0] * rules.num_players)
    assert (settled.rake, settled.carry_after, half_ante) == (case.rake, case.carry, case.half_ante)
    assert case.pot + sum(settled.penalties) == sum(settled.shares) + settled.rake + settled.carry_after


def scores_of_first_deal(name: str) -> list[Fraction]:
    record = load_record(Path(__file__).parent / "deals" / f"{name}.toml")
    batch = GameBatch(record.rules, autoreset=False)
    batch.reset(deals=[record.deals[0].setup])
    for said in record.deals[0].actions or ():
        exchange_cards = int(batch.states["exchange_cards"][0])
        batch.step([batch.layout.action(said.partition(" ")[2], exchange_cards)])
    assert batch.done[0]
    return [Fraction(score).limit_denominator(1000) for score in batch.scores[0]]


# The equity score of design 8.3 by hand: fractions of what lay in the pot before the stakes.
SCORES = {
    # P0 = 9 and P+ = 9: what each won.
    "bestia_worked": [Fraction(part, 9) for part in (0, 3, -9, 6)],
    # P0 = 50, and P+ = 80 less the 5 of 4's discount: (won - stake + (75 - 50) / 5) / 50, and 5 more for 4.
    "bestia_roman_half_ante": [Fraction(part, 50) for part in (5, 27, -85, 5, 48)],
    # P0 = 12 and P+ = 24: (won + 12 / 4) / 12.
    "julepe_worked": [Fraction(part, 12) for part in (15, -9, 3, -9)],
    # P0 = 360 and P+ = 0, the risk was 0: (won - 360 / 4) / 360.
    "online3_tournament": [Fraction(part, 360) for part in (150, -90, 30, -90)],
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_worked_deals(name: str) -> None:
    assert scores_of_first_deal(name) == SCORES[name]
    assert sum(SCORES[name]) == 0


def test_score_of_the_second_implementation() -> None:
    score = equity_score(
        parse_rules("bestia_roman(num_players=5)").values(),
        pot0=50,
        shares=[0, 32, 0, 0, 48],
        penalties=[0, 0, 80, 0, 0],
        stakes_paid=[0, 10, 10, 0, 10],
        carry_after=80,
        entitled=[True] * 5,
        half_ante_earner=4,
    )
    assert score == SCORES["bestia_roman_half_ante"]
