"""The state of one game of the Rams group as one NumPy record, its phases and its compiled parameters.

Nothing about a game lives anywhere else: copying the record clones the game, ``tobytes`` saves it. Seats are absolute
here; sets of cards are uint64 masks; chips are int64. Seats, cards, tricks and the like are int8, because a batch's
speed is its memory traffic: they are compared, looked up and stepped by one, never added up, since int8 would wrap in
plain Python and widen in compiled code. What every decision touches stands first.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

from bestia_env.family import record_dtype, state_header
from bestia_env.rams.rules import MAX_HAND, MAX_LOG
from bestia_env.rams.variants import MAX_SEATS

__all__ = ["MAX_PLANNED", "NOBODY", "PARAMETERS", "STATE", "VIEW", "Phase", "Status", "Verb"]

MAX_PLANNED = 4
NOBODY = -1
TABLE_SIZE = 256  # entries of a preset's table of typical carries


# One record of the dtypes below, as compiled functions take them; attributes of records have no static type.
State: TypeAlias = Any
View: TypeAlias = Any
Parameters: TypeAlias = Any


class Phase(IntEnum):
    """Where a deal stands; a decision is asked for in the first four."""

    DECLARE = 0
    SECOND_CHANCE = 1
    EXCHANGE = 2
    PLAY = 3
    SETTLE = 4
    OVER = 5


class Status(IntEnum):
    """What a seat has said (rules: rams 2 and 4); AWAY is a seat not entitled to the pot."""

    UNSPOKEN = 0
    PASSED = 1
    IN = 2
    THIRD = 3
    OUT = 4
    AWAY = 5


class Verb(IntEnum):
    """What can be declared (rules: rams 2.1); also the code in the declaration log."""

    PASS = 0
    KNOCK = 1
    DRAW = 2
    BUCO = 3
    THIRD = 4
    EXCHANGE = 5


# --- one game -------------------------------------------------------------------------------------------------------

STATE = record_dtype(
    [
        *state_header("i8"),
        # the decision that is open
        ("may", "i4"),  # verbs, bit by bit
        ("exchange_least", "i1"),
        ("exchange_most", "i1"),  # -1: no exchange is offered
        ("num_in", "i1"),
        ("exchange_cards", "u8"),  # the cards an exchange may lay off
        ("may_play", "u8"),
        # the tricks
        ("turn", "i1"),  # the seat to be asked next
        ("trick", "i1"),
        ("leader", "i1"),
        ("cards_out", "i1"),  # cards in the current trick
        ("led_suit", "i1"),
        ("best_card", "i1"),
        ("best_seat", "i1"),
        ("trump", "i1"),  # its suit
        ("turn_up", "i1"),
        ("turn_up_taken", "i1"),  # 1: in a hand, or was
        ("played", "u8"),
        ("status", "i1", MAX_SEATS),
        ("tricks", "i1", MAX_SEATS),
        ("hand", "u8", MAX_SEATS),
        ("plays", "i1", (MAX_HAND, MAX_SEATS)),  # the card each seat played to each trick, -1: none
        ("winners", "i1", MAX_HAND),
        # the bidding
        ("turns_left", "i1"),
        ("circuit", "i1"),
        ("first_in", "i1"),
        ("principal", "i1"),
        ("log_length", "i1"),
        ("log_verb", "i1", MAX_LOG),
        ("log_count", "i1", MAX_LOG),  # cards exchanged
        ("log_seat", "i1", MAX_LOG),
        # the session
        ("dealer", "i1"),
        ("forced", "i1"),  # 1: nobody declares, all must play
        ("half_ante", "i1"),  # the seat that antes half at the next deal
        ("without_bestia", "i1"),  # 1: nobody paid a bestia in the deal before
        ("carry", "i8"),  # chips in the pot before the antes
        ("credits", "i8", MAX_SEATS),
        ("entitled", "i1", MAX_SEATS),
        # the money of the deal
        ("ante", "i8"),  # what each payer antes in this deal
        ("antes", "i8", MAX_SEATS),  # what each seat anted
        ("pot_before", "i8"),  # carry + antes: P0 of the score
        ("pot", "i8"),
        ("risk", "i8"),  # what a bestia pays before cap and multiplier
        # the cards
        ("stock", "i1", 52),  # next card at stock_next
        ("stock_next", "i1"),
        ("stock_end", "i1"),
        ("reshuffles", "i4"),
        ("planned", "i1", (MAX_PLANNED, 52)),  # injected stocks of the first reshuffles; first entry -1: none given
        ("first_hand", "u8", MAX_SEATS),
        ("owned", "u8", MAX_SEATS),  # every card the seat has held in this deal
        ("laid", "u8", MAX_SEATS),  # what the seat laid off in this deal
        ("buried", "u8", MAX_SEATS),  # the part of it that no reshuffle has taken from the discards
        ("discards", "u8"),
        ("extra_hand", "u8"),
        # the settlement of the latest deal that ended; it outlives the deal of the next
        ("settled_dealer", "i1"),
        ("settled_forced", "i1"),
        ("settled_principal", "i1"),
        ("settled_tricks", "i1", MAX_SEATS),
        ("settled_in", "i1", MAX_SEATS),
        ("settled_carry", "i8"),
        ("settled_pot", "i8"),
        ("shares", "i8", MAX_SEATS),
        ("penalties", "i8", MAX_SEATS),
        ("split", "i8", MAX_SEATS),  # of the pot that is left when a session ends
        ("rake", "i8"),
        ("rake_taken", "i8"),  # of the whole session
        ("carry_after", "i8"),
    ]
)

# --- what one seat may know: seats are relative, 0 = the seat itself ------------------------------------------------

MAX_ACTIONS = 128

VIEW = record_dtype(
    [
        ("num_players", "i4"),
        ("phase", "i4"),
        ("actor", "i4"),  # -1: nobody
        ("dealer", "i4"),
        ("forced", "i4"),
        ("principal", "i4"),
        ("turn_up", "i4"),
        ("turn_up_taken", "i4"),
        ("extra_hand", "i4"),  # 1: the buco lies on the table
        ("stock_left", "i4"),
        ("discards", "i4"),  # how many cards lie there
        ("reshuffles", "i4"),
        ("turns_left", "i4"),  # of the round of declarations, second chances or exchanges
        ("circuit", "i4"),
        ("first_in", "i4"),
        ("trick", "i4"),
        ("leader", "i4"),
        ("log_length", "i4"),
        ("hand", "u8"),
        ("first_hand", "u8"),
        ("owned", "u8"),  # every card held in this deal
        ("laid", "u8"),  # laid off in this deal
        ("buried", "u8"),  # the part of it that still lies in the discards
        ("exchange_cards", "u8"),  # what an exchange may lay off, at one's own turn
        ("carry", "i8"),
        ("ante", "i8"),
        ("pot_before", "i8"),
        ("pot", "i8"),
        ("risk", "i8"),
        ("cap", "i8"),  # -1: none
        ("credits", "i8", MAX_SEATS),  # 0 where stakes are unlimited
        ("antes", "i8", MAX_SEATS),
        ("status", "i1", MAX_SEATS),
        ("held", "i1", MAX_SEATS),  # cards in each hand, folded hands included
        ("lying", "i1", MAX_SEATS),  # cards each seat laid off that still lie in the discards
        ("tricks", "i1", MAX_SEATS),
        ("log_verb", "i1", MAX_LOG),
        ("log_count", "i1", MAX_LOG),
        ("log_seat", "i1", MAX_LOG),
        ("plays", "i1", (MAX_HAND, MAX_SEATS)),
        ("legal", "u1", MAX_ACTIONS),  # the action mask at one's own turn, else zeros
    ]
)

# --- rules and session as the engine reads them ---------------------------------------------------------------------

PARAMETERS = record_dtype(
    [
        (name, "i8")
        for name in (
            # the rules, words as their place in CHOICES, booleans as 0 and 1
            "num_players num_cards num_ranks hand_size ante_payer ante stay_stake turn_up turn_up_owner "
            "extra_hand bidding max_circuits conditional_third late_join forced_deal second_chance exchange_max "
            "exchange_when recycle last_player_wins principal principal_leads must_head ruff lead_top_trump "
            "lead_top_trump_every_trick lead_trump_after_first pot_award best_principal_half_ante penalty_cap stakes "
            "remainder rake_bp max_log pot_growth divisor quota_principal quota_others empty_top empty_bottom "
            "short_top short_bottom "
            # the action layout
            "first_exchange first_card num_actions "
            # the session
            "num_deals play_on carry_low carry_step carry_count carry_typical forced_first forced_typical dealer"
        ).split()
    ]
    + [
        ("suit_of", "i8", 52),  # the suit of a card
        ("suit_cards", "u8", 4),  # the cards of a suit
        ("verb_action", "i8", 6),  # the action of a verb, -1: none
        ("action_verb", "i8", 6),
        ("credits", "i8", MAX_SEATS),
        ("table_carry", "i8", TABLE_SIZE),
        ("table_forced", "i8", TABLE_SIZE),
    ]
)
