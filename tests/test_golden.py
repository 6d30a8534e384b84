"""The kept playthroughs of tests/golden/ are what the engine plays, and every preset has one."""

from __future__ import annotations

import pytest

import bestia_env
from tests import golden

FILES = sorted(golden.SEEDS)


def kept(variant: str, players: int) -> str:
    return golden.path_of(variant, players).read_text(encoding="utf-8")


def test_every_preset_has_a_playthrough_and_no_file_is_left_over() -> None:
    defaults = {(variant, bestia_env.default_players(variant)) for variant in bestia_env.variants()}
    assert defaults - set(FILES) == set(), "presets without a playthrough: add them to tests/golden.py"
    assert {path.name for path in golden.FOLDER.iterdir()} == {golden.path_of(*file).name for file in FILES}


@pytest.mark.parametrize(("variant", "players"), FILES)
def test_games_go_as_they_went(variant: str, players: int) -> None:
    where = golden.difference(kept(variant, players), golden.transcript(variant, players))
    assert not where, (
        f"{golden.path_of(variant, players).name}, {where}\n"
        "If that is meant: `make golden`, read the diff, and raise the environment's -vN (docs/architecture.md)."
    )


@pytest.mark.parametrize("variant", bestia_env.variants())
def test_playthroughs_of_a_preset_show_what_it_has(variant: str) -> None:
    """Every verb, exchanges, walk-overs, one and several bestie, forced deals, seats away."""
    rules = bestia_env.make_rules(variant)
    text = "".join(kept(name, players) for name, players in FILES if name == variant)
    assert golden.wanted(rules) - golden.events(text, rules) == set()


def test_files_stay_readable() -> None:
    lengths = {file: len(kept(*file).splitlines()) for file in FILES}
    assert {file: length for file, length in lengths.items() if length >= 400} == {}
    assert sum(golden.path_of(*file).stat().st_size for file in FILES) < 600_000


def test_the_first_differing_line_is_named() -> None:
    assert golden.difference("a\nb\n", "a\nb\n") == ""
    assert golden.difference("a\nb\n", "a\nc\n").split() == ["line", "2", "kept:", "b", "now:", "c"]
    assert golden.difference("a\n", "a\nc\n").split() == ["line", "2", "kept:", "None", "now:", "c"]


def test_a_changed_transcript_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(golden, "SEEDS", {("tippen", 4): (1,)})
    assert golden.main(["--check"]) == 1
    assert capsys.readouterr().out.startswith("tippen_4.txt: line ")
