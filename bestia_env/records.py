"""Deal records: what was dealt, what was played and what came of it, as TOML files that can be replayed (design 8.2).

A record needs nothing but itself: the rules with every field, cards, actions, result. The seed and the address of the
game it comes from stand beside them, for whatever the setup of a deal leaves open.
"""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env._rows import check_seed
from bestia_env._watch import DEAL_KEYS, RESULT_KEYS, SESSION_KEYS, Watch, setup_of
from bestia_env.batch import GameBatch
from bestia_env.errors import BestiaError, RecordError
from bestia_env.registry import family_of, parse_rules
from bestia_env.session import SessionConfig

if TYPE_CHECKING:
    from bestia_env.family import Rules

__all__ = ["Deal", "DealRecord", "load_record", "loads_record", "record_game"]

FORMAT = 1
LINE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """One deal of a record.

    Args:
        setup: the keys of a set-up deal, as ``reset(options=…)`` takes them; the address decides what is not given.
        actions: one text a decision: seat, verb, cards, as in ``"2 exchange 7s 2d"``. None: nobody ever had a choice.
        result: what came of it: ``winners`` (the seat that won each trick; in games without tricks those that won the
            game), ``net`` (chips by seat: shares − penalties − antes − stakes) and ``carry_after``; in games of laying
            cards, ``cards`` laid and ``piles`` taken. What is not given is not checked.
    """

    setup: Mapping[str, Any] = field(default_factory=dict)
    actions: tuple[str, ...] | None = None
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DealRecord:
    """A deal, or the deals of a session one after another, as they were played.

    Args:
        rules: how all the deals are played.
        deals: one deal or more.
        seed: the seed of the game the record comes from.
        game: the address (row, game) of that game.
    """

    rules: Rules
    deals: tuple[Deal, ...]
    seed: int = 0
    game: tuple[int, int] = (0, 0)

    @property
    def winners(self) -> list[int]:
        """The seat that won each trick, deal after deal; in games without tricks the seats that won.

        Raises:
            RecordError: a deal does not say; ``replay()`` fills it in.
        """
        return [seat for winners in self._results("winners") for seat in winners]

    @property
    def net(self) -> list[Any]:
        """What each seat won in all deals together: chips less antes and stakes, or shares of games without chips.

        Raises:
            RecordError: a deal does not say; ``replay()`` fills it in.
        """
        return [sum(seat) for seat in zip(*self._results("net"), strict=True)]

    @property
    def carry_after(self) -> int:
        """Chips in the pot after the last deal.

        Raises:
            RecordError: a deal does not say; ``replay()`` fills it in where the game has a pot.
        """
        return int(self._results("carry_after")[-1])

    def _results(self, key: str) -> list[Any]:
        for index, deal in enumerate(self.deals):
            if key not in deal.result:
                given = ", ".join(deal.result) or "nothing; replay() fills it in"
                raise RecordError(f"{self._place(index)}result.{key} is not given; given is {given}")
        return [deal.result[key] for deal in self.deals]

    def _place(self, index: int) -> str:
        return f"deals[{index}]." if len(self.deals) > 1 else ""

    def replay(self) -> DealRecord:
        """Plays the record again.

        Returns:
            The record with everything filled in that it leaves open: cards, what the session hands on, results.

        Raises:
            RecordError: cards contradict each other or the rules, an action is not legal or not its seat's turn, the
                actions end too early or go on after the end, a deal does not follow from the one before it, or the
                result is another. The message names deal and action by index, the first is 0.
        """
        credits = self.deals[0].setup.get("credits")
        most = max(credits) if _is_list(credits, int) and credits else None  # the deals' own are set up one by one
        with _errors_at(""):
            session = SessionConfig(num_deals=len(self.deals), credits=most)
            batch = GameBatch(self.rules, 1, seed=self.seed, session=session, autoreset=False)
        played = []
        for index, deal in enumerate(self.deals):
            place = self._place(index)
            self._begin(batch, index)
            watch = Watch(batch, deal.setup.get("reshuffles", []))
            while not watch.over:
                watch.play(_next_action(watch, deal.actions, place))
                watch.check_reshuffles(place)
            played.append(_watched(watch, with_actions=deal.actions is not None))
            _check_end(deal, played[-1], place)
        return replace(self, deals=tuple(played))

    def _begin(self, batch: GameBatch, index: int) -> None:
        """Sets up a deal; a later one must follow from the deals before it, of which the batch has played the last."""
        place, setup = self._place(index), dict(self.deals[index].setup)
        if index > 0:
            if batch.actor[0] < 0:
                raise RecordError(f"{place.rstrip('.')}: the session is over after deals[{index - 1}]")
            setup = _follow(setup_of(batch), setup, place)
        if index > 0 and not set(self.deals[index].setup) - set(SESSION_KEYS):
            return  # no cards are given: the deal stands as the session dealt it
        if isinstance(setup.get("reshuffles"), list):
            # An injected deal holds a few planned stocks; the address gives the rest, and check_reshuffles compares.
            setup["reshuffles"] = setup["reshuffles"][: batch.states["planned"].shape[1]]
        with _errors_at(place):
            batch.reset(deals=[setup | {"seed": self.seed, "game": self.game}])
        batch.states["deal"] = index

    # --- text -------------------------------------------------------------------------------------------------------

    def dumps(self) -> str:
        """The record as TOML; :func:`loads_record` is the inverse."""
        lines = [
            f"format = {FORMAT}",
            f"rules = {_toml(self.rules.full_text())}",
            f"seed = {self.seed}",
            f"game = {_toml(list(self.game))}",
        ]
        several = len(self.deals) > 1
        for deal in self.deals:
            lines += ["", "[[deals]]"] if several else []
            lines += [_line(key, deal.setup[key]) for key in DEAL_KEYS if key in deal.setup]
            lines += [] if deal.actions is None else [_line("actions", list(deal.actions))]
            lines += ["[deals.result]" if several else "[result]"] if deal.result else []
            lines += [_line(key, deal.result[key]) for key in RESULT_KEYS if key in deal.result]
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Writes the record to a file, in place of what is there.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_text(self.dumps(), encoding="utf-8")


