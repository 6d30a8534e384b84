"""From words to rules and sessions, and the shipped tables of typical carries."""

from __future__ import annotations

import pytest

from benchmarks import typical
from benchmarks.options import rules_of, session_of
from bestia_env import GameBatch, RulesError, make_rules, player_range, variants
from bestia_env.rams.typical import typical_table


def test_rules_from_words():
    assert rules_of(None, None, (), None) == make_rules("bestia")
    assert rules_of("bestia", 4, ("penalty_cap=30", "must_head=True"), None) == make_rules(
        "bestia", 4, penalty_cap=30, must_head=True
    )
    assert rules_of("mauscheln", None, ("quota=(1, 1)",), None) == make_rules("mauscheln", quota=(1, 1))
    assert rules_of("rams", None, ("ante=6",), None) == make_rules("rams", ante=6)
    assert rules_of(None, None, (), "tippen(num_players=3)") == make_rules("tippen", 3)


def test_sessions_from_words():
    session, note = session_of(make_rules("bestia", 5), None)
    assert (session.carry, session.forced) == ("typical", False)
    assert "typical" in note
    assert session_of(make_rules("bestia_strict", 5), None)[0].forced == "typical"
    assert session_of(make_rules("bestia_strict", 5, forced_deal="never"), None)[0].forced is False
    assert session_of(make_rules("bestia", 5), "3-9")[0].carry == range(3, 10)
    session, note = session_of(make_rules("rams", 5), None)
    assert session.carry == 0
    assert "no table" in note
    with pytest.raises(RulesError, match="no table"):
        session_of(make_rules("rams", 5), "typical")


@pytest.mark.parametrize(
    ("variant", "players"), [("bestia", 5), ("bestia_strict", 10), ("online4", 4), ("tippen", 9), ("mauscheln", 10)]
)
def test_shipped_tables_are_what_the_command_makes(variant, players):
    rules = make_rules(variant, players)
    carries, forced = typical_table(rules)
    table = typical.table_of(rules, typical.Config())
    assert carries.tolist() == table["carry"] == sorted(table["carry"])
    assert forced.tolist() == table["forced"]
    assert ("capped" in table) == (variant not in ("bestia_strict", "online4"))
    if "capped" in table:
        carries, forced = typical_table(make_rules(variant, players, penalty_cap=table["capped"]["cap"]))
        assert carries.tolist() == table["capped"]["carry"]
        assert forced.tolist() == table["capped"]["forced"]
    if variant == "tippen":
        assert [flag for flag, carry in zip(table["forced"], table["carry"], strict=True) if (carry == 0) != flag] == []


def test_a_cap_that_is_put_on_a_game_bounds_its_typical_carries():
    uncapped, _ = typical_table(make_rules("mauscheln", 10))
    assert uncapped.max() > 10**6
    capped, _ = typical_table(make_rules("mauscheln", 10, penalty_cap=32))
    assert capped.max() <= 10 * 40  # ten seats, each with the cap the table was made with
    dearer, _ = typical_table(make_rules("mauscheln", 10, ante=8, penalty_cap=32))
    assert dearer.tolist() == (2 * capped).tolist()
    for changes in ({}, {"penalty_cap": 60}, {"penalty_cap": None}):  # a capped preset has one table
        strict, _ = typical_table(make_rules("bestia_strict", 10, **changes))
        assert 30 < strict.max() <= 10 * 30
    rules = make_rules("mauscheln", 10, penalty_cap=32)
    batch = GameBatch(rules, 256, seed=1, session=session_of(rules, None)[0])
    assert set(batch.states["carry"].tolist()) <= set(capped.tolist())
    assert len(set(batch.states["carry"].tolist())) > 3


def test_every_preset_with_a_pot_has_a_table():
    for variant in variants():
        low, high = player_range(variant)
        for players in range(low, high + 1):
            rules = make_rules(variant, players)
            session, _ = session_of(rules, None)
            batch = GameBatch(rules, 8, seed=1, session=session)
            assert (batch.actor >= 0).all()
            assert session.carry == ("typical" if hasattr(rules, "ante") else 0)
