"""A batch of Bettelmann games driven by the family's loops alone, for the tests."""

from typing import Any

import numpy as np

from bestia_env.bettelmann.game import FAMILY
from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.bettelmann.state import RING, STATE, VIEW
from bestia_env.registry import make_rules as make
from bestia_env.session import SessionConfig

__all__ = ["LOOPS", "Table", "played"]

LOOPS = FAMILY.loops


class Table:
    """A batch of games driven by the family's loops alone; most tests use a batch of one."""

    def __init__(self, rules: BettelmannRules, stacks: list[str] | None = None, games: int = 1, seed: int = 0) -> None:
        self.rules, self.games = rules, games
        self.parameters = FAMILY.parameters(rules, SessionConfig())
        self.states = np.zeros(games, STATE)
        self.states["seed"], self.states["row"] = seed, np.arange(games)
        self.rewards, self.scores = np.zeros((2, games, rules.num_players))
        self.done, self.truncated = np.zeros((2, games), bool)
        self.last = np.zeros(games, STATE)
        rows = np.arange(games)
        LOOPS.prepare(self.states, self.parameters, rows)
        if stacks is not None:
            FAMILY.inject(rules, self.states[0], {"stacks": stacks}, seed)
        LOOPS.start(self.states, self.parameters, rows, stacks is not None)

    @property
    def state(self) -> Any:
        return self.states[0]

    @property
    def over(self) -> bool:
        return bool(self.states["over"][0])

    @property
    def actor(self) -> int:
        return int(self.states["actor"][0])

    def lay(self, autoreset: bool = False) -> None:
        actions = np.zeros(self.games, np.int64)
        LOOPS.step(
            self.states,
            self.parameters,
            np.arange(self.games),
            actions,
            self.rewards,
            self.scores,
            self.done,
            self.truncated,
            self.last,
        )
        if autoreset:
            rows = np.flatnonzero(self.done)
            self.states["game"][rows] += 1
            LOOPS.start(self.states, self.parameters, rows, False)

    def play(self) -> "Table":
        while not self.over:
            self.lay()
        return self

    def stacks(self) -> list[list[int]]:
        s = self.state
        return [
            [int(s["stack"][seat, (s["head"][seat] + place) % RING]) for place in range(s["held"][seat])]
            for seat in range(self.rules.num_players)
        ]

    def marks(self, cards: Any) -> str:
        """Cards as the page writes them: ``-`` for a number card, else the rank."""
        penalties = dict(self.rules.penalties)
        ranks = [self.rules.cards.text(card)[:-1] for card in cards]
        return "".join(rank if rank in penalties else "-" for rank in ranks)

    def views(self, seats: Any = None) -> Any:
        views = np.zeros(self.games, VIEW)
        LOOPS.observe(
            self.states, self.parameters, np.arange(self.games), self.states["actor"] if seats is None else seats, views
        )
        return views

    def outcome(self) -> tuple[str, int, int, list[int]]:
        """Result, cards laid, piles taken, the seats that share the win."""
        told = FAMILY.settlement(self.rules, self.state)
        return told["result"], told["cards"], told["piles"], told["winners"]


def played(deal: str, variant: str = "bettelmann", **changes: Any) -> Table:
    stacks = deal.split("/")
    return Table(make(variant, len(stacks), **changes), stacks, seed=3).play()