# --- playing --------------------------------------------------------------------------------------------------------


def _watched(watch: Watch, *, with_actions: bool) -> Deal:
    """The deal that has ended."""
    actions = tuple(watch.actions) if with_actions else None
    return Deal(setup=watch.setup(), actions=actions, result=watch.result())


def _follow(handed_on: Mapping[str, Any], given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A deal's setup, completed by what the deals before hand on, which it must not contradict."""
    session = {key: handed_on[key] for key in SESSION_KEYS if key in handed_on}
    for key, value in session.items():
        if key in given and given[key] != value:
            raise RecordError(f"{place}{key}={given[key]!r}; the deals before it lead to {value!r}")
    return {key: value for key, value in session.items() if value is not None} | dict(given)


def _next_action(watch: Watch, texts: Sequence[str] | None, place: str) -> int:
    """The action that the record says is next, if it is legal."""
    batch, index = watch.batch, len(watch.actions)
    actor, layout = int(batch.actor[0]), batch.layout
    legal = np.flatnonzero(batch.legal()[0]).tolist()
    if texts is None and len(legal) == 1:
        return int(legal[0])
    allowed = "allowed are " + ", ".join(f"{actor} {layout.text(action, watch.exchange_cards)}" for action in legal)
    if texts is None:
        raise RecordError(f"{place}actions are missing, and seat {actor} has a choice; {allowed}")
    if index == len(texts):
        raise RecordError(f"{place}actions end after {index}, and the deal goes on; {allowed}")
    seat, _, said = texts[index].partition(" ")
    name = f"{place}actions[{index}]={texts[index]!r}"
    if seat != str(actor):
        raise RecordError(f"{name}: seat {actor} is to act; {allowed}")
    try:
        action = layout.action(said, watch.exchange_cards)
    except BestiaError as error:
        raise RecordError(f"{name}: {error}; {allowed}") from error
    if action not in legal:
        raise RecordError(f"{name} is not legal; {allowed}")
    return action


def _check_end(given: Deal, played: Deal, place: str) -> None:
    if given.actions is not None and played.actions is not None and len(given.actions) > len(played.actions):
        end = len(played.actions)
        raise RecordError(f"{place}actions[{end}]={given.actions[end]!r}: the deal is over; allowed are {end} actions")
    for key, value in given.result.items():
        if key not in played.result:
            raise RecordError(f"{place}result.{key} is no result of this game; allowed are {', '.join(played.result)}")
        if value != played.result[key]:
            raise RecordError(f"{place}result.{key}={value!r}; the replay gives {played.result[key]!r}")


@contextmanager
def _errors_at(place: str) -> Iterator[None]:
    """Bad input of any kind is an error of the record, which says where."""
    try:
        yield
    except BestiaError as error:
        raise RecordError(f"{place}{error}") from error


def record_game(
    rules: Rules | str,
    actions: Iterable[int] | Callable[[GameBatch], int],
    *,
    seed: int = 0,
    game: tuple[int, int] = (0, 0),
    session: SessionConfig | None = None,
    deal: Mapping[str, Any] | None = None,
) -> DealRecord:
    """Plays a game and records it: all deals of the session, with all cards.

    Args:
        rules: rules or their text.
        actions: the actions of the game in order, or a function that is asked for each with the batch of one game.
        seed: the seed of the game.
        game: its address (row, game), as in ``GameBatch.game_id``; an AEC environment begins at (0, 0).
        session: as for the environment.
        deal: what was set up by hand, if anything.

    Raises:
        RecordError: the actions end too early or go on after the end, or ``deal`` contradicts itself.
        IllegalActionError: an action that is not legal.
        RulesError: rules or session that are not allowed.
    """
    rules = parse_rules(rules) if isinstance(rules, str) else rules
    batch = GameBatch(rules, 1, seed=seed, session=session, autoreset=False)
    setup = dict(deal or {}) | {"seed": seed, "game": tuple(game)}
    batch.reset(deals=[setup])
    given = None if callable(actions) else iter(actions)
    deals: list[Deal] = []
    while batch.actor[0] >= 0:
        watch = Watch(batch, [] if deals else setup.get("reshuffles", []))
        while not watch.over:
            action = actions(batch) if callable(actions) else next(given or iter(()), None)
            if action is None:
                raise RecordError(f"actions end after {sum(len(d.actions or ()) for d in deals) + len(watch.actions)}; "
                                  f"seat {batch.actor[0]} is to act")  # fmt: skip
            watch.play(int(action))
        deals.append(_watched(watch, with_actions=batch.layout.num_actions > 1))
    if given is not None and next(given, None) is not None:
        raise RecordError("actions go on after the end of the game")
    return DealRecord(rules=rules, deals=tuple(deals), seed=seed, game=(int(game[0]), int(game[1])))


# --- reading --------------------------------------------------------------------------------------------------------


def load_record(path: str | Path) -> DealRecord:
    """Reads a record from a file; :meth:`DealRecord.replay` then plays it.

    Raises:
        RecordError: the file is no record; the message names it and what is allowed.
        OSError: the file cannot be read.

    Warns:
        UserWarning: a key that is not known; it is ignored.
    """
    data = Path(path).read_bytes()
    try:
        return loads_record(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not UTF-8: {error}") from error
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error


def loads_record(text: str) -> DealRecord:
    """Reads a record from its TOML text: the inverse of :meth:`DealRecord.dumps`.

    Raises:
        RecordError: the text is no record of a format this version reads.

    Warns:
        UserWarning: a key that is not known; it is ignored.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecordError(f"not TOML: {error}") from error
    version = data.pop("format", None)
    if type(version) is not int or version != FORMAT:
        raise RecordError(f"format={version!r}; allowed is {FORMAT}")
    written = data.pop("rules", None)
    if not isinstance(written, str):
        raise RecordError(f"rules={written!r}; allowed is the text of rules, such as 'bestia(num_players=5)'")
    with _errors_at("rules: "):
        rules = parse_rules(written)
    with _errors_at(""):
        seed = check_seed(data.pop("seed", 0))
    game = data.pop("game", [0, 0])
    if not _is_list(game, int) or len(game) != 2 or min(game) < 0:
        raise RecordError(f"game={game!r}; allowed is a pair [row, game] of integers from 0")
    tables = data.pop("deals", None)
    if tables is None:
        deals = [_read_deal(rules, data, "")]
    else:
        if not _is_list(tables, dict) or not tables:
            raise RecordError(f"deals={tables!r}; allowed are one or more tables [[deals]]")
        for key in sorted(data.keys() & {"actions", "result", *DEAL_KEYS}):
            raise RecordError(f"{key}={data[key]!r} stands beside [[deals]]; allowed is {key} within each of them")
        _warn_of_unknown(rules, data, ("format", "rules", "seed", "game", "deals"), "")
        deals = [_read_deal(rules, table, f"deals[{index}].") for index, table in enumerate(tables)]
    return DealRecord(rules=rules, deals=tuple(deals), seed=seed, game=(game[0], game[1]))


def _read_deal(rules: Rules, table: Mapping[str, Any], place: str) -> Deal:
    known = family_of(rules).deal_keys()
    setup = {key: value for key, value in table.items() if key in known}
    actions, result = table.get("actions"), table.get("result", {})
    if actions is not None and not _is_list(actions, str):
        raise RecordError(f"{place}actions={actions!r}; allowed is a list of texts such as '0 pass'")
    if not isinstance(result, dict):
        raise RecordError(f"{place}result={result!r}; allowed is a table with {', '.join(RESULT_KEYS)}")
    _warn_of_unknown(rules, table, [*known, "actions", "result"], place)
    _warn_of_unknown(rules, result, RESULT_KEYS, f"{place}result.")
    return Deal(
        setup=setup,
        actions=None if actions is None else tuple(actions),
        result={key: value for key, value in result.items() if key in RESULT_KEYS},
    )


def _warn_of_unknown(rules: Rules, table: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    allowed = ", ".join(sorted(known))
    for key in sorted(table.keys() - set(known)):
        message = f"record key {place + key!r} is not known to {rules.variant} and ignored; known are {allowed}"
        warnings.warn(message, UserWarning, stacklevel=4)


def _is_list(value: object, of: type) -> bool:
    return isinstance(value, list) and all(type(item) is of for item in value)


# --- writing: a record is flat, so four kinds of values are all the TOML there is -------------------------------------


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)  # numbers and strings read alike in TOML


def _line(key: str, value: object) -> str:
    """A key and its value; a list that is too long for a line is broken between its items."""
    line = f"{key} = {_toml(value)}"
    if len(line) <= LINE or not isinstance(value, list):
        return line
    lines = [f"{key} = [", "   "]
    for item in map(_toml, value):
        if len(lines[-1]) + len(item) + 2 > LINE:
            lines.append("   ")
        lines[-1] += f" {item},"
    return "\n".join([*lines, "]"])
