"""The generated tables of the docs are up to date, and every preset has a page that explains it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bestia_env
from bestia_env import GameBatch, SessionConfig
from docs import generate, meanings

RAMS = [name for name in bestia_env.variants() if bestia_env.family_of(bestia_env.make_rules(name)).name == "rams"]
CREATION = re.compile(r'bestia_env\.(?:aec_env|make_rules|GameBatch)\("(\w+)"')


def layouts(variant: str) -> tuple[Any, ...]:
    """What the tables of actions and tensor are made of."""
    rules = bestia_env.make_rules(variant)
    family = bestia_env.family_of(rules)
    return family.layout(rules), family.tensor(rules).slices


def sections(page: Path) -> set[tuple[str, str]]:
    return {(match["kind"], match["variant"]) for match in generate.SECTION.finditer(page.read_text(encoding="utf-8"))}


def test_pages_are_up_to_date() -> None:
    assert [str(page.relative_to(generate.ROOT)) for page in generate.stale()] == [], "make docs-tables"


# --- every preset is documented ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", bestia_env.variants())
def test_preset_has_a_page_with_its_rules_and_a_creation_line(variant: str) -> None:
    page, _, sentence = generate.where(variant)
    text = page.read_text(encoding="utf-8")
    assert len(sentence) > 10
    assert f"`bestia/{variant}-v" in text, "no version history"
    if page.stem == variant:  # and not one of several presets on a page
        assert variant in CREATION.findall(text), "no line of Python on the page makes the game"
        assert ("rules", variant) in sections(page)


@pytest.mark.parametrize("variant", RAMS)
def test_preset_shows_its_layouts_or_links_to_equal_ones(variant: str) -> None:
    page, _, _ = generate.where(variant)
    shown = {kind for kind, name in sections(page) if name == variant}
    if shown >= {"actions", "view", "tensor"}:
        return
    (other,) = re.findall(r"As in \[(\w+)\]\(\1\.md#actions\): the layouts are equal", page.read_text(encoding="utf-8"))
    assert {kind for kind, name in sections(generate.where(other)[0]) if name == other} >= {"actions", "view", "tensor"}
    assert layouts(variant) == layouts(other)


def test_index_links_every_page() -> None:
    folder = generate.ROOT / "docs"
    text = (folder / "index.md").read_text(encoding="utf-8")
    linked = {(folder / target).resolve() for target in re.findall(r"\]\(([^)#:\s]+)", text)}
    assert {page for page in generate.pages() if folder in page.parents} - linked == {folder / "index.md"}


def test_anchors_of_links_exist() -> None:
    dead = []
    for page in generate.pages():
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
            aim = page.parent / target if target else page
            headings = re.findall(r"^#+ (.*)$", aim.read_text(encoding="utf-8"), re.MULTILINE)
            if anchor not in map(generate.slug, headings):
                dead.append(f"{page.relative_to(generate.ROOT)}: {target}#{anchor}")
    assert dead == []


# --- the tables say what is true --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", RAMS)
def test_view_fields_called_constant_are_constant(variant: str) -> None:
    """Random sessions at the largest table: no field that the page leaves out ever changes."""
    rules = bestia_env.make_rules(variant, bestia_env.player_range(variant)[1])
    batch = GameBatch(rules, 64, seed=5, session=SessionConfig(num_deals=4))
    fixed = {name: value for name, value, when in meanings.CONSTANT["rams"] if when(rules)}
    for _ in range(60):
        views = batch.view()
        changed = {name: views[name].max() for name, value in fixed.items() if (views[name] != value).any()}
        assert changed == {}
        batch.step(batch.random_actions())


def test_constant_fields_are_seen_to_vary_where_they_are_not_called_constant() -> None:
    varied: set[str] = set()
    games: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in ("julepe", "online3", "tippen", "bestia_buco")]
    games += [("bestia_roman", {"penalty_cap": 30}), ("bestia_five", {"num_players": 6})]
    for variant, changes in games:
        batch = GameBatch(variant, 64, seed=5, session=SessionConfig(num_deals=4), **changes)
        for _ in range(60):
            views = batch.view()
            varied |= {name for name, value, _ in meanings.CONSTANT["rams"] if (views[name] != value).any()}
            batch.step(batch.random_actions())
    assert varied == {name for name, _, _ in meanings.CONSTANT["rams"]}


@pytest.mark.parametrize("variant", ["bestia", "julepe", "bettelmann"])
def test_tables_cover_all_actions_and_numbers(variant: str) -> None:
    rules = bestia_env.make_rules(variant)
    for text, size in (
        (generate.actions_table(rules), bestia_env.family_of(rules).layout(rules).num_actions),
        (generate.tensor_table(rules), bestia_env.family_of(rules).tensor(rules).size),
    ):
        spans = [(int(low), int(high or low)) for low, high in re.findall(r"\| (\d+)(?:–(\d+))? \|", text)]
        assert np.concatenate([np.arange(low, high + 1) for low, high in spans]).tolist() == list(range(size))


def test_rules_table_marks_what_differs() -> None:
    text = generate.rules_table(bestia_env.make_rules("bestia_strict"))
    bold = re.findall(r"^\| `(\w+)` \| \*\*", text, re.MULTILINE)
    duties = ["ruff", "lead_top_trump", "lead_top_trump_every_trick", "lead_trump_after_first"]
    assert bold == ["forced_deal", *duties, "penalty_cap"]


# --- the generator ----------------------------------------------------------------------------------------------------


def page_with(kind: str, body: str = "stale\n", end: str = generate.END) -> str:
    return f"# t\n\n{generate.BEGIN} {kind} -->\n{body}{end}\n\nmore\n"


def test_only_sections_change_and_a_second_run_changes_nothing() -> None:
    text = page_with("actions tippen")
    new = generate.regenerate(text, Path("page.md"))
    assert "| 0 | `pass` |" in new
    assert (new.startswith("# t\n\n"), new.endswith("\n\nmore\n"), "stale" in new) == (True, True, False)
    assert generate.regenerate(new, Path("page.md")) == new


@pytest.mark.parametrize(
    "text",
    [
        page_with("moves tippen"),
        page_with("actions whist"),
        page_with("actions"),
        page_with("games tippen"),
        page_with("actions tippen", end=""),
        page_with("actions tippen", body=f"{generate.BEGIN} view tippen -->\n"),
        f"no beginning\n{generate.END}\n",
    ],
)
def test_sections_that_cannot_be_made_are_errors(text: str) -> None:
    with pytest.raises(generate.DocsError, match=r"page\.md"):
        generate.regenerate(text, Path("page.md"))


def test_a_field_without_meaning_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = bestia_env.make_rules("tippen")
    monkeypatch.delitem(meanings.VIEW["rams"], "pot")
    with pytest.raises(generate.DocsError, match="pot"):
        generate.view_table(rules)
    monkeypatch.delitem(meanings.VERBS, "knock")
    with pytest.raises(generate.DocsError, match="knock"):
        generate.actions_table(rules)


def test_check_names_stale_pages_and_changes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(page_with("actions tippen"), encoding="utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "pages", lambda: [page])
    assert generate.main(["--check"]) == 1
    assert page.read_text(encoding="utf-8") == page_with("actions tippen")
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == "out of date: page.md\nwritten: page.md\n"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("2.4 Money", "24-money"),
        ("`bestia`: Bestia", "bestia-bestia"),
        ("2.6 Points of procedure [ours]", "26-points-of-procedure-ours"),
    ],
)
def test_slugs_are_those_of_markdown_viewers(heading: str, anchor: str) -> None:
    assert generate.slug(heading) == anchor
