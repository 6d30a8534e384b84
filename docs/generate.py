"""Writes the generated sections of the documentation: ``python -m docs.generate``, ``--check`` only compares.

A section stands between ``<!-- generated: KIND VARIANT -->`` and ``<!-- end generated -->``. KIND is ``rules``,
``actions``, ``view`` or ``tensor`` of a preset at its default table size. Without VARIANT: ``games``, the list of all
presets with the first sentence of each one's page; ``minis``, the fields of the mini games; ``solutions``, what is kept
of their equilibria; ``trained``, the agents that training has left here.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bestia_env
from bestia_env.family import ActionLayout
from docs import meanings

ROOT = Path(__file__).resolve().parents[1]
GAMES = ROOT / "docs" / "games"
BEGIN, END = "<!-- generated:", "<!-- end generated -->"
SECTION = re.compile(rf"^{BEGIN} (?P<kind>\w+)(?: (?P<variant>\w+))? -->\n.*?^{END}$", re.MULTILINE | re.DOTALL)


class DocsError(ValueError):
    """A page cannot be generated; the message names the page or field."""


def pages() -> list[Path]:
    """Every page that may hold generated sections."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def regenerate(text: str, page: Path) -> str:
    """The text of a page with all its generated sections made anew.

    Raises:
        DocsError: a section of an unknown kind or preset, or one that does not end.
    """
    if len(SECTION.findall(text)) != text.count(BEGIN) or text.count(BEGIN) != text.count(END):
        raise DocsError(f"{page}: a generated section is not of the form {BEGIN} KIND VARIANT --> ... {END}")

    def section(match: re.Match[str]) -> str:
        first_line = match[0].partition("\n")[0]
        return f"{first_line}\n{_body(match['kind'], match['variant'], page)}{END}"

    return SECTION.sub(section, text)


def _body(kind: str, variant: str | None, page: Path) -> str:
    if kind in WHOLE and variant is None:
        return WHOLE[kind](page)
    if kind not in TABLES or variant not in bestia_env.variants():
        raise DocsError(
            f"{page}: section {kind} {variant or ''}; allowed are {', '.join(WHOLE)}, or one of {', '.join(TABLES)} "
            f"with one of {', '.join(bestia_env.variants())}"
        )
    return TABLES[kind](bestia_env.make_rules(variant))


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


# --- one preset -------------------------------------------------------------------------------------------------------


def rules_table(rules: Any) -> str:
    """Every field of the rules, beside the family's plain default; what differs is bold."""
    told = field_meanings(type(rules))
    plain = type(rules)(num_players=rules.num_players).values()
    rows = []
    for field, value in rules.values().items():
        if field not in told:
            raise DocsError(f"rules field {field} of {type(rules).__name__} has no meaning in its docstring")
        text = f"`{_value(value)}`"
        differs = value != plain[field]
        rows.append((f"`{field}`", f"**{text}**" if differs else text, f"`{_value(plain[field])}`", told[field]))
    return f"`{rules}`\n\n" + table(("field", "value", f"plain `{_plain_name(rules)}`", "meaning"), rows)


def _plain_name(rules: Any) -> str:
    return str(type(rules).__dataclass_fields__["variant"].default)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_value(part) for part in value)})"
    return getattr(value, "name", None) or str(value)


def field_meanings(rules_class: type) -> dict[str, str]:
    """The ``Args`` of the docstring of a rules class, by name, and the words of fields that take one of a few."""
    text = inspect.getdoc(rules_class) or ""
    block = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^    (\w+): (.*?)(?=^    \w+: |\Z)", block[1] if block else "", re.MULTILINE | re.DOTALL)
    choices: Mapping[str, tuple[str, ...]] = getattr(inspect.getmodule(rules_class), "CHOICES", {})
    return {name: _with_words(_markdown(" ".join(text.split())), choices.get(name, ())) for name, text in entries}


def _with_words(text: str, words: tuple[str, ...]) -> str:
    """The meaning of a field, and the words it takes unless the meaning names them."""
    return text if all(f"`{word}`" in text for word in words) else f"{text}: {', '.join(f'`{word}`' for word in words)}"


