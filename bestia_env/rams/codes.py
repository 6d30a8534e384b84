"""Words of the rules and the phases as the plain integers that compiled code compares."""

from __future__ import annotations

from bestia_env.rams.rules import CHOICES
from bestia_env.rams.state import Phase, Status, Verb


def _code(field: str, word: str) -> int:
    return CHOICES[field].index(word)


DECLARE, SECOND_CHANCE, EXCHANGE, PLAY, SETTLE, OVER = (int(phase) for phase in Phase)
# Steps that ``advance`` takes without asking anybody, so that no View shows them. A step is a phase and not a call
# wherever several phases lead to it: compiled code is optimised anew at every call.
DEALING, STAKES_DUE = -1, -2
UNSPOKEN, PASSED, IN, THIRD, OUT, AWAY = (int(status) for status in Status)
SAY_PASS, SAY_KNOCK, SAY_DRAW, SAY_BUCO, SAY_THIRD, SAY_EXCHANGE = (int(verb) for verb in Verb)

ALL_ANTE = _code("ante_payer", "all")
TURN_BEFORE = _code("turn_up", "before_deal")
TURN_MIDWAY = _code("turn_up", "mid_deal")
DEALER_OWNS = _code("turn_up_owner", "dealer")
DEALER_SWAPS = _code("turn_up_owner", "dealer_swap")
CIRCUITS = _code("bidding", "circuits")
FORCED_AFTER_NO_BESTIA = _code("forced_deal", "after_no_bestia")
FORCED_ON_BARE_ANTE = _code("forced_deal", "bare_ante")
WHILE_DECLARING = _code("exchange_when", "declaring")
RECYCLE_NONE = _code("recycle", "none")
RECYCLE_DISCARDS = _code("recycle", "folded_then_discards")
FIRST_IN = _code("principal", "first_in")
KNOCKER = _code("principal", "knocker")
RUFF_ANY = _code("ruff", "any_trump")
RUFF_OVER_ELSE_TRUMP = _code("ruff", "overtrump_else_any_trump")
RUFF_OVER_ELSE_ANY = _code("ruff", "overtrump_else_any_card")
LEAD_FREE = _code("lead_top_trump", "none")
LEAD_ACE_OR_NEXT = _code("lead_top_trump", "ace_or_exposed_next")
LEAD_HIGHEST = _code("lead_top_trump", "highest_remaining")
AWARD_PER_TRICK = _code("pot_award", "per_trick")
AWARD_QUOTA_SPLIT = _code("pot_award", "quota_split")
TABLE_STAKES = _code("stakes", "table")
REMAINDER_TO_WINNER = _code("remainder", "first_trick_winner")
