"""Bad deal records: each is refused with an error that names what, where, and what is allowed."""

import re

import pytest

import bestia_env
from bestia_env.errors import IllegalActionError, RecordError
from bestia_env.records import Deal, DealRecord, loads_record, record_game
from bestia_env.session import SessionConfig
from tests.test_records import RECORDS, text


def replaced(name: str, old: str, new: str) -> str:
    assert text(name).count(old) == 1
    return text(name).replace(old, new)


SHAPES = [
    ("format = 1", "format = 2", "format=2; allowed is 1"),
    ("format = 1", "format = true", "format=True; allowed is 1"),
    ("format = 1", "", "format=None; allowed is 1"),
    ("format = 1", "format = ", "not TOML: .*line"),
    ('rules = "bestia(', 'rules = "bestiola(', "rules: variant='bestiola'; allowed are"),
    ("num_players=4", "num_players=2", "rules: num_players=2; allowed is an integer from 3 to 10 .bestia."),
    ("seed = 0", "seed = -1", "seed=-1; allowed are"),
    ("game = [0, 0]", "game = [0]", r"game=\[0\]; allowed is a pair"),
    ('"2 play Qc"', "4", "actions=.*; allowed is a list of texts"),
    ("[result]", "[[result]]", "result=.*; allowed is a table"),
]


@pytest.mark.parametrize(("old", "new", "message"), SHAPES)
def test_what_is_no_record_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        loads_record(replaced("bestia_worked", old, new))


def test_no_rules_is_refused() -> None:
    with pytest.raises(RecordError, match="rules=None; allowed is the text of rules"):
        loads_record("format = 1\n")


def test_deals_beside_a_deal_are_refused() -> None:
    head = text("tippen_worked").partition("dealer = 0")[0]
    with pytest.raises(RecordError, match=r"carry=3 stands beside \[\[deals\]\]; allowed is carry within"):
        loads_record(f"{head}carry = 3\n[[deals]]\nactions = []\n")
    with pytest.raises(RecordError, match=r"deals=\[\]; allowed are one or more"):
        loads_record(f"{head}deals = []\n")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("carry = 6", "carry = 6\nante = 3", "'ante'"),
        ("carry_after = 9", "carry_after = 9\nscore = 2", "'result.score'"),
    ],
)
def test_unknown_keys_warn_and_are_ignored(old: str, new: str, key: str) -> None:
    with pytest.warns(UserWarning, match=f"record key {key} is not known to bestia and ignored; known are"):
        record = loads_record(replaced("bestia_worked", old, new))
    assert record == RECORDS["bestia_worked"]


def test_unknown_keys_of_one_deal_among_several_warn() -> None:
    body = text("tippen_bare_again").replace("forced = true", "forced = true\nseed = 3", 1)
    with pytest.warns(UserWarning, match=re.escape("record key 'deals[0].seed' is not known")):
        assert loads_record(body) == RECORDS["tippen_bare_again"]


