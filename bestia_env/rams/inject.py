"""Setting up a deal: the schema that ``reset``, ``GameBatch.reset`` and deal records share (design 8.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestia_env.errors import RecordError, RulesError
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import MAX_PLANNED
from bestia_env.session import MAX_CHIPS

__all__ = ["DEAL_KEYS", "hand_sizes", "inject"]

DEAL_KEYS = frozenset(
    "dealer carry forced half_ante credits entitled turn_up hands stock extra_hand reshuffles".split()
)


def inject(rules: RamsRules, state: Any, deal: Mapping[str, Any], rng_key: int) -> None:
    """Sets up the first deal of a prepared game; see :meth:`bestia_env.family.Family.inject`."""
    n = rules.num_players
    fields: dict[str, Any] = {}
    if "dealer" in deal:
        fields["dealer"] = _whole("dealer", deal["dealer"], 0, n - 1)
    if "carry" in deal:
        # The engine begins a deal only if what the pot can grow to in it stays within 2^53 (rules: rams 2.5).
        paid = rules.ante * (n if rules.ante_payer == "all" else 1) + n * rules.stay_stake
        fields["carry"] = _whole("carry", deal["carry"], 0, MAX_CHIPS // rules.pot_growth - paid)
    if "half_ante" in deal and not rules.best_principal_half_ante:
        raise RecordError(f"half_ante={deal['half_ante']!r}; rules without best_principal_half_ante have no half antes")
    if "half_ante" in deal:
        fields["half_ante"] = _whole("half_ante", deal["half_ante"], 0, n - 1)
    entitled = (
        [_boolean("entitled", flag) for flag in _per_seat("entitled", deal, n)] if "entitled" in deal else [True] * n
    )
    if "credits" in deal:
        # With table stakes a seat without chips is out of the deal (rules: rams 5).
        least = [int(flag) for flag in entitled] if rules.stakes == "table" else [-MAX_CHIPS] * n
        chips = zip(_per_seat("credits", deal, n), least, strict=True)
        fields["credits"] = [_whole("credits", owned, low, MAX_CHIPS) for owned, low in chips]
    dealer = fields.get("dealer", int(state["dealer"]))
    if sum(entitled) < 2 or not entitled[dealer]:
        raise RecordError(
            f"entitled={entitled}; allowed are two or more entitled seats, the dealer ({dealer}) among them"
        )
    fields["entitled"] = [int(flag) for flag in entitled]
    fields["forced"] = _forced(rules, deal, fields.get("carry", int(state["carry"])), int(state["forced"]))
    order = _pack_order(rules, deal, dealer, entitled, np.random.Generator(np.random.PCG64(rng_key)))
    planned = _planned(rules, deal)
    for name, value in fields.items():
        if isinstance(value, list):
            state[name][:n] = value
        else:
            state[name] = value
    state["stock"][: len(order)] = order
    state["planned"][:] = planned


def _whole(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise RecordError(f"{name}={value!r}; allowed are integers from {low} to {high}")
    return int(value)


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise RecordError(f"{name}={value!r}; allowed are True and False")
    return bool(value)


def _per_seat(name: str, deal: Mapping[str, Any], n: int) -> Sequence[Any]:
    values = deal[name]
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) != n:
        raise RecordError(f"{name}={values!r}; allowed is a list of {n} values, one a seat")
    return list(values)


def _forced(rules: RamsRules, deal: Mapping[str, Any], carry: int, drawn: int) -> int:
    """Whether the deal is forced: said by the deal, or by the carry where the rules leave no choice."""
    by_carry = rules.forced_deal == "bare_ante" and carry == 0
    if "forced" not in deal:
        return int(by_carry) if rules.forced_deal == "bare_ante" else drawn
    forced = _boolean("forced", deal["forced"])
    if rules.forced_deal == "never" and forced:
        raise RecordError("forced=True; rules with forced_deal=never have no forced deals")
    if rules.forced_deal == "bare_ante" and forced != by_carry:
        raise RecordError(
            f"forced={forced}; with forced_deal=bare_ante a deal is forced exactly when carry is 0, here {carry}"
        )
    return int(forced)


def _cards(rules: RamsRules, name: str, text: object, most: int) -> list[int]:
    if not isinstance(text, str):
        raise RecordError(f"{name}={text!r}; allowed are card texts separated by blanks")
    try:
        cards = rules.cards.cards(text)
    except RulesError as error:
        raise RecordError(f"{name}={text!r}: {error}") from error
    if len(cards) > most:
        raise RecordError(f"{name}={text!r}: {len(cards)} cards; at most {most} are allowed")
    return cards


def hand_sizes(rules: RamsRules, dealer: int, entitled: list[bool]) -> list[int]:
    """How many cards each seat is dealt (rules: rams 2.6), without a turn-up that completes the hand of the dealer."""
    return [
        (rules.hand_size - (rules.turn_up_owner == "dealer" and seat == dealer)) * entitled[seat]
        for seat in range(rules.num_players)
    ]


def _pack_order(
    rules: RamsRules, deal: Mapping[str, Any], dealer: int, entitled: list[bool], rng: np.random.Generator
) -> list[int]:
    """The pack order from which dealing gives the cards asked for (rules: rams 2.6)."""
    sizes = hand_sizes(rules, dealer, entitled)
    hands: list[list[int] | None] = [None] * rules.num_players
    if "hands" in deal:
        for seat, text in enumerate(_per_seat("hands", deal, rules.num_players)):
            hand = _cards(rules, f"hands[{seat}]", text, rules.hand_size)
            if hand or not entitled[seat]:
                if len(hand) != sizes[seat]:
                    raise RecordError(f"hands[{seat}]={text!r}: {len(hand)} cards; seat {seat} is dealt {sizes[seat]}")
                hands[seat] = hand
    turn_up = _cards(rules, "turn_up", deal["turn_up"], 1) if deal.get("turn_up") else []
    extra = _cards(rules, "extra_hand", deal["extra_hand"], rules.hand_size) if deal.get("extra_hand") else []
    if extra and len(extra) != rules.hand_size * rules.extra_hand:
        raise RecordError(
            f"extra_hand={deal['extra_hand']!r}: {len(extra)} cards; the rules lay {rules.hand_size * rules.extra_hand}"
        )
    left = rules.cards.num_cards - sum(sizes) - 1 - rules.hand_size * rules.extra_hand
    stock = _cards(rules, "stock", deal["stock"], left) if deal.get("stock") else []
    named = [*turn_up, *extra, *stock, *(card for hand in hands if hand for card in hand)]
    for card in named:
        if named.count(card) > 1:
            raise RecordError(f"card {rules.cards.text(card)} is given twice in turn_up, hands, extra_hand and stock")
    rest = [int(card) for card in rng.permutation(rules.cards.num_cards) if card not in set(named)]

    def take(cards: list[int] | None, size: int) -> list[int]:
        return cards or [rest.pop() for _ in range(size)]

    turn_up = take(turn_up, 1)
    extra = take(extra, rules.hand_size * rules.extra_hand)
    dealt = [take(hand, size) for hand, size in zip(hands, sizes, strict=True)]
    return [*_lay_out(rules, dealer, dealt, turn_up + extra), *stock, *rest]


def _lay_out(rules: RamsRules, dealer: int, hands: list[list[int]], turned: list[int]) -> list[int]:
    """Hands and turned cards in the order in which they leave the pack."""
    order = [(dealer + step) % rules.num_players for step in range(1, rules.num_players + 1)]
    if rules.turn_up == "before_deal":
        return turned + [card for seat in order for card in hands[seat]]
    if rules.turn_up == "after_deal":
        return [card for seat in order for card in hands[seat]] + turned
    first = [card for seat in order for card in hands[seat][:2]]
    return first + turned + [card for seat in order for card in hands[seat][2:]]


def _planned(rules: RamsRules, deal: Mapping[str, Any]) -> Any:
    """The stocks that the first reshuffles must give; -1 where none is planned."""
    planned = np.full((MAX_PLANNED, 52), -1, np.int8)
    stocks = deal.get("reshuffles", ())
    if isinstance(stocks, str) or not isinstance(stocks, Sequence) or len(stocks) > MAX_PLANNED:
        raise RecordError(f"reshuffles={stocks!r}; allowed is a list of at most {MAX_PLANNED} stocks")
    for index, text in enumerate(stocks):
        cards = _cards(rules, f"reshuffles[{index}]", text, rules.cards.num_cards)
        if not cards:
            raise RecordError(f"reshuffles[{index}]={text!r}; allowed is a stock of at least one card")
        planned[index, : len(cards)] = cards
    return planned
