"""What the fields of a View and the actions mean: the words of the generated tables.

Slices of the tensor and fields of the rules are not here, they are explained where they are defined (``MEANINGS`` of
each family's ``tensor.py``, the docstring of its rules). A field that nobody explains is an error of the generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

VIEW: dict[str, dict[str, str]] = {
    "rams": {
        "num_players": "seats at the table",
        "phase": "0 declare, 1 second chance, 2 exchange, 3 play, 4 settle, 5 over",
        "actor": "relative seat to act; -1: nobody",
        "dealer": "relative seat of the dealer",
        "forced": "1: nobody declares, all must play",
        "principal": "relative seat with the principal's duties; -1: none (yet)",
        "turn_up": "card id of the turned card; its suit is trump",
        "turn_up_taken": "1: the turn-up is or was in a hand; 0: it lies on the table",
        "extra_hand": "1: the buco lies on the table",
        "stock_left": "cards in the stock",
        "discards": "cards laid off that no reshuffle has taken",
        "reshuffles": "new stocks made so far in this deal",
        "turns_left": "turns left, at most, of the round of declarations, second chances or exchanges",
        "circuit": "how often the dealer's turn has passed in the round",
        "first_in": "relative seat that went in first; -1: none",
        "trick": "tricks that are complete",
        "leader": "relative seat that leads the current trick; -1: no trick has begun",
        "log_length": "entries of the declaration log",
        "hand": "own cards, one bit a card id",
        "first_hand": "own cards as dealt",
        "owned": "every own card of this deal, held now or before",
        "laid": "own cards laid off in this deal, at whatever turn",
        "buried": "the part of `laid` that still lies among the discards",
        "exchange_cards": "cards an exchange may lay off, at one's own turn; else none",
        "carry": "chips that lay in the pot before this deal's antes",
        "ante": "chips a payer antes in this deal",
        "pot_before": "carry + antes",
        "pot": "carry + antes + stakes",
        "risk": "chips a bestia pays, before cap and multiplier",
        "cap": "`penalty_cap` in chips; -1: none",
        "credits": "chips in front of each seat; 0 where stakes are unlimited",
        "antes": "chips each seat has anted in this deal",
        "status": "by seat: 0 unspoken, 1 passed, 2 in, 3 third, 4 out, 5 not entitled to this pot",
        "held": "cards in each hand, folded hands included",
        "lying": "cards each seat laid off that still lie in the discards",
        "tricks": "tricks each seat has taken",
        "log_verb": "declarations in order: 0 pass, 1 knock, 2 draw, 3 buco, 4 third, 5 exchange",
        "log_count": "cards laid off with the declaration",
        "log_seat": "relative seat that declared",
        "plays": "card id that each seat played to each trick; -1: none",
        "legal": "the action mask at one's own turn, else zeros; places beyond the action space stay 0",
    },
    "bettelmann": {
        "num_players": "seats at the table",
        "phase": "0 lay, 1 over",
        "actor": "relative seat to lay next; -1: nobody",
        "owner": "relative seat that laid the pending penalty; -1: none",
        "due": "cards still to be paid for it",
        "cards": "cards laid in this game",
        "piles": "piles taken",
        "pile_length": "cards in the pile",
        "held": "cards in each stack",
        "out": "1 for each seat that is out",
        "pile": "card ids in the order laid, then -1",
        "legal": "1 at one's own turn, else 0",
    },
}

# View fields that say nothing in some games: (field, the one value they have there, when). A test plays to check it.
CONSTANT: dict[str, tuple[tuple[str, int, Callable[[Any], bool]], ...]] = {
    "rams": (
        ("forced", 0, lambda r: r.forced_deal == "never"),
        ("principal", -1, lambda r: r.principal == "none"),
        ("turn_up_taken", 0, lambda r: r.turn_up_owner == "nobody"),
        ("extra_hand", 0, lambda r: not r.extra_hand),
        ("reshuffles", 0, lambda r: r.recycle == "none" or not draws(r)),
        ("discards", 0, lambda r: not draws(r) and not r.extra_hand),
        ("laid", 0, lambda r: not draws(r) and not r.extra_hand),
        ("buried", 0, lambda r: not draws(r) and not r.extra_hand),
        ("lying", 0, lambda r: not draws(r) and not r.extra_hand),
        ("exchange_cards", 0, lambda r: r.exchange_max == 0),
        ("log_count", 0, lambda r: r.exchange_max == 0),
        ("cap", -1, lambda r: r.penalty_cap is None),
        ("credits", 0, lambda r: r.stakes == "unlimited"),
    ),
    "bettelmann": (),
}

VERBS: dict[str, str] = {
    "pass": "fold; decline a new hand; stay out",
    "knock": "go in with the cards held",
    "draw": "second chance: go in with a whole new hand from the stock, unseen",
    "buco": "go in with the hand that lies on the table, unseen",
    "third": '"third if I must": in only where fewer than three are in at the knock',
    "lay": "lay the top card of the stack",
}


def draws(rules: Any) -> bool:
    """Whether a game of the Rams group ever draws from the stock."""
    return bool(rules.second_chance or rules.exchange_max)


def verb(name: str, rules: Any) -> str:
    """What a verb means in a game."""
    more = "; ends the bidding" if name == "knock" and rules.bidding == "circuits" else ""
    return VERBS[name] + more


def exchange(rules: Any) -> str:
    """What an exchange does in a game."""
    when = "go in, and" if rules.exchanges_while_declaring else "once, after all have declared:"
    limit = f"{rules.exchange_max} at most" if rules.exchange_max < rules.hand_size else "any number"
    own = "lay off the cards whose bit is 1 (lowest card id first) and draw as many"
    swap = "; a dealer who does so takes the turn-up, lays off one to six of his six cards and draws one less"
    return f"{when} {own}, {limit}{swap if rules.turn_up_owner == 'dealer_swap' else ''}"
