"""Which card may be played, and who wins the trick (rules: rams 2.2)."""

from __future__ import annotations

from bestia_env._bits import EMPTY, Int, Mask, above, bit, highest
from bestia_env._jit import jit_for
from bestia_env.rams.codes import (
    IN,
    LEAD_ACE_OR_NEXT,
    LEAD_FREE,
    LEAD_HIGHEST,
    RUFF_ANY,
    RUFF_OVER_ELSE_ANY,
    RUFF_OVER_ELSE_TRUMP,
)
from bestia_env.rams.state import NOBODY, Parameters, State
from bestia_env.rams.stock import next_seat

jit = jit_for("rams")


@jit
def top_trump_duty(s: State, p: Parameters) -> Int:
    """The trump a leader must lead if he holds it, or -1 if the rules name none that is in play."""
    if p.lead_top_trump == LEAD_FREE or (s.trick > 0 and p.lead_top_trump_every_trick == 0):
        return -1
    trumps = p.suit_cards[s.trump]
    ace = highest(trumps)
    if p.lead_top_trump == LEAD_HIGHEST:
        trumps &= ~s.played
        if s.turn_up_taken == 0:
            trumps &= ~bit(s.turn_up)
        return highest(trumps) if trumps != EMPTY else -1
    if p.lead_top_trump == LEAD_ACE_OR_NEXT and s.turn_up_taken == 0 and s.turn_up == ace:
        return ace - 1
    return ace


@jit
def leads(s: State, p: Parameters, hand: Mask) -> Mask:
    """The cards a leader may lead."""
    duty = top_trump_duty(s, p)
    if duty >= 0 and hand & bit(duty) != EMPTY:
        return bit(duty)
    if p.lead_trump_after_first != 0 and s.trick > 0:
        trumps = hand & p.suit_cards[s.trump]
        if trumps != EMPTY:
            return trumps
    return hand


@jit
def follows(s: State, p: Parameters, hand: Mask) -> Mask:
    """The cards a seat may play to a trick that has begun."""
    best_suit = p.suit_of[s.best_card]
    same = hand & p.suit_cards[s.led_suit]
    if same != EMPTY:
        if p.must_head != 0 and best_suit == s.led_suit:
            higher = same & above(s.best_card)
            if higher != EMPTY:
                return higher
        return same
    trumps = hand & p.suit_cards[s.trump]
    if trumps == EMPTY:
        return hand
    over = trumps & above(s.best_card) if best_suit == s.trump else trumps
    if p.ruff == RUFF_ANY:
        return trumps
    if p.ruff == RUFF_OVER_ELSE_TRUMP:
        return over if over != EMPTY else trumps
    if p.ruff == RUFF_OVER_ELSE_ANY:
        return over if over != EMPTY else hand
    return bit(highest(trumps))


@jit
def beats(card: Int, best: Int, trump: Int, p: Parameters) -> bool:
    """Whether a card wins against the best card of a trick so far."""
    if p.suit_of[card] == p.suit_of[best]:
        return bool(card > best)
    return p.suit_of[card] == trump


@jit
def play_card(s: State, p: Parameters, card: Int) -> None:
    """The actor plays a card."""
    seat = s.actor
    s.hand[seat] &= ~bit(card)
    s.played |= bit(card)
    s.plays[s.trick, seat] = card
    if s.cards_out == 0:
        s.led_suit = p.suit_of[card]
    if s.cards_out == 0 or beats(card, s.best_card, s.trump, p):
        s.best_card = card
        s.best_seat = seat
    s.cards_out += 1
    s.turn = next_seat(seat, p)


@jit
def open_play(s: State, p: Parameters) -> bool:
    """Closes a full trick and asks the next participant for a card; False when all tricks are played."""
    if s.cards_out == s.num_in:
        s.winners[s.trick] = s.best_seat
        s.tricks[s.best_seat] += 1
        s.trick += 1
        s.leader = s.best_seat
        s.turn = s.best_seat
        s.cards_out = 0
    if s.trick == p.hand_size:
        return False
    seat = s.turn
    while s.status[seat] != IN:
        seat = next_seat(seat, p)
    s.actor = seat
    hand = s.hand[seat]
    s.may_play = leads(s, p, hand) if s.cards_out == 0 else follows(s, p, hand)
    return True


@jit
def start_play(s: State, p: Parameters, leader: Int) -> None:
    """The first trick begins."""
    s.trick = 0
    s.leader = leader
    s.turn = leader
    s.cards_out = 0
    s.led_suit = NOBODY
    s.best_card = NOBODY
    s.best_seat = NOBODY
