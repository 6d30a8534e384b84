"""Deals with chosen cards, and scripts of actions for them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .rams_cards import cards_of_pack
from .rams_deal import ReferenceDeal
from .rams_table import DealSetup

Rules = Mapping[str, Any]


def no_reshuffle(cards: set[str], number: int) -> list[str]:
    """For deals whose stock must last."""
    raise AssertionError(f"reshuffle {number} of {sorted(cards)} was not expected")


def pack_order(
    rules: Rules, dealer: int, entitled: Sequence[bool], hands: Sequence[str], turn_up: str, stock: str, extra: str
) -> list[str]:
    """The order that deals these cards; a hand shorter than the others is filled up with cards nobody named."""
    named = " ".join([*hands, turn_up, stock, extra]).split()
    assert len(named) == len(set(named))
    spare = sorted(cards_of_pack(rules) - set(named))
    seats = rules["num_players"]
    size = rules["hand_size"]
    dealt = []
    for step in range(seats):
        seat = (dealer + 1 + step) % seats
        if not entitled[seat]:
            continue
        wanted = size - 1 if rules["turn_up_owner"] == "dealer" and seat == dealer else size
        hand = hands[seat].split() if hands else []
        while len(hand) < wanted:
            hand.append(spare.pop(0))
        assert len(hand) == wanted
        dealt.append(hand)
    top = [turn_up, *extra.split()]
    if rules["turn_up"] == "before_deal":
        order = top + [card for hand in dealt for card in hand]
    elif rules["turn_up"] == "after_deal":
        order = [card for hand in dealt for card in hand] + top
    else:
        order = [c for hand in dealt for c in hand[:2]] + top + [c for hand in dealt for c in hand[2:]]
    return order + stock.split() + spare


def start(
    rules: Rules,
    hands: Sequence[str],
    turn_up: str,
    stock: str = "",
    *,
    extra: str = "",
    dealer: int = 0,
    carry: int = 0,
    forced: bool = False,
    half_ante: int | None = None,
    credits: list[int] | None = None,
    entitled: list[bool] | None = None,
    reshuffle: Callable[[set[str], int], list[str]] = no_reshuffle,
) -> ReferenceDeal:
    """A deal with these hands, by seat; hands or cards that are not given are filled up."""
    seats = rules["num_players"]
    entitled = entitled or [True] * seats
    return ReferenceDeal(
        DealSetup(
            rules=rules,
            dealer=dealer,
            carry=carry,
            order=pack_order(rules, dealer, entitled, hands, turn_up, stock, extra),
            forced=forced,
            half_ante=half_ante,
            credits=credits or [0] * seats,
            entitled=entitled,
            reshuffle=reshuffle,
        )
    )


def run(deal: ReferenceDeal, script: str) -> ReferenceDeal:
    """Apply "1 knock, 2 pass, …", or cards alone ("7s 5s As") in the order in which the seats come to act."""
    for step in script.split(","):
        words = step.split()
        if words[0].isdigit():
            assert deal.actor == int(words[0])
            deal.apply(" ".join(words[1:]))
        else:
            for card in words:
                deal.apply(f"play {card}")
    return deal
