"""Plays the engine against the second implementation, move by move: ``make crosscheck``.

Both play the same sessions: same pack orders, same reshuffles, same random legal actions. Compared are, at every
decision, the actor and the set of legal actions, and for every deal the winners of the tricks, the chips of every kind,
the score and what lies in the pot; for every session how it ended and the credits.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bestia_env.cards import Pack
from bestia_env.errors import RulesError
from bestia_env.family import ActionLayout
from bestia_env.rams.game import FAMILY
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.stock import shuffle
from bestia_env.rams.variants import VARIANTS
from bestia_env.registry import make_rules as make
from bestia_env.rng import RESHUFFLE, deal_key, draw, fold, game_key
from bestia_env.session import SessionConfig
from tests.reference.rams import ReferenceDeal, ReferenceSession
from tests.reference.rams_random import random_rules

DEALS_A_GAME = 4.8  # about the mean over the sessions drawn below


@dataclass(frozen=True)
class Task:
    """Sessions of one game: which rules, which session, which addresses."""

    rules: RamsRules | None  # None: drawn with the session from the seed, where the task is played
    session: SessionConfig
    seed: int
    games: int

    def drawn(self) -> Task:
        """The task with its rules and session."""
        if self.rules is not None:
            return self
        rng = random.Random(self.seed)
        rules = any_rules(rng)
        return Task(rules, any_session(rules, rng), self.seed, self.games)


def presets() -> list[RamsRules]:
    """Every preset at every table size."""
    return [make(name, n) for name, row in VARIANTS.items() for n in range(row.players[0], row.players[1] + 1)]


def any_rules(rng: random.Random) -> RamsRules:
    """A random combination that the validation accepts."""
    while True:
        values = random_rules(rng)
        suits, ranks = values.pop("pack")
        try:
            return RamsRules(variant="rams", pack=Pack(suits=suits, ranks=tuple(ranks)), **values)
        except RulesError:
            continue


def any_session(rules: RamsRules, rng: random.Random) -> SessionConfig:
    """A random session: one deal or several, some pot, some credit."""
    deals = rng.choice([1, 1, 1, 2, 5])
    credits = None
    if rules.stakes == "table":
        rich, poor = 30 * max(rules.ante, 1), rules.hand_size + 2
        credits = [rng.randint(1, rng.choice([rich, rich, poor])) for _ in range(rules.num_players)]
    return SessionConfig(
        num_deals=deals,
        play_on=rng.random() < 0.3,
        carry=rng.choice([0, range(40 * rules.divisor), range(10**6)]),
        forced=rules.forced_deal == "after_no_bestia" and rng.random() < 0.5,
        credits=credits,
    )


def tasks(deals: int, seed: int, random_share: float = 0.2) -> Iterator[Task]:
    """Tasks that add up to about ``deals`` deals: all presets evenly, and random rules."""
    rng = random.Random(seed)
    games = presets()
    rounds = max(1, round(deals * (1 - random_share) / len(games) / 200))
    size = max(1, round(deals * (1 - random_share) / len(games) / rounds / DEALS_A_GAME))
    for index in range(rounds):
        for rules in games:
            yield Task(rules, any_session(rules, rng), seed + 1000 * index, size)
    for index in range(max(1, round(deals * random_share / 10 / DEALS_A_GAME))):
        yield Task(None, SessionConfig(), rng.getrandbits(60) + index, 10)


def engine_games(task: Task) -> tuple[list[list[dict[str, Any]]], np.ndarray, np.ndarray]:
    """Plays the games of a task in the engine; returns the decisions of every game, first and last states."""
    loops, rules = FAMILY.loops, task.rules
    P = FAMILY.parameters(rules, task.session)
    S = np.zeros(task.games, FAMILY.state_dtype)
    S["seed"], S["row"] = task.seed, np.arange(task.games)
    rows = np.arange(task.games)
    loops.prepare(S, P, rows)
    first = S.copy()
    loops.start(S, P, rows, False)
    layout = FAMILY.layout(rules)
    n, size = rules.num_players, layout.num_actions
    legal = np.zeros((task.games, size), np.bool_)
    actions = np.zeros(task.games, np.int64)
    rewards, scores = np.zeros((task.games, n), np.int64), np.zeros((task.games, n))
    done, truncated = np.zeros(task.games, np.bool_), np.zeros(task.games, np.bool_)
    kept, rng = S.copy(), random.Random(task.seed)
    log: list[list[dict[str, Any]]] = [[] for _ in rows]
    while (S["actor"] >= 0).any():
        loops.legal(S, P, rows, legal)
        options = _split(legal)
        actions[:] = [_any_action(options[row], layout, rng) if options[row] else 0 for row in rows]
        assert loops.first_illegal(S, P, rows, actions) == -1
        before = {name: S[name].tolist() for name in ("deal", "actor", "exchange_cards")}
        loops.step(S, P, rows, actions, rewards, scores, done, truncated, kept)
        deals = S["deal"].tolist()
        for row in rows:
            if before["actor"][row] >= 0:
                entry = {name: values[row] for name, values in before.items()}
                entry |= {"legal": options[row], "action": int(actions[row])}
                ended = done[row] or deals[row] != entry["deal"]
                # The settlement stands in the record until the next deal ends.
                entry["settled"] = _settlement(rules, S[row]) if ended else None
                log[row].append(entry)
    return log, first, S


def _split(legal: np.ndarray) -> list[list[int]]:
    """The legal actions of every row."""
    options: list[list[int]] = [[] for _ in legal]
    for row, action in zip(*(index.tolist() for index in np.nonzero(legal)), strict=True):
        options[row].append(action)
    return options


def _any_action(legal: list[int], layout: ActionLayout, rng: random.Random) -> int:
    """A random action, the kind of action first: else exchanges crowd out passing, and nobody ever walks over."""
    if len(legal) == 1 or legal[0] >= layout.first_card:
        return rng.choice(legal)
    kinds: dict[int, list[int]] = {}
    first_exchange = layout.first_exchange
    for action in legal:
        kinds.setdefault(min(action, first_exchange), []).append(action)
    return rng.choice(kinds[rng.choice(list(kinds))])


class _Texts:
    """The texts of actions, each worked out once."""

    def __init__(self, rules: RamsRules) -> None:
        layout = FAMILY.layout(rules)
        self.layout = layout
        self.known = {action: layout.text(action) for action in range(layout.first_exchange)}
        self.known |= {action: layout.text(action) for action in range(layout.first_card, layout.num_actions)}
        self.exchanges: dict[tuple[int, int], str] = {}

    def of(self, action: int, exchange_cards: int) -> str:
        text = self.known.get(action) or self.exchanges.get((action, exchange_cards))
        if text is None:
            text = self.exchanges[action, exchange_cards] = self.layout.text(action, exchange_cards)
        return text


def _settlement(rules: RamsRules, state: Any) -> dict[str, Any]:
    told = FAMILY.settlement(rules, state)
    base = int(state["score_base"])
    return told | {"score": [Fraction(top, base) for top in state["score_top"][: rules.num_players].tolist()]}


class Difference(AssertionError):  # noqa: N818  # it is what is found, not what went wrong
    """The two implementations disagree."""


def compare(task: Task) -> tuple[str, int]:
    """Replays a task's games in the second implementation.

    Returns:
        The game and how many deals were compared.

    Raises:
        Difference: what differs, where.
    """
    task = task.drawn()
    rules = task.rules
    assert rules is not None
    log, first, last = engine_games(task)
    values = rules.values() | {"pack": (rules.cards.suits, list(rules.cards.ranks))}
    P, known = FAMILY.parameters(rules, task.session), _Texts(rules)
    deals = sum(
        _compare_game(task, P, known, values, row, log[row], first[row], last[row]) for row in range(task.games)
    )
    return str(rules) if rules.variant in VARIANTS else "random rules", deals


def _compare_game(
    task: Task,
    P: Any,
    known: _Texts,
    values: dict[str, Any],
    row: int,
    log: list[dict[str, Any]],
    first: Any,
    last: Any,
) -> int:
    rules, pack = task.rules, task.rules.cards
    where = f"{rules.full_text()} {task.session} seed={task.seed} row={row}"
    decisions = iter(log)

    def deck(deal: int) -> list[str]:
        scratch = np.zeros(1, FAMILY.state_dtype)
        scratch["key"], scratch["deal"] = game_key(np.uint64(task.seed), row, 0), deal
        shuffle(scratch[0], P[0])
        return [pack.text(card) for card in scratch["stock"][0, : pack.num_cards]]

    def reshuffle(deal: int, cards: set[str], number: int) -> list[str]:
        game = np.uint64(game_key(np.uint64(task.seed), row, 0))
        key = np.uint64(fold(np.uint64(deal_key(game, deal, RESHUFFLE)), number))
        return sorted(cards, key=lambda card: int(draw(key, pack.card(card))))

    def choose(deal: ReferenceDeal, index: int) -> str:
        entry = next(decisions, None)
        if entry is None:
            raise Difference(f"{where}: deal {index} goes on in the reference: {deal.legal()}")
        texts = [known.of(action, entry["exchange_cards"]) for action in entry["legal"]]
        told = (entry["deal"], entry["actor"], set(texts))
        if told != (index, deal.actor, deal.legal()) or len(texts) != len(told[2]):
            raise Difference(f"{where}: engine {told}, reference {(index, deal.actor, deal.legal())}")
        return known.of(entry["action"], entry["exchange_cards"])

    n = rules.num_players
    reference = ReferenceSession(
        values,
        num_deals=task.session.num_deals,
        play_on=task.session.play_on,
        deck=deck,
        choose=choose,
        reshuffle=reshuffle,
        carry=int(first["carry"]),
        dealer=int(first["dealer"]),
        forced=bool(first["forced"]),
        credits=first["credits"][:n].tolist(),
    ).run()
    if next(decisions, None) is not None:
        raise Difference(f"{where}: the reference is over, the engine goes on")
    settled = [entry["settled"] for entry in log if entry["settled"]]
    if len(settled) != len(reference.deals) and reference.deals:
        # Deals that nobody decided leave no decision behind; with two or more seats to ask there are none.
        raise Difference(f"{where}: {len(settled)} deals settled, reference {len(reference.deals)}")
    for index, (told, deal) in enumerate(zip(settled, reference.deals, strict=True)):
        _compare_settlement(f"{where} deal={index}", told, deal)
    ended = (last["credits"][:n].tolist(), int(last["carry"]), bool(last["truncated"]), last["split"][:n].tolist())
    expected = (reference.credits, reference.carry, reference.truncated, reference.final_split)
    if ended != expected:
        raise Difference(f"{where}: session ended {ended}, reference {expected}")
    return len(reference.deals)


def _compare_settlement(where: str, told: dict[str, Any], deal: ReferenceDeal) -> None:
    n = len(deal.net)
    net = [chips - extra for chips, extra in zip(told["net"], told["split"], strict=True)]
    engine = {
        "tricks": told["tricks"],
        "antes": told["antes"],
        "stakes": told["stakes"],
        "shares": told["shares"],
        "penalties": told["penalties"],
        "net": net,
        "rake": told["rake"],
        "carry": told["carry_after"],
        "pot": told["pot"],
        "participants": told["participants"],
        "principal": told["principal"],
        "score": told["score"],
    }
    reference = {
        "tricks": deal.tricks,
        "antes": deal.antes,
        "stakes": deal.stakes_paid,
        "shares": deal.shares,
        "penalties": deal.penalties,
        "net": deal.net,
        "rake": deal.rake,
        "carry": deal.carry_after,
        "pot": deal.pot,
        "participants": sorted(deal.participants),
        "principal": deal.principal,
        "score": deal.score,
    }
    if engine != reference:
        wrong = {name: (engine[name], reference[name]) for name in engine if engine[name] != reference[name]}
        raise Difference(f"{where}: (engine, reference) {wrong}")
    assert n == len(told["net"])


def main() -> int:
    """Command line: how many deals, which seed, how many processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=20_000, help="deals to compare, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=int, default=0, help="go on with every preset and table size below so many")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    started, total, games = time.time(), 0, Counter[str]()
    work = list(tasks(arguments.deals, arguments.seed))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        while work:
            for name, deals in pool.map(compare, work, chunksize=4):
                total += deals
                games[name] += deals
            behind = [rules for rules in presets() if games[str(rules)] < arguments.least]
            rng = random.Random(arguments.seed + total)
            work = [Task(rules, any_session(rules, rng), arguments.seed + total, 160) for rules in behind]
    for name, deals in sorted(games.items()):
        print(f"{name:50} {deals:9,} deals")
    fewest = min(deals for name, deals in games.items() if name != "random rules")
    print(f"every preset at every table size: at least {fewest:,} deals")
    print(f"{total:,} deals, no difference, {time.time() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