def _markdown(text: str) -> str:
    text = re.sub(r":class:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    return text.replace("``", "`").removesuffix(".")


def actions_table(rules: Any) -> str:
    """Action ranges of the layout, with names and meanings."""
    layout = bestia_env.family_of(rules).layout(rules)
    rows = [(str(i), f"`{verb}`", _verb(verb, rules)) for i, verb in enumerate(layout.verbs)]
    if layout.exchange_hand:
        rows.append(_range(layout, layout.first_exchange, layout.first_card, meanings.exchange(rules)))
    if layout.pack is not None:
        what = f"play the card with id action − {layout.first_card}; suits c d h s, low to high in each"
        rows.append(_range(layout, layout.first_card, layout.num_actions, what))
    return f"{_many(layout.num_actions, 'action')}, {_seats(rules)}:\n\n" + table(("action", "name", "meaning"), rows)


def _verb(verb: str, rules: Any) -> str:
    if verb not in meanings.VERBS:
        raise DocsError(f"verb {verb} has no meaning in docs/meanings.py")
    return meanings.verb(verb, rules)


def _range(layout: ActionLayout, first: int, stop: int, meaning: str) -> tuple[str, str, str]:
    return f"{first}–{stop - 1}", f"`{layout.name(first)}` … `{layout.name(stop - 1)}`", meaning


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _seats(rules: Any) -> str:
    return _many(rules.num_players, "player")


def view_table(rules: Any) -> str:
    """The fields of the family's View that can vary in this game."""
    family = bestia_env.family_of(rules)
    told = meanings.VIEW[family.name]
    fields: Mapping[str, Any] = family.view_dtype.fields or {}
    if set(told) != set(fields):
        odd = sorted(set(told) ^ set(fields))
        raise DocsError(f"View of {family.name}: {odd} not in both docs/meanings.py and the dtype")
    fixed = {name: value for name, value, when in meanings.CONSTANT[family.name] if when(rules)}
    rows = []
    for name in family.view_dtype.names or ():
        kind = fields[name][0]
        if name not in fixed:
            rows.append((f"`{name}`", f"`{kind.base}`", f"{kind.shape}" if kind.shape else "", told[name]))
    said = ", ".join(f"`{name}` {value}" for name, value in fixed.items())
    return table(("field", "dtype", "shape", "meaning"), rows) + (f"\nAlways the same here: {said}.\n" if said else "")


def tensor_table(rules: Any) -> str:
    """The named slices of the tensor."""
    layout = bestia_env.family_of(rules).tensor(rules)
    rows = []
    for name, part in layout.slices.items():
        if name not in layout.meanings:
            raise DocsError(f"tensor slice {name} of {rules.variant} has no meaning in TensorLayout.meanings")
        if part.stop > part.start:
            shape = layout.shapes[name]
            rows.append((f"`{name}`", f"{part.start}–{part.stop - 1}", f"{shape}", layout.meanings[name]))
    head = ("slice", "places", "shape", "meaning")
    return f"{_many(layout.size, 'number')}, {_seats(rules)}:\n\n" + table(head, rows)


TABLES: dict[str, Callable[[Any], str]] = {
    "rules": rules_table,
    "actions": actions_table,
    "view": view_table,
    "tensor": tensor_table,
}


# --- all presets ------------------------------------------------------------------------------------------------------


def games_table(page: Path) -> str:
    """Every preset with its table sizes and the first sentence of its page, which is a link to it."""
    rows = []
    for variant in bestia_env.variants():
        target, anchor, sentence = where(variant)
        path = Path(os.path.relpath(target, page.parent)).as_posix()
        low, high = bestia_env.player_range(variant)
        players = f"{low}–{high}" if low != high else str(low)
        rows.append((f"`{variant}`", players, f"[{sentence}]({path}{anchor})"))
    return table(("preset", "players", "the game"), rows)


def where(variant: str) -> tuple[Path, str, str]:
    """The page of a preset, the anchor of its heading unless it has the page to itself, and its first sentence.

    A preset has the page of its name, or a heading with its name in code letters on another page of docs/games.

    Raises:
        DocsError: there is no such page.
    """
    own = GAMES / f"{variant}.md"
    candidates = [own] if own.exists() else sorted(GAMES.glob("*.md"))
    heading = re.compile(rf"^#+ [^\n]*`{variant}`[^\n]*$", re.MULTILINE)
    for page in candidates:
        text = page.read_text(encoding="utf-8")
        if match := heading.search(text):
            anchor = "" if page == own else f"#{slug(match[0].lstrip('# '))}"
            return page, anchor, first_sentence(text[match.end() :])
    raise DocsError(f"{variant}: no page in docs/games has a heading with `{variant}`")


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph of plain words, without its full stop."""
    paragraphs = (part for part in re.split(r"\n\s*\n", text) if re.match(r"\s*[\w`\"]", part))
    words = " ".join(next(paragraphs, "").split())
    return re.split(r"\.(?: |$)", words)[0]


