"""Rules, sessions and deals of Bettelmann: what is accepted, what is rejected, how it prints."""

from typing import Any

import numpy as np
import pytest

from bestia_env.bettelmann.game import FAMILY
from bestia_env.bettelmann.state import STATE
from bestia_env.bettelmann.variants import VARIANTS
from bestia_env.errors import RecordError, RulesError
from bestia_env.registry import family_of, parse_rules
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig
from tests.bettelmann_table import LOOPS, Table


@pytest.mark.parametrize("variant", VARIANTS)
def test_rules_print_and_read_back(variant: str) -> None:
    for players in range(VARIANTS[variant].players[0], VARIANTS[variant].players[1] + 1):
        for changes in ({}, {"limit_cards": 7, "on_limit": "finish_pile"}, {"penalties": {"K": 2, "A": 3, "7": 3}}):
            rules = make(variant, players, **changes)
            assert parse_rules(str(rules)) == rules
            assert parse_rules(rules.full_text()) == rules
            assert hash(parse_rules(str(rules))) == hash(rules)
            assert family_of(rules) is FAMILY
    assert str(make(variant)) == f"{variant}(num_players=2)"


def test_presets_are_those_of_the_page() -> None:
    assert make("bettelmann").penalties == (("J", 1), ("Q", 2), ("K", 3), ("A", 4))
    assert make("bettelmann_20min").limit_cards == 1200
    assert VARIANTS["bettelmann_records"].players == (2, 2)
    camicia = make("camicia")
    assert (camicia.cards.num_cards, camicia.penalties) == (40, (("A", 1), ("2", 2), ("3", 3)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_players": 5}, "num_players=5; bettelmann allows 2 to 4"),
        ({"pack": "tarot"}, "pack='tarot'"),
        ({"penalties": ()}, r"penalties=\(\); allowed are one or more pairs"),
        ({"penalties": {}}, "penalties={}"),
        ({"penalties": {"J": 0}}, "penalties: J=0; allowed is an integer from 1 to 10"),
        ({"penalties": {"J": True}}, "penalties: J=True"),
        ({"penalties": {"B": 1}}, "penalties: rank 'B'"),
        ({"penalties": (("J", 1), ("J", 2))}, "penalties: rank 'J'"),
        ({"partial": "half"}, "partial='half'; allowed is one of close, pass_on"),
        ({"elimination": "never"}, "elimination='never'"),
        ({"limit_cards": 0}, "limit_cards=0; allowed is None or an integer from 1 to 100000"),
        ({"limit_cards": 501, "hard_cap": 500}, "limit_cards=501; .* 1 to 500"),
        ({"limit_cards": True}, "limit_cards=True"),
        ({"on_limit": "stop"}, "on_limit='stop'"),
        ({"detect_cycle": 1}, "detect_cycle=1; allowed is True or False"),
        ({"hard_cap": 0}, "hard_cap=0"),
        ({"hard_cap": 250_001}, "hard_cap=250001; allowed is an integer from 1 to 250000"),
        ({"ante": 3}, "unknown field 'ante' of bettelmann"),
    ],
)
def test_rules_that_are_rejected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError, match=message):
        make("bettelmann", **changes)


@pytest.mark.parametrize(
    "session", [{"num_deals": 2}, {"play_on": True}, {"carry": 6}, {"forced": True}, {"dealer": 0}, {"credits": 5}]
)
def test_sessions_that_do_not_fit(session: dict[str, Any]) -> None:
    (field,) = session
    with pytest.raises(RulesError, match=f"session {field}="):
        FAMILY.parameters(make("bettelmann", 3), SessionConfig(**session))


def test_sessions_that_fit() -> None:
    session = SessionConfig(carry="typical", forced="typical", dealer=2, credits=0)
    assert FAMILY.parameters(make("bettelmann", 3), session)["num_players"] == 3


@pytest.mark.parametrize(
    ("stacks", "message"),
    [
        ("Ah Kh", "stacks='Ah Kh'; allowed is a list of 2 texts"),
        (["Ah"], "allowed is a list of 2 texts"),
        (["Ah", 3], r"stacks\[1\]=3; allowed are card texts"),
        (["Ah", ""], "two or more hold cards"),
        (["Ah 2h", "2h"], "card 2h is given twice"),
        (["Ah Ah", "2h"], r"stacks\[0\]='Ah Ah': card Ah is named twice"),
        (["Ah", "1h"], r"stacks\[1\]='1h'.*a pattern may hold - J Q K A"),
        (["JJJ-", "J-J"], r"stacks\[1\]='J-J': the pack has no card left for 'J'"),
        (["Jh", "JJJJ"], r"stacks\[1\]='JJJJ': the pack has no card left for 'J'"),
    ],
)
def test_deals_that_are_rejected(stacks: Any, message: str) -> None:
    state = np.zeros(1, STATE)
    with pytest.raises(RecordError, match=message):
        FAMILY.inject(make("bettelmann"), state[0], {"stacks": stacks}, 1)
    assert not any(state.tobytes())


def test_cards_and_patterns_may_be_mixed_and_a_missing_deal_is_random() -> None:
    rules = make("bettelmann", 3)
    table = Table(rules, ["Ah 10d 2c", "-JA-", "QQ-"])
    assert rules.cards.texts(table.stacks()[0]) == "Ah 10d 2c"
    assert [table.marks(stack) for stack in table.stacks()] == ["A--", "-JA-", "QQ-"]
    assert len({card for stack in table.stacks() for card in stack}) == 10
    for key in (1, 2):
        FAMILY.inject(rules, table.states[0], {}, key)
        LOOPS.start(table.states, table.parameters, np.arange(1), True)
        assert sorted(map(len, table.stacks())) == [17, 17, 18]
        assert len({card for stack in table.stacks() for card in stack}) == 52
    assert FAMILY.deal_keys() == {"stacks"}
    assert FAMILY.sides(rules) == ((0,), (1,), (2,))
