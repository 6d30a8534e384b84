"""Watches a game from outside and keeps what a deal record needs: the setup of a deal, its actions, its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import RecordError

if TYPE_CHECKING:
    from bestia_env.batch import GameBatch

__all__ = ["DEAL_KEYS", "RESULT_KEYS", "SESSION_KEYS", "Watch", "setup_of"]

# The keys of a deal in the order of a file. What a session hands on from one deal to the next comes first.
SESSION_KEYS = ("dealer", "carry", "forced", "half_ante", "credits", "entitled")
DEAL_KEYS = (*SESSION_KEYS, "turn_up", "hands", "extra_hand", "stock", "reshuffles", "stacks")
RESULT_KEYS = ("winners", "net", "carry_after", "cards", "piles")


class Watch:
    """One deal of a batch of one game, from its first decision to its settlement.

    Args:
        batch: a batch of one game, at the beginning of a deal.
        plan: the new stocks that the record says the deal's reshuffles make, as far as it says.

    Attributes:
        actions: a text for each action played, seat first.
        reshuffled: for each reshuffle its cards by id, and their order where it can be seen.
    """

    def __init__(self, batch: GameBatch, plan: Sequence[str] = ()) -> None:
        self.batch = batch
        self.actions: list[str] = []
        self.reshuffled: list[tuple[str, str | None]] = []
        self._plan = list(plan)
        self._setup = trimmed(batch.rules, setup_of(batch))
        self._number = int(batch.states["deal"][0])
        self._before = batch.states.copy()

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        state = self.batch.states[0]
        return bool(state["over"]) or int(state["deal"]) != self._number

    @property
    def exchange_cards(self) -> int:
        """What the actor may lay off."""
        state = self.batch.states[0]
        return int(state["exchange_cards"]) if "exchange_cards" in state.dtype.names else 0

    def play(self, action: int) -> None:
        """Plays one action.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
        """
        text = f"{self.batch.actor[0]} {self.batch.layout.text(action, self.exchange_cards)}"
        before = self.batch.states.copy()
        self.batch.step(np.array([action]))
        self._before = before
        self.actions.append(text)
        if "reshuffles" in before[0].dtype.names and not self.over:
            self._keep_stocks(int(self.batch.states["reshuffles"][0]) - int(before["reshuffles"][0]))

    def _keep_stocks(self, made: int) -> None:
        """One action reshuffles at most twice: the folded hands, which it uses up, and then what was laid off."""
        pack = self.batch.layout.pack
        if made == 0 or pack is None:
            return
        told = self.batch.family.full_state(self.batch.rules, self._before[0])
        out = [hand for hand, status in zip(told["hands"], told["status"], strict=True) if status == "out"]
        pools = [pool for pool in (" ".join(out).split(), told["discards"].split()) if pool]
        by_id = [pack.texts(sorted(map(pack.card, pool))) for pool in pools[:made]]
        state = self.batch.states[0]
        stock = [int(card) for card in state["stock"][: int(state["stock_end"])]]
        order = pack.texts(stock) if min(stock) >= 0 else None
        self.reshuffled += [(cards, None) for cards in by_id[:-1]] + [(by_id[-1], order)]

    def check_reshuffles(self, place: str) -> None:
        """Compares the new stocks with the plan.

        Raises:
            RecordError: a planned stock holds other cards, or another order than the address gives.
        """
        for index, (planned, (cards, order)) in enumerate(zip(self._plan, self.reshuffled, strict=False)):
            name = f"{place}reshuffles[{index}]={planned!r}"
            if sorted(planned.split()) != sorted(cards.split()):
                raise RecordError(
                    f"{name}: {self.actions[-1]!r} reshuffles {cards}; allowed is an order of these cards"
                )
            if order is not None and planned != order:
                raise RecordError(f"{name}; allowed is what the address of the game gives: {order!r}")

    def setup(self) -> dict[str, Any]:
        """The setup of the deal, with its reshuffles so far."""
        stocks = [*self._plan, *(order or cards for cards, order in self.reshuffled[len(self._plan) :])]
        return self._setup | ({"reshuffles": stocks} if stocks else {})

    def result(self) -> dict[str, Any]:
        """What came of the deal that has ended."""
        told = self.batch.family.settlement(self.batch.rules, self.batch.states[0])
        split = told.get("split", [0] * len(told["net"]))  # of what lies in the pot when a session ends: no deal's
        result = {
            "winners": told["winners"] if "winners" in told else self._trick_winners(),
            "net": [won - extra for won, extra in zip(told["net"], split, strict=True)],
        }
        return result | {key: told[key] for key in RESULT_KEYS if key in told and key not in result}

    def _trick_winners(self) -> list[int]:
        """The tricks complete before the last action, and the one it completed: the next deal has wiped them out."""
        before, state = self._before[0], self.batch.states[0]
        won: list[int] = before["winners"][: int(before["trick"])].tolist()
        return [*won, *np.flatnonzero(state["settled_tricks"] > before["tricks"]).tolist()]


def setup_of(batch: GameBatch) -> dict[str, Any]:
    """The setup of a deal that has just begun, from perfect information: the inverse of injection."""
    family, rules, state = batch.family, batch.rules, batch.states[0]
    known, told = family.deal_keys(), family.full_state(rules, state)
    setup = {key: told[key] for key in DEAL_KEYS if key in known and key in told}
    if told.get("turn_up_taken"):  # it completes the dealer's hand, and is no part of the cards dealt to him
        setup["hands"] = [" ".join(card for card in hand.split() if card != told["turn_up"]) for hand in told["hands"]]
    if "credits" in known:
        antes = state["antes"][: rules.num_players].tolist()
        setup["credits"] = [chips + ante for chips, ante in zip(told["credits"], antes, strict=True)]
    if "half_ante" in known:
        setup["half_ante"] = _half_ante(rules, state)
    return setup


def _half_ante(rules: Any, state: Any) -> int | None:
    """The seat that pays half an ante; who has earned it is forgotten once the antes are paid."""
    pays = [seat for seat in range(rules.num_players) if rules.ante_payer == "all" or seat == state["dealer"]]
    half = [seat for seat in pays if state["entitled"][seat] and state["antes"][seat] < state["ante"]]
    return half[0] if half else None


def trimmed(rules: Any, setup: Mapping[str, Any]) -> dict[str, Any]:
    """A setup without the keys that say nothing: empty, false, everybody, credits where stakes are unlimited."""
    needless = {key for key, value in setup.items() if value is None or value is False or value == ""}
    if all(setup.get("entitled", ())):
        needless.add("entitled")
    if getattr(rules, "stakes", "unlimited") != "table":
        needless.add("credits")
    return {key: value for key, value in setup.items() if key not in needless}