def slug(heading: str) -> str:
    """The anchor that Markdown viewers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def minis_table(page: Path) -> str:
    """The fields in which mini games differ from the plain default, one column a game."""
    games = {name: bestia_env.make_rules(name).values() for name in bestia_env.mini_variants()}  # type: ignore[attr-defined]
    plain = bestia_env.make_rules("rams").values()  # type: ignore[attr-defined]
    rows = [("players", *("–".join(map(str, dict.fromkeys(bestia_env.player_range(name)))) for name in games), "")]
    for field, value in plain.items():
        if field != "num_players" and any(values[field] != value for values in games.values()):
            rows.append(
                (f"`{field}`", *(f"`{_short(values[field])}`" for values in games.values()), f"`{_value(value)}`")
            )
    return table(("field", *(f"`{name}`" for name in games), "plain `rams`"), rows)


def _short(value: object) -> str:
    return (
        f"{' '.join(value.ranks)} of {' '.join(value.suits)}" if isinstance(value, bestia_env.Pack) else _value(value)
    )


def solutions_table(page: Path) -> str:
    """The stored equilibria of the mini games: sizes, iterations of CFR+, NashConv, values from eldest to dealer."""
    entries = json.loads((ROOT / "bestia_env" / "rams" / "mini.json").read_text(encoding="utf-8"))
    rows = []
    for entry in entries:
        values = " ".join(f"{value:+.4f}".replace("-", "−") for value in entry["values"])
        sizes = (str(entry[name]) for name in ("players", "information_states", "choices", "iterations"))
        rows.append((f"`{entry['variant']}`", *sizes, f"{entry['nash_conv']:.1e}".replace("-", "−"), values))
    head = ("game", "players", "information states", "with a choice", "iterations", "NashConv", "values from eldest on")
    return table(head, rows)


def trained_table(page: Path) -> str:
    """The shipped agents, from their cards: training, Bench v1, and what they do among copies of ``medium``."""
    rows = []
    for file in sorted((ROOT / "agents" / "trained").glob("*/*/card.toml")):
        card = tomllib.loads(file.read_text(encoding="utf-8"))
        bench, training, behaviour = card["bench_v1"], card["training"], card["behaviour"]
        leads = {name.removeprefix("less_"): told for name, told in bench.items() if name.startswith("less_")}
        closest = min(leads, key=lambda name: leads[name][0])
        scores = [_interval(bench["score"]), _interval(bench["hold_out"]), f"{_interval(leads[closest])} `{closest}`"]
        rates = [f"{behaviour[name]:.0%}" for name in ("took_part", "bestia")]
        learned = f"{training['decisions'] / 1e6:.1f} M in {training['minutes']:.0f} min"
        rows.append((f"`{file.parent.parent.name}`", f"`{file.parent.name}`", learned, *scores, *rates))
    head = (
        "agent",
        "game",
        "learned from",
        "score",
        "hold-out",
        "less the closest rule of thumb",
        "takes part",
        "bestia",
    )
    return table(head, rows)


def _interval(told: Sequence[float]) -> str:
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*told).replace("-", "−")


WHOLE: dict[str, Callable[[Path], str]] = {
    "games": games_table,
    "minis": minis_table,
    "solutions": solutions_table,
    "trained": trained_table,
}


# --- command line -----------------------------------------------------------------------------------------------------


def stale() -> list[Path]:
    """The pages whose generated sections are out of date."""
    return [page for page in pages() if regenerate(text := page.read_text(encoding="utf-8"), page) != text]


def main(arguments: list[str] | None = None) -> int:
    """Writes or compares; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    check = parser.parse_args(arguments).check
    outdated = stale()
    for page in outdated:
        if not check:
            page.write_text(regenerate(page.read_text(encoding="utf-8"), page), encoding="utf-8")
        print(f"{'out of date' if check else 'written'}: {page.relative_to(ROOT)}")
    return 1 if check and outdated else 0


if __name__ == "__main__":
    sys.exit(main())
