"""Rules as data: the presets against the rule book's table, texts and their inverse; no game is known by its name."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bestia_env
from bestia_env.cards import PACKS, Pack
from bestia_env.errors import RulesError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import STATE, VIEW
from bestia_env.rams.variants import VARIANTS
from bestia_env.registry import default_players, family_of, make_rules, parse_rules, player_range, variants
from tests.rams_play import ALL, DRAWN, NUMBERS, VALUES, changed_rules, label
from tests.reference.rams_presets import PRESETS, preset

# The table of rules: rams 3, row by row; "=" repeats the column to the left, "." is off. Amounts as on the page.
GAMES = "bestia bestia_strict bestia_buco bestia_five bestia_roman online3 online4 julepe mauscheln tippen".split()
TABLE = """
players                    3-10 3-10 4-10 4-6 4-6 3-6 3-4 3-6 3-10 3-10
pack                       italian40 = = = = = = italian36/italian40 piquet32/french52 =
hand_size                  3 3 3 5 5 3 4 5 4 3
ante_payer                 dealer dealer all all all all all dealer dealer dealer
ante                       3 3 3 5 10 100 100 4 4 3
stay_stake                 0 0 0 0 10 0 0 0 0 0
turn_up                    before_deal = = = after_deal = = = mid_deal after_deal
turn_up_owner              nobody = = dealer nobody nobody nobody dealer_swap nobody nobody
extra_hand                 . . yes . . . . . . .
bidding                    round round round round circuits round round round round round
max_circuits               . . . . 6 . . . . .
conditional_third          . . . . yes . . . . .
late_join                  . . . . . . . . yes .
forced_deal                never after_no_bestia never never never never never never never bare_ante
second_chance              yes yes . . . yes yes . . .
exchange_max               0 0 0 4 5 3 4 5 4 0
exchange_when              after after after declaring declaring declaring declaring declaring after after
recycle                    folded_then_discards = none folded_then_discards = none none folded_then_discards = =
last_player_wins           . . yes yes yes . . . . .
principal                  none none none none knocker none first_in none first_in none
principal_leads            . . . . yes . . . yes .
must_head                  . . yes yes yes . . yes yes .
ruff                       any highest over/any = = any any over/trump = any
lead_top_trump             none ace none none none ace_or_exposed_next = none none none
lead_top_trump_every_trick . yes . . . . . . . .
lead_trump_after_first     . yes . . . . . . . .
quota                      1,1 1,1 1,1 1,1 1,1 1,1 2,1 2,2 2,1 1,1
principal_penalty          1,1 1,1 1,1 1,1 3/2,1 1,1 1,1 1,1 2,1 1,1
pot_award                  per_trick = = = = = = quota_split per_trick per_trick
best_principal_half_ante   . . . . yes . . . . .
penalty_cap                . 30 . . . . . . . .
stakes                     unlimited = = = = table table unlimited = =
remainder                  carry carry carry carry carry first_trick_winner = carry carry carry
rake_bp                    0 0 0 0 0 0 0 0 0 0
"""
RUFFS = {
    "any": "any_trump",
    "highest": "highest_trump",
    "over/any": "overtrump_else_any_card",
    "over/trump": "overtrump_else_any_trump",
}
# More presets by one change (rules: rams 3, below the table).
CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "mousel": ("mauscheln", {}),
    "dreiblatt": ("tippen", {}),
    "tippen_exchange": ("tippen", {"exchange_max": 3}),
    "bestia_col_buco": ("bestia", {"extra_hand": True, "second_chance": False}),
    "bestia_five_majority": ("bestia_five", {"pot_award": "most_tricks"}),
    "bestia_five_ace": ("bestia_five", {"lead_top_trump": "ace"}),
    "bestia_five_top": (
        "bestia_five",
        {"lead_top_trump": "highest_remaining", "lead_top_trump_every_trick": True},
    ),
    "bestia_five_undertrump": ("bestia_five", {"ruff": "overtrump_else_any_trump"}),
}


def _cell(field: str, text: str) -> Any:
    if type(getattr(RamsRules(), field, None)) is bool:
        return {"yes": True, ".": False}[text]
    if field == "quota":
        return tuple(int(part) for part in text.split(","))
    if field == "principal_penalty":
        return tuple(Fraction(part) for part in text.split(","))
    if text == ".":
        return None
    return int(text) if text.isdigit() else RUFFS.get(text, text)


def book() -> dict[str, dict[str, Any]]:
    """Every preset's row of the rule book's table, by field; ``players`` and ``pack`` as their texts."""
    games: dict[str, dict[str, Any]] = {game: {} for game in GAMES}
    for line in TABLE.strip().splitlines():
        field, *cells = line.split()
        for game, cell in zip(GAMES, cells, strict=True):
            before = games[GAMES[GAMES.index(game) - 1]]
            games[game][field] = before[field] if cell == "=" else _cell(field, cell)
    return games | {name: games[base] | changes for name, (base, changes) in CHANGED.items()}


BOOK = book()


# --- presets --------------------------------------------------------------------------------------------------------


def test_the_presets_are_those_of_the_book() -> None:
    assert set(VARIANTS) == set(BOOK) == set(PRESETS)
    assert set(VARIANTS) < set(variants()) == set(bestia_env.variants())


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_preset_has_the_values_of_the_book(rules: RamsRules) -> None:
    expected = dict(BOOK[rules.variant])
    fewest, most = map(int, expected.pop("players").split("-"))
    assert player_range(rules.variant) == bestia_env.player_range(rules.variant) == (fewest, most)
    assert fewest <= default_players(rules.variant) <= most
    packs = expected.pop("pack").split("/")
    small = rules.num_players <= (5 if rules.variant == "julepe" else 6)
    expected["pack"] = packs[0] if small else packs[-1]
    assert rules.values() == expected | {"num_players": rules.num_players}


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_a_preset_has_the_values_of_the_second_implementation(rules: RamsRules) -> None:
    pack = rules.cards
    assert rules.values() | {"pack": (pack.suits, list(pack.ranks))} == preset(rules.variant, rules.num_players)


@pytest.mark.parametrize(("alias", "name"), [("mousel", "mauscheln"), ("dreiblatt", "tippen")])
def test_an_alias_is_the_same_game_field_for_field(alias: str, name: str) -> None:
    assert player_range(alias) == player_range(name)
    for n in range(player_range(name)[0], player_range(name)[1] + 1):
        assert make_rules(alias, n).values() == make_rules(name, n).values()
        assert make_rules(alias, n) != make_rules(name, n)  # but it keeps its name


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_table_size_out_of_the_range_is_refused(variant: str) -> None:
    low, high = player_range(variant)
    for players in (low - 1, high + 1, 0, -1, True, 4.0, "4", [4]):
        reason = f"num_players={players!r}; allowed is an integer from {low} to {high} ({variant})"
        with pytest.raises(RulesError, match=re.escape(reason)):
            make_rules(variant, players)  # type: ignore[arg-type]  # on purpose
    assert make_rules(variant).num_players == default_players(variant)


@pytest.mark.parametrize("name", ["bestai", "", "BESTIA", 5, None])
def test_an_unknown_variant_is_refused_with_the_list_of_those_there_are(name: Any) -> None:
    for ask in (make_rules, player_range, default_players):
        with pytest.raises(RulesError, match=re.escape(f"variant={name!r}; allowed are ") + ".*bestia_strict.*tippen"):
            ask(name)


def test_an_unknown_field_is_refused_with_the_list_of_those_there_are() -> None:
    with pytest.raises(RulesError, match=r"unknown field 'penalty_kap' of bestia; allowed .*penalty_cap"):
        make_rules("bestia", penalty_kap=30)
    with pytest.raises(RulesError, match="variant"):
        parse_rules("bestia(variant=tippen)")
    with pytest.raises(RulesError, match="rules=3; allowed are rules made by make_rules"):
        family_of(3)  # type: ignore[arg-type]  # on purpose


# --- rules as text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_presets_read_back(rules: RamsRules) -> None:
    assert str(rules) == f"{rules.variant}(num_players={rules.num_players})"
    assert parse_rules(str(rules)) == rules
    assert parse_rules(rules.full_text()) == rules
    assert bestia_env.parse_rules(rules.full_text()) == rules
    assert set(re.findall(r"(\w+)=", rules.full_text())) == set(RamsRules.__dataclass_fields__) - {"variant"}


@DRAWN
@given(changed_rules(), st.sampled_from(ALL))
def test_any_rules_read_back(rules: RamsRules, other: RamsRules) -> None:
    assert parse_rules(str(rules)) == rules
    assert parse_rules(rules.full_text()) == rules
    assert hash(parse_rules(str(rules))) == hash(rules)
    labelled = rules.values() | {"num_players": other.num_players}
    try:
        named = make_rules(other.variant, **labelled)
    except RulesError:
        return
    assert parse_rules(str(named)) == named
    assert str(named).count("=") <= str(rules).count("=") + 40


@DRAWN
@given(st.sampled_from(ALL), st.sampled_from(["ante", "penalty_cap", "stay_stake"]), st.integers(1, 10**6))
def test_the_text_tells_exactly_what_was_changed(rules: RamsRules, field: str, factor: int) -> None:
    value = factor * 2 * rules.hand_size * 2
    if rules.stakes == "table" and field == "stay_stake":
        return
    changed = make_rules(rules.variant, rules.num_players, **{field: value})
    expected = f"{rules.variant}(num_players={rules.num_players}, {field}={value})"
    assert str(changed) == (str(rules) if getattr(rules, field) == value else expected)
    assert rules != changed or getattr(rules, field) == value


@pytest.mark.parametrize(
    "pack",
    [
        Pack(ranks=tuple("A K Q J 10 9".split())),
        Pack(suits="hd", ranks=tuple("K Q J 7 6 5 4 3 2 A".split())),
        Pack(name="mine", ranks=tuple("A K Q J 10 9 8".split())),
        Pack(name="italian40", ranks=tuple("A K Q J 10 9 8 7 6 5".split())),
        PACKS["italian40"],
        PACKS["french52"],
    ],
    ids=str,
)
def test_rules_with_a_pack_given_as_data_read_back(pack: Pack) -> None:
    rules = make_rules("bestia", 3, pack=pack)
    for text in (str(rules), rules.full_text()):
        again = parse_rules(text)
        assert isinstance(again, RamsRules)
        assert (again.cards.suits, again.cards.ranks) == (pack.suits, pack.ranks)
        assert again == rules


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tippen", {"num_players": 4}),
        (" tippen ( num_players = 3 ) ", {"num_players": 3}),
        ("tippen(ruff='highest_trump', must_head=True)", {"ruff": "highest_trump", "must_head": True}),
        (
            "mauscheln(principal_penalty=(3/2, 1/2), penalty_cap=None)",
            {"principal_penalty": (Fraction(3, 2), Fraction(1, 2))},
        ),
        ("bestia(quota=(2, 1))", {"quota": (2, 1)}),
    ],
)
def test_texts_as_people_write_them(text: str, values: dict[str, Any]) -> None:
    rules = parse_rules(text)
    assert {field: getattr(rules, field) for field in values} == values


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bestia(",
        "bestia(5)",
        "bestia(num_players=4)(num_players=4)",
        "bestia(num_players=4, num_players=4)",
        "bestia(**{})",
        "bestia(ante=1/0)",
        "bestia(ante=1.5)",
        "bestia(ante=2+1)",
        "bestia(ante=__import__('os'))",
        "bestia(pack=Pack(ranks=5))",
        "bestia(pack=Pack(suits=cdhs))",
        "bestia(pack=Pack(suits=cdhs, ranks='A K', colour=red))",
        "bestia(pack=Deck(suits=cdhs, ranks='A K'))",
        "bestia(quota=[1, 1])",
        "bestia.tippen(ante=3)",
        "'bestia'",
        "bestia(ante=True)",
        "bes\0tia",
        "bestia(ante=" + "(" * 500 + "3" + ")" * 500 + ")",
    ],
)
def test_texts_that_are_no_rules(text: str) -> None:
    with pytest.raises(RulesError):
        parse_rules(text)


@DRAWN
@given(st.one_of(st.text(max_size=60), st.text("bestia()=,_ 0123456789/*-\"'numplyersacTrFlN", max_size=60)))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        rules = parse_rules(text)
    except RulesError:
        return
    assert parse_rules(str(rules)) == rules


# --- the sources ----------------------------------------------------------------------------------------------------

RAMS = Path(bestia_env.__file__).parent / "rams"


@pytest.mark.parametrize("path", sorted(set(RAMS.glob("*.py")) - {RAMS / "variants.py"}), ids=lambda path: path.name)
def test_no_game_is_known_by_its_name(path: Path) -> None:
    """Games differ by the values of their fields: no preset's name stands in the family but in the table of presets."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not words & set(VARIANTS)
    compares = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.Match)]
    if path.name != "rules.py":  # which checks the label itself
        assert not [node for node in compares if re.search(r"\.variant\b", ast.unparse(node))]


@pytest.mark.parametrize("dtype", [STATE, VIEW], ids=["state", "view"])
def test_no_field_hides_an_attribute_of_a_record(dtype: np.dtype[Any]) -> None:
    assert not set(dtype.names or ()) & set(dir(np.record))


def test_numbers_of_the_drawn_rules_cover_every_field() -> None:
    assert set(VALUES) == set(RamsRules.__dataclass_fields__) - {"variant"}
    assert set(NUMBERS) < set(VALUES)
