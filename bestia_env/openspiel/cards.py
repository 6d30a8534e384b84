"""What each family draws, and where its record keeps the cards that nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil
from operator import or_
from typing import Any

from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.cards import cards_of, mask_of
from bestia_env.family import Rules
from bestia_env.openspiel.tree import Cards, Draw
from bestia_env.rams.inject import hand_sizes
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Status
from bestia_env.session import SessionConfig

__all__ = ["cards_for"]

DEALER, DEALT, EXTRA, STOCK, RESHUFFLED = "dealer", "dealt", "extra", "stock", "reshuffled"


def cards_for(rules: Rules, session: SessionConfig) -> Cards:
    """What is drawn in a deal of these rules."""
    if isinstance(rules, RamsRules):
        return RamsCards(rules, session)
    assert isinstance(rules, BettelmannRules)
    return BettelmannCards(rules)


class RamsCards(Cards):
    """The Rams group: the dealer if nobody is named, the turn-up, hands from eldest; later cards when they are drawn.

    Stock and extra hand stay undealt until somebody takes from them: the order of what nobody draws never matters.
    """

    derived = frozenset(
        (
            "rules legal turn_up_taken extra_hand ante antes pot_before_stakes pot risk cap stock turns_left circuit "
            "principal first_in status held lying leader trick tricks may_lay_off"
        ).split()
    )

    def __init__(self, rules: RamsRules, session: SessionConfig) -> None:
        self.rules = rules
        self.session = session

    def opening(self, drawn: Sequence[tuple[int, ...]]) -> Draw | None:
        n = self.rules.num_players
        dealer, dealt = self._dealer(drawn)
        if dealer is None:
            return Draw(DEALER, "dealer", (1 << n) - 1, 1)
        left = (1 << self.rules.cards.num_cards) - 1 & ~mask_of(card for cards in dealt for card in cards)
        if not dealt:
            return Draw(DEALT, "turn-up", left, 1)
        if len(dealt) > n:
            return None
        seat = (dealer + len(dealt)) % n
        return Draw(DEALT, f"to {seat}", left, hand_sizes(self.rules, dealer, [True] * n)[seat])

    def _dealer(self, drawn: Sequence[tuple[int, ...]]) -> tuple[int | None, Sequence[tuple[int, ...]]]:
        """The dealer as far as he is known, and what has been dealt."""
        if self.session.dealer is not None:
            return self.session.dealer, drawn
        return (drawn[0][0], drawn[1:]) if drawn else (None, ())

    def deal(self, drawn: Sequence[tuple[int, ...]]) -> Mapping[str, Any]:
        n, pack = self.rules.num_players, self.rules.cards
        dealer, (turn_up, *hands) = self._dealer(drawn)
        assert dealer is not None
        by_seat = [pack.texts(hands[(seat - dealer - 1) % n]) for seat in range(n)]
        return {"dealer": dealer, "turn_up": pack.texts(turn_up), "hands": by_seat}

    def needed(self, before: Any, after: Any) -> tuple[Draw, ...]:
        stock, extra = _stock(before), int(before["extra_hand"])
        undealt = mask_of(stock) | extra
        actor = int(before["actor"])
        if extra and not after["extra_hand"]:
            return (Draw(EXTRA, f"extra hand, {actor} takes", undealt, extra.bit_count()),)
        made = int(after["reshuffles"]) - int(before["reshuffles"])
        pools = _pools(before)[:made] if made else []
        sources = [(STOCK, undealt, len(stock)), *((RESHUFFLED, pool, pool.bit_count()) for pool in pools)]
        taken = sum(size for _, _, size in sources) - len(_stock(after))
        draws = []
        for source, pool, size in sources:
            if now := min(taken, size):
                draws.append(Draw(source, f"{actor} draws", pool, now))
            taken -= now
        return tuple(draws)

    def place(self, record: Any, draws: Sequence[Draw], drawn: Sequence[tuple[int, ...]]) -> None:
        size, undealt = len(_stock(record)), mask_of(_stock(record)) | int(record["extra_hand"])
        new_stocks = 0
        for draw, cards in zip(draws, drawn, strict=True):
            order = [*cards, *cards_of(draw.pool & ~mask_of(cards))]
            if draw.source == RESHUFFLED:
                record["planned"][new_stocks, : len(order)] = order
                record["planned"][new_stocks, len(order) :] = -1
                new_stocks += 1
                continue
            extra = cards if draw.source == EXTRA else order[size:]
            stock = [card for card in order if card not in extra]
            record["extra_hand"] = mask_of(extra)
            record["stock"][int(record["stock_next"]) : int(record["stock_end"])] = stock
            assert mask_of(stock) | mask_of(extra) == undealt

    def note(self, record: Any) -> int:
        return int(record["exchange_cards"])

    def seen(self, record: Any, seat: int, notes: Sequence[int]) -> int:
        return int(record["owned"][seat]) | int(record["played"]) | 1 << int(record["turn_up"])

    def bounds(self, pot: int) -> dict[str, tuple[float, float]]:
        r, n = self.rules, self.rules.num_players
        staked = pot + n * r.stay_stake
        dearest = ceil(staked * (max(Fraction(1), *r.principal_penalty) if r.principal != "none" else 1))
        half = r.ante if r.best_principal_half_ante else 0
        # Design 8.3: most is won by taking the whole pot while all others pay, least by paying into an empty one.
        most = staked + half + Fraction((n - 2) * staked + dearest - pot, n)
        least = -dearest - r.stay_stake - Fraction(pot + half - dearest, n)
        score = (float(least / pot), float(most / pot)) if pot else (-1.0, 1.0)
        return {"score": score, "chips": (float(-dearest - r.ante - r.stay_stake), float(max(staked, 1)))}

    def max_decisions(self) -> int:
        return self.rules.max_log + self.rules.num_players * self.rules.hand_size


def _stock(record: Any) -> list[int]:
    cards: list[int] = record["stock"][int(record["stock_next"]) : int(record["stock_end"])].tolist()
    return cards


def _pools(record: Any) -> list[int]:
    """What reshuffles of this position take, in order (rules: rams 2.3); the engine goes by a plan only if it fits."""
    folded = reduce(or_, record["hand"][record["status"] == Status.OUT].tolist(), 0)
    return [pool for pool in (folded, int(record["discards"])) if pool]


class BettelmannCards(Cards):
    """Bettelmann: the pack is dealt card by card, since the order in a stack is the game; nothing is drawn later."""

    derived = frozenset({"rules", "legal"})

    def __init__(self, rules: BettelmannRules) -> None:
        self.rules = rules

    def opening(self, drawn: Sequence[tuple[int, ...]]) -> Draw | None:
        left = (1 << self.rules.cards.num_cards) - 1 & ~mask_of(card for cards in drawn for card in cards)
        return Draw(DEALT, f"to {len(drawn) % self.rules.num_players}", left, 1) if left else None

    def deal(self, drawn: Sequence[tuple[int, ...]]) -> Mapping[str, Any]:
        n, order = self.rules.num_players, [cards[0] for cards in drawn]
        return {"stacks": [self.rules.cards.texts(order[seat::n]) for seat in range(n)]}

    def needed(self, before: Any, after: Any) -> tuple[Draw, ...]:
        return ()

    def place(self, record: Any, draws: Sequence[Draw], drawn: Sequence[tuple[int, ...]]) -> None:
        raise AssertionError("Bettelmann draws nothing after the deal")

    def note(self, record: Any) -> int:
        seat = int(record["actor"])
        return 1 << int(record["stack"][seat, int(record["head"][seat])])

    def seen(self, record: Any, seat: int, notes: Sequence[int]) -> int:
        return reduce(or_, notes, 0)

    def bounds(self, pot: int) -> dict[str, tuple[float, float]]:
        share = (-1.0, float(self.rules.num_players - 1))
        return {"score": share, "chips": share}

    def max_decisions(self) -> int:
        limit = self.rules.limit_cards
        return self.rules.hard_cap if limit is None else min(self.rules.hard_cap, limit + self.rules.cards.num_cards)
