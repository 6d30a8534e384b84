"""Golden playthroughs: readable transcripts of fixed games, one file a game and table size.

``python -m tests.golden`` writes them anew, ``--check`` only compares. Whoever changes rules, randomness, actions or
observations reads the diff before keeping it. ``--search VARIANT PLAYERS`` prints seeds whose games show what the ones
in ``SEEDS`` no longer do.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from bestia_env import GameBatch, SessionConfig, make_rules
from bestia_env.cards import cards_of
from bestia_env.family import ActionLayout

FOLDER = Path(__file__).parent / "golden"

DEALS = 3  # of a session in the Rams group

# The games of each file. Every preset at its default table size; more where the stock runs short or the pack changes.
SEEDS: dict[tuple[str, int], tuple[int, ...]] = {
    ("bestia", 5): (3, 15, 0),
    ("bestia", 10): (0, 1),
    ("bestia_strict", 5): (11, 15, 0),
    ("bestia_strict", 9): (42, 69),
    ("bestia_buco", 6): (7, 20, 0),
    ("bestia_buco", 10): (64, 20),
    ("bestia_col_buco", 5): (0, 11, 20),
    ("bestia_five", 5): (2, 134, 0),
    ("bestia_five", 6): (46, 4, 0),
    ("bestia_five_majority", 5): (2, 0, 1),
    ("bestia_five_ace", 5): (2, 0, 1),
    ("bestia_five_top", 5): (2, 0, 1),
    ("bestia_five_undertrump", 5): (46, 19, 6),
    ("bestia_roman", 5): (147, 2, 0),
    ("bestia_roman", 6): (25, 33, 0),
    ("online3", 5): (2, 5, 0),
    ("online3", 6): (32, 82, 0),
    ("online4", 4): (1, 114, 0),
    ("julepe", 5): (12, 24, 0),
    ("julepe", 6): (23, 4, 24),
    ("mauscheln", 4): (2, 47, 0),
    ("mauscheln", 7): (7, 3),
    ("mousel", 4): (2, 47),
    ("tippen", 4): (0, 5, 1),
    ("tippen", 7): (16, 5),
    ("dreiblatt", 4): (0, 5),
    ("tippen_exchange", 4): (2, 47, 0),
    ("tippen_exchange", 8): (44, 5),
    ("bettelmann", 2): (0, 1),
    ("bettelmann", 3): (0, 1),
    ("bettelmann_20min", 2): (613,),
    ("bettelmann_records", 2): (2,),
    ("camicia", 2): (0, 1),
    ("camicia", 3): (0, 1),
}


def path_of(variant: str, players: int) -> Path:
    """Where a transcript is kept."""
    return FOLDER / f"{variant}_{players}.txt"


def transcript(variant: str, players: int) -> str:
    """All games of a file as text."""
    return "".join(_file(variant, players, SEEDS[variant, players]))


def _file(variant: str, players: int, seeds: tuple[int, ...]) -> Iterator[str]:
    rules = make_rules(variant, players)
    yield f"{rules.full_text()}\n"
    explained: set[str] = set()
    for seed in seeds:
        yield f"\n=== seed {seed}\n"
        yield from game(rules, seed, explained)


def game(rules: Any, seed: int, explained: set[str]) -> Iterator[str]:
    """One game; a phase not in ``explained`` is introduced by what its first actor sees, and is then added to it."""
    batch = start(rules, seed)
    rams = batch.family.name == "rams"
    yield from _actions(batch.layout, explained)
    yield from _deal(batch)
    while not batch.done[0]:
        before = batch.states[0].copy()
        view, legal = batch.view()[0], np.flatnonzero(batch.legal()[0])
        phase = batch.family.full_state(rules, before)["phase"]
        if phase not in explained:
            explained.add(phase)
            yield from _seen(batch, view)
        action = choose(batch.layout, legal, int(batch.keys()[0]))
        batch.step([action])
        after = batch._ended[0] if batch.done[0] else batch.states[0]
        if rams:
            choices = offered(batch.layout, legal, view)
            yield f"{_turn(batch, before, view)} [{choices}] -> {_said(batch, action, view)}\n"
            if after["reshuffles"] > before["reshuffles"] and after["deal"] == before["deal"]:
                yield f"  new stock: {batch.family.full_state(rules, after)['stock']}\n"
            if batch.done[0] or after["deal"] != before["deal"]:
                yield from _settlement(batch, after)
                if not batch.done[0]:
                    yield from _deal(batch)
        elif batch.done[0] or after["piles"] != before["piles"]:
            yield _pile(batch, before, after)
    if not rams:
        yield from _settlement(batch, after)
    if batch.truncated[0]:
        yield "truncated\n"


def start(rules: Any, seed: int) -> GameBatch:
    """A session of several deals in the Rams group, at table stakes with poor seats; one game of Bettelmann."""
    session = SessionConfig()
    if hasattr(rules, "ante"):
        poor = tuple(3 * rules.ante // 2 * (seat + 1) for seat in range(rules.num_players))
        session = SessionConfig(num_deals=DEALS, credits=poor if rules.stakes == "table" else None)
    return GameBatch(rules, 1, seed=seed, session=session, autoreset=False)


def choose(layout: ActionLayout, legal: Any, key: int) -> int:
    """A random action: each verb, exchanging, and playing a card equally likely, so that rare verbs occur."""
    kinds: dict[int, list[int]] = {}
    for action in legal.tolist():
        kind = min(action, layout.first_exchange) + (action >= layout.first_card)
        kinds.setdefault(kind, []).append(action)
    chosen = list(kinds.values())[key % len(kinds)]
    return chosen[(key >> 32) % len(chosen)]


# --- lines ------------------------------------------------------------------------------------------------------------


def _actions(layout: ActionLayout, explained: set[str]) -> Iterator[str]:
    if not explained and layout.num_actions > 1:
        yield f"{layout.num_actions} actions, from {layout.names[0]} to {layout.names[-1]}\n"


def _deal(batch: GameBatch) -> Iterator[str]:
    """Perfect information at the beginning of a deal."""
    told = batch.family.full_state(batch.rules, batch.states[0])
    address = told.pop("address")
    yield f"\n--- deal {address['deal']} (row {address['row']}, game {address['game']})\n"
    public = ("dealer", "turn_up", "carry", "pot", "credits")
    table = [f"{name} {_plain(told[name])}" for name in public if name in told]
    table += ["forced"] if told.get("forced") else []
    table += [] if all(told.get("entitled", ())) else [f"entitled {_plain(told['entitled'])}"]
    yield f"{', '.join(table)}\n" if table else ""
    hands = "hands" if "hands" in told else "stacks"
    yield from (f"{hands} {seat}: {cards or '-'}\n" for seat, cards in enumerate(told[hands]))
    yield from (f"{name}: {told[name]}\n" for name in ("extra_hand", "stock") if told.get(name))


def _seen(batch: GameBatch, view: Any) -> Iterator[str]:
    """What the actor is told, as text and as the numbers of the tensor that are not zero."""
    tensor = batch.encode(view.reshape(1))[0]
    yield f"  > what the actor sees, and the places of its {len(tensor)} numbers that are not zero:\n"
    yield textwrap.indent(batch.family.view_text(batch.rules, view), "  > ") + "\n"
    parts = []
    for name, part in batch.tensor_layout.slices.items():
        numbers = [f"{place}={value:.4g}" for place, value in enumerate(tensor[part].tolist()) if value]
        parts += [f"{name} {' '.join(numbers)};"] if numbers else []
    yield textwrap.fill(" ".join(parts), 118, initial_indent="  > tensor: ", subsequent_indent="  >   ") + "\n"


def offered(layout: ActionLayout, legal: Any, view: Any) -> str:
    """The legal actions by name; exchanges that are all subsets of the hand up to a size are named together."""
    actions, first = legal.tolist(), layout.first_exchange
    words = [layout.verbs[action] for action in actions if action < first]
    subsets = [action - first for action in actions if first <= action < layout.first_card]
    if subsets:
        assert layout.pack is not None
        hand = cards_of(view["exchange_cards"])
        sizes = sorted({bits.bit_count() for bits in subsets})
        every = [bits for bits in range(1 << len(hand)) if sizes[0] <= bits.bit_count() <= sizes[-1]]
        assert subsets == every, (subsets, hand)
        words.append(f"exchange {sizes[0]} to {sizes[-1]} of {layout.pack.texts(hand)}")
    cards = [action - layout.first_card for action in actions if action >= layout.first_card]
    if cards:
        assert layout.pack is not None
        words.append(f"play {layout.pack.texts(cards)}")
    return ", ".join(words)


def _turn(batch: GameBatch, state: Any, view: Any) -> str:
    pack = batch.layout.pack
    assert pack is not None
    seat, trick = int(state["actor"]), int(state["trick"])
    told = batch.family.full_state(batch.rules, state)
    played = [pack.text(card) for card in _in_order(state, trick, batch.num_players)]
    where = (
        f" trick {trick + 1} {'after ' + ' '.join(played) if played else 'leads'}" if told["phase"] == "play" else ""
    )
    return f"{seat} {told['phase']}{where}, holds {pack.texts(cards_of(view['hand']))}"


def _in_order(state: Any, trick: int, players: int) -> Iterator[int]:
    """The cards of a trick as they were played."""
    for step in range(players):
        card = int(state["plays"][trick, (int(state["leader"]) + step) % players])
        if card >= 0:
            yield card


def _said(batch: GameBatch, action: int, view: Any) -> str:
    cards = int(view["exchange_cards"]) if "exchange_cards" in (view.dtype.names or ()) else 0
    return batch.layout.text(action, cards)


def _pile(batch: GameBatch, before: Any, after: Any) -> str:
    told = batch.family.full_state(batch.rules, before)
    laid = f"{told['pile']} {told['stacks'][told['actor']].split()[0]}".strip()
    held = after["held"][: batch.num_players]
    taker = int(np.argmax(held - before["held"][: batch.num_players]))
    taken = f"pile {int(after['piles'])} to seat {taker}: {laid}"
    return f"{int(after['cards'])} laid, {taken}; held {_plain(held.tolist())}\n"


def _settlement(batch: GameBatch, state: Any) -> Iterator[str]:
    told = batch.family.settlement(batch.rules, state)
    line = f"settled: {', '.join(f'{name} {_plain(value)}' for name, value in told.items())}"
    yield textwrap.fill(line, 118, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(_plain(part) for part in value)}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# --- which seeds ------------------------------------------------------------------------------------------------------


def events(text: str, rules: Any) -> set[str]:
    """What a transcript shows: the kinds of actions, and how deals ended."""
    shown = {f"says {verb}" for verb in re.findall(r"-> (\w+)", text)}
    shown |= {"exchanges none"} if re.search(r"-> exchange$", text, re.MULTILINE) else set()
    for settled in re.findall(r"^settled: .*(?:\n  .*)*", text, re.MULTILINE):
        line = " ".join(settled.split())
        if participants := re.search(r"participants \[([\d ]*)\].* penalties \[([\d ]*)\]", line):
            seats, bestie = len(participants[1].split()), len(re.findall(r"[1-9]\d*", participants[2]))
            shown.add(f"{min(seats, 2)} in")
            shown |= {f"{min(bestie, 2)} bestie"} if seats > 1 else set()
        shown |= {f"result {word}" for word in re.findall(r"result (\w+)", line)}
    shown |= {"forced"} if "forced True" in text else set()
    shown |= {"reshuffle"} if "new stock" in text else set()
    shown |= {"seat away"} if "entitled" in text else set()
    return shown


def wanted(rules: Any) -> set[str]:
    """What the files of a preset must show together, whatever their seeds are."""
    layout = start(rules, 0).layout
    if not hasattr(rules, "ante"):
        return {"result win"} if rules.limit_cards is None else {"result limit"}
    needed = {f"says {verb}" for verb in layout.verbs} | {"says play", "1 in", "2 in", "1 bestie", "2 bestie"}
    needed |= {"says exchange", "exchanges none"} if layout.exchange_hand else set()
    needed |= {"forced"} if rules.forced_deal != "never" else set()
    needed |= {"seat away"} if rules.stakes == "table" else set()
    return needed


def search(variant: str, players: int, tries: int, games: int = 3) -> list[int]:
    """Seeds, taken greedily, whose games together show most."""
    rules = make_rules(variant, players)
    found = {seed: events("".join(game(rules, seed, set())), rules) for seed in range(tries)}
    shown: set[str] = set()
    seeds: list[int] = []
    for _ in range(games):
        seeds.append(max(found, key=lambda seed: (len(found[seed] - shown), -seed)))
        shown |= found.pop(seeds[-1])
    print(f"{variant} {players}: {tuple(seeds)} show {', '.join(sorted(shown))}")
    print(f"  missing: {', '.join(sorted(wanted(rules) - shown)) or 'nothing'}")
    return seeds


# --- command line -----------------------------------------------------------------------------------------------------


def difference(old: str, new: str) -> str:
    """The first line in which two transcripts differ, or ""."""
    for number, (before, now) in enumerate(zip(_lines(old), _lines(new), strict=False), 1):
        if before != now:
            return f"line {number}\n  kept: {before}\n  now:  {now}"
        if before is None:
            return ""
    raise AssertionError


def _lines(text: str) -> Iterator[str | None]:
    yield from text.splitlines()
    yield from (None for _ in count())


def main(arguments: list[str] | None = None) -> int:
    """Writes, compares or searches; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a transcript differs")
    parser.add_argument("--search", nargs=2, metavar=("VARIANT", "PLAYERS"), help="look for telling seeds")
    parser.add_argument("--tries", type=int, default=200, help="seeds that a search plays")
    given = parser.parse_args(arguments)
    if given.search:
        search(given.search[0], int(given.search[1]), given.tries)
        return 0
    FOLDER.mkdir(exist_ok=True)
    status = 0
    for variant, players in SEEDS:
        path = path_of(variant, players)
        new = transcript(variant, players)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old != new:
            status = 1
            print(f"{path.name}: {difference(old, new)}")
            if not given.check:
                path.write_text(new, encoding="utf-8")
    return status if given.check else 0


if __name__ == "__main__":
    sys.exit(main())
