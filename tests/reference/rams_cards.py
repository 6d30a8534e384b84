"""Cards, tricks and legality of the Rams group (rules: rams 1 and 2.2). A card is its text, such as "Ah" or "10d"."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

SUITS_BY_ID = "cdhs"


def suit_of(card: str) -> str:
    """The suit letter of a card."""
    return card[-1]


def rank_of(card: str) -> str:
    """The rank text of a card."""
    return card[:-1]


def cards_of_pack(rules: Mapping[str, Any]) -> set[str]:
    """All cards of the pack of these rules."""
    suits, ranks = rules["pack"]
    return {rank + suit for suit in suits for rank in ranks}


def strength(card: str, rules: Mapping[str, Any]) -> int:
    """How high a card stands within its suit: 1 is the lowest rank of the pack."""
    ranks = list(rules["pack"][1])
    return len(ranks) - ranks.index(rank_of(card))


def in_id_order(cards: Iterable[str], rules: Mapping[str, Any]) -> list[str]:
    """Cards sorted by card id: suits c d h s, low to high within a suit (rules: rams 2.1)."""
    return sorted(cards, key=lambda card: (SUITS_BY_ID.index(suit_of(card)), strength(card, rules)))


def beats(card: str, best: str, trump: str, rules: Mapping[str, Any]) -> bool:
    """Would `card`, laid after `best` which wins so far, win the trick now?"""
    if suit_of(card) == suit_of(best):
        return strength(card, rules) > strength(best, rules)
    return suit_of(card) == trump


def winning_card(trick: Sequence[str], trump: str, rules: Mapping[str, Any]) -> str:
    """The card that wins a trick of one card or more: the highest trump, else the highest of the suit led."""
    best = trick[0]
    for card in trick[1:]:
        if beats(card, best, trump, rules):
            best = card
    return best


def legal_cards(
    hand: Collection[str],
    trick: Sequence[str],
    trump: str,
    rules: Mapping[str, Any],
    *,
    tricks_played: int = 0,
    turned_out: str | None = None,
    played: Collection[str] = (),
) -> set[str]:
    """The cards a seat may lay (rules: rams 2.2).

    Args:
        hand: the cards of the seat.
        trick: the cards laid in this trick so far, in order; empty for the leader.
        trump: the trump suit.
        rules: the fields of section 3.
        tricks_played: complete tricks before this one.
        turned_out: the turn-up where nobody owns it, else None.
        played: the cards laid in earlier tricks.
    """
    hand = set(hand)
    if not trick:
        return legal_leads(hand, trump, rules, tricks_played=tricks_played, turned_out=turned_out, played=played)
    led = suit_of(trick[0])
    best = winning_card(trick, trump, rules)
    following = {card for card in hand if suit_of(card) == led}
    if following:
        if rules["must_head"] and suit_of(best) == led:
            heading = {card for card in following if beats(card, best, trump, rules)}
            return heading or following
        return following
    trumps = {card for card in hand if suit_of(card) == trump}
    if not trumps:
        return hand
    winning = {card for card in trumps if beats(card, best, trump, rules)}
    match rules["ruff"]:
        case "any_trump":
            return trumps
        case "overtrump_else_any_trump":
            return winning or trumps
        case "overtrump_else_any_card":
            return winning or hand
        case "highest_trump":
            return {max(trumps, key=lambda card: strength(card, rules))}
    raise ValueError(f"ruff: {rules['ruff']!r} is not a value of section 3")


def legal_leads(
    hand: set[str],
    trump: str,
    rules: Mapping[str, Any],
    *,
    tricks_played: int,
    turned_out: str | None,
    played: Collection[str],
) -> set[str]:
    """The cards a leader may lay: the duty to lead the top trump, then the duty to lead a trump."""
    if rules["lead_top_trump"] != "none" and (tricks_played == 0 or rules["lead_top_trump_every_trick"]):
        duty = top_trump_duty(trump, rules, turned_out=turned_out, played=played)
        if duty in hand:
            return {duty}
    trumps = {card for card in hand if suit_of(card) == trump}
    if rules["lead_trump_after_first"] and tricks_played >= 1 and trumps:
        return trumps
    return set(hand)


def top_trump_duty(
    trump: str, rules: Mapping[str, Any], *, turned_out: str | None, played: Collection[str]
) -> str | None:
    """The trump that a leader who holds it must lead; None where no trump is left that could be meant."""
    down: list[str] = [rank + trump for rank in rules["pack"][1]]
    match rules["lead_top_trump"]:
        case "ace":
            return down[0]
        case "ace_or_exposed_next":
            return down[1] if turned_out == down[0] else down[0]
        case "highest_remaining":
            still_in_play = [card for card in down if card not in played and card != turned_out]
            return still_in_play[0] if still_in_play else None
    raise ValueError(f"lead_top_trump: {rules['lead_top_trump']!r} is not a value of section 3")