CONTRADICTIONS = [
    ("bestia_worked", "6c", "8h", "hands.*8h.*not in the pack"),
    ("bestia_worked", '"2c 2s 6c"', '"2c 2s As"', "card As is given twice"),
    ("bestia_worked", '"2c 2s 6c"', '"2c 2s"', r"hands\[0\]='2c 2s': 2 cards; seat 0 is dealt 3"),
    ("bestia_worked", "dealer = 0", "dealer = 4", "dealer=4; allowed are integers from 0 to 3"),
    ("bestia_worked", '"2 pass"', '"3 pass"', r"actions\[1\]='3 pass': seat 2 is to act; allowed are 2 pass, 2 knock"),
    ("bestia_worked", '"2 pass"', '"pass"', r"actions\[1\]='pass': seat 2 is to act"),
    ("bestia_worked", '"2 pass"', '"2 fold"', r"actions\[1\]='2 fold': .*allowed are pass, knock, draw"),
    ("bestia_worked", '"2 pass"', '"2 draw"', r"actions\[1\]='2 draw' is not legal; allowed are 2 pass, 2 knock"),
    ("bestia_worked", '"1 play 7s"', '"1 play 5s"', r"actions\[6\].*is not legal; allowed are 1 play 2d, 1 play Kh"),
    ("bestia_worked", '"1 play 7s"', '"1 play 1s"', r"actions\[6\]='1 play 1s': card '1s' is not in the pack"),
    ("bestia_worked", ', "2 play Qc"', "", r"actions end after 14, and the deal goes on; allowed are 2 play Qc"),
    ("bestia_worked", '"2 play Qc"', '"2 play Qc", "3 pass"', r"actions\[15\]='3 pass': the deal is over; .* 15"),
    ("bestia_worked", "[3, 3, 1]", "[3, 1, 3]", r"result.winners=\[3, 1, 3\]; the replay gives \[3, 3, 1\]"),
    ("bestia_worked", "-9, 6]", "-6, 6]", r"result.net=.*; the replay gives \[-3, 3, -9, 6\]"),
    ("bestia_worked", "carry_after = 9", "carry_after = 12", "result.carry_after=12; the replay gives 9"),
    ("bestia_worked", "carry_after = 9", "cards = 15", "result.cards is no result of this game; allowed are winners"),
    ("bestia_roman_worked", '"4 exchange 5c 6c"', '"4 exchange 5c Ac"', r"actions\[3\].*Ac not in hand"),
    ("bestia_short_stock", '"5h 4h 6h"', '"5h 4h 6d"', r"reshuffles\[0\]='5h 4h 6d': '5 draw' reshuffles 4h 5h 6h"),
    ("bestia_short_stock", '"5h 4h 6h"', '"5h 4h"', r"reshuffles\[0\]='5h 4h': '5 draw' reshuffles 4h 5h 6h"),
    ("bestia_short_stock", '"5h 4h 6h"', '""', r"reshuffles\[0\]=''; allowed is a stock"),
    ("tippen_worked", "carry = 0", "carry = 3", "forced=True; with forced_deal=bare_ante"),
    ("bestia_buco_worked", '"6d Jd 7d"', '"6d Jd"', "extra_hand='6d Jd': 2 cards; the rules lay 3"),
    ("bestia_cap_two_bestie", "carry = 60", "carry = 63", r"deals\[1\].carry=63; the deals before it lead to 60"),
    ("bestia_cap_two_bestie", "dealer = 1", "dealer = 2", r"deals\[1\].dealer=2; the deals before it lead to 1"),
    ("bestia_cap_two_bestie", "carry_after = 60", "carry_after = 6", r"deals\[0\].result.carry_after=6; the replay"),
    ("bestia_cap_two_bestie", '"1 pass", "2 pass"', '"1 pass", "1 pass"', r"deals\[1\].actions\[4\]='1 pass': seat 2"),
    ("bestia_roman_half_ante", "half_ante = 4", "half_ante = 1", r"deals\[1\].half_ante=1; .* lead to 4"),
    ("bestia_strict_forced", "forced = true", "forced = false", r"deals\[1\].forced=False; .* lead to True"),
    ("online3_tournament", "[1150, 810, 0, 0]", "[1150, 810, 0, 9]", r"deals\[2\].credits=.* to \[1150, 810, 0, 0\]"),
    ("online3_tournament", "[1000, 800, 250, 90]", '[1000, 800, 250, "a"]', r"deals\[0\].credits='a'; allowed"),
    ("online3_tournament", "true, true, true, false", "true, true, true, true", r"deals\[1\].entitled=.* lead to \["),
    ("bettelmann_v4", '"Q"', '"X"', r"stacks\[1\]='X'"),
    ("bettelmann_v4", '"J", "Q"', '"J"', "stacks=.*; allowed is a list of 2 texts"),
    ("bettelmann_v4", '"1 lay"', '"0 lay"', r"actions\[1\]='0 lay': seat 1 is to act; allowed are 1 lay"),
    ("bettelmann_v4", "piles = 1", "piles = 0", "result.piles=0; the replay gives 1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "message"), CONTRADICTIONS)
def test_contradictions_are_refused(name: str, old: str, new: str, message: str) -> None:
    record = loads_record(replaced(name, old, new))
    with pytest.raises(RecordError, match=message):
        record.replay()


def test_actions_may_be_missing_only_where_nobody_has_a_choice() -> None:
    record = loads_record(re.sub(r"actions = \[.*?\]", "", text("tippen_worked"), flags=re.DOTALL))
    with pytest.raises(
        RecordError, match="actions are missing, and seat 1 has a choice; allowed are 1 play Kd, 1 play 9h"
    ):
        record.replay()


def test_nothing_follows_a_session_that_is_over() -> None:
    rules = bestia_env.make_rules("online3", 3)
    session = SessionConfig(credits=[100, 100, 500])
    record = record_game(rules, lambda batch: int(batch.random_actions()[0]), session=session)
    passed = tuple(f"{seat} pass" for seat in 2 * [(record.deals[0].setup["dealer"] + step) % 3 for step in (1, 2, 3)])
    setup = record.deals[0].setup
    longer = DealRecord(rules=rules, deals=(Deal(setup=setup, actions=passed), Deal(actions=passed)))
    with pytest.raises(RecordError, match=re.escape("deals[1]: the session is over after deals[0]")):
        longer.replay()


def test_illegal_actions_are_not_recorded() -> None:
    with pytest.raises(IllegalActionError, match="cannot play action 2"):
        record_game("bestia(num_players=4)", lambda batch: 2)
