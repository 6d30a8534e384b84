"""What lies on the table in a Rams deal and in whose hands: chips, cards, who is in (rules: rams 2.3, 2.4, 2.6).

Whose turn it is and what follows is the business of `rams_deal`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .rams_cards import cards_of_pack, in_id_order, suit_of
from .rams_money import antes_of_deal, risk_of_deal
from .rams_stock import Stock

# What a seat has said. PASSED may still come back (second chance, late joining), OUT is final.
UNSPOKEN, IN, THIRD, PASSED, OUT = "unspoken", "in", "third", "passed", "out"


@dataclass
class DealSetup:
    """Everything a deal starts from; `order` is the whole pack, first card dealt first."""

    rules: Mapping[str, Any]
    dealer: int
    carry: int
    order: list[str]
    forced: bool
    half_ante: int | None
    credits: list[int]
    entitled: list[bool]
    reshuffle: Callable[[set[str], int], list[str]]


class RamsTable:
    """The table after ante and deal.

    `hands` keeps the cards of a seat that folded until they are shuffled into a new stock; `participants` are the
    seats that are in so far, in order from eldest; `pot` is what lies on the table (the base of the settlement once
    cards are led); `credits` move at once. A dealer's own turn-up leaves his hand when he folds.
    """

    def __init__(self, setup: DealSetup) -> None:
        self.setup = setup
        self.rules = setup.rules
        self.seats: int = self.rules["num_players"]
        self._check_setup()
        # Eldest first, dealer last; seats that are not entitled are no part of the deal.
        self.order: list[int] = [(setup.dealer + 1 + step) % self.seats for step in range(self.seats)]
        self.players = [seat for seat in self.order if setup.entitled[seat]]
        self.status = [UNSPOKEN if setup.entitled[seat] else OUT for seat in range(self.seats)]
        self.entered: list[int] = []  # the seats that went in of their own will and are in, first to go in first
        self.stakes_paid = [0] * self.seats
        self._pay_antes()
        self._deal_cards()

    def _check_setup(self) -> None:
        setup = self.setup
        pack = cards_of_pack(self.rules)
        if len(setup.order) != len(pack) or set(setup.order) != pack:
            raise ValueError(f"order: {setup.order} is not an order of the pack")
        if len(setup.credits) != self.seats or len(setup.entitled) != self.seats:
            raise ValueError(f"credits and entitled must have one entry for each of {self.seats} seats")
        if not 0 <= setup.dealer < self.seats:
            raise ValueError(f"dealer: {setup.dealer} must be a seat from 0 to {self.seats - 1}")

    # --- chips ---------------------------------------------------------------------------------------------------

    def _pay_antes(self) -> None:
        setup = self.setup
        self.antes = antes_of_deal(
            self.rules,
            dealer=setup.dealer,
            half_ante=setup.half_ante,
            credits=setup.credits,
            entitled=setup.entitled,
        )
        self.credits = [has - ante for has, ante in zip(setup.credits, self.antes, strict=True)]
        self.pot0 = self.pot = setup.carry + sum(self.antes)
        self._table_risk = risk_of_deal(self.pot0, self.credits, setup.entitled)

    def pay_stakes(self) -> None:
        """Every participant pays the stake for staying in."""
        stake = self.rules["stay_stake"]
        for seat in self.participants:
            self.stakes_paid[seat] = stake
            self.credits[seat] -= stake
            self.pot += stake

    @property
    def risk(self) -> int:
        """The base of a penalty before the cap: the risk of section 5 at table stakes, else the pot."""
        return self._table_risk if self.rules["stakes"] == "table" else self.pot

    # --- cards ---------------------------------------------------------------------------------------------------

    def _deal_cards(self) -> None:
        pack = list(self.setup.order)
        size, dealer = self.rules["hand_size"], self.setup.dealer
        self.hands: list[set[str]] = [set() for _ in range(self.seats)]
        self.extra_hand: set[str] = set()
        self.dealer_owns_turn_up = self.rules["turn_up_owner"] == "dealer" and self.setup.entitled[dealer]
        self.dealer_took_turn_up = False  # the dealer of a dealer_swap game who went in

        def deal_up_to(most: int) -> None:
            """A batch that gives each seat in order what it lacks of that many cards."""
            for seat in self.players:
                full = size - 1 if self.dealer_owns_turn_up and seat == dealer else size
                while len(self.hands[seat]) < min(most, full):
                    self.hands[seat].add(pack.pop(0))

        first_batch = {"before_deal": 0, "mid_deal": 2, "after_deal": size}[self.rules["turn_up"]]
        deal_up_to(first_batch)
        self.turn_up = pack.pop(0)
        self.trump = suit_of(self.turn_up)
        if self.rules["extra_hand"]:
            self.extra_hand = {pack.pop(0) for _ in range(size)}
        deal_up_to(size)
        if self.dealer_owns_turn_up:
            self.hands[dealer].add(self.turn_up)
        self.stock = Stock(pack, self.rules["recycle"], self.setup.reshuffle)

    def turned_out(self) -> str | None:
        """The turn-up where nobody owns it; what a dealer made of a turn-up of his own is not public."""
        dealer_is_in = self.status[self.setup.dealer] == IN
        if self.dealer_took_turn_up or (self.dealer_owns_turn_up and dealer_is_in):
            return None
        return self.turn_up

    def _may_take_turn_up(self, seat: int) -> bool:
        """Does an exchange bring this seat the turn-up?"""
        return (
            self.rules["turn_up_owner"] == "dealer_swap"
            and seat == self.setup.dealer
            and not self.setup.forced
            and not self.dealer_took_turn_up
        )

    def _take_turn_up(self, seat: int) -> None:
        self.hands[seat].add(self.turn_up)
        self.dealer_took_turn_up = True

    # --- in or out -----------------------------------------------------------------------------------------------

    @property
    def participants(self) -> list[int]:
        """The seats that are in, in order from eldest."""
        return [seat for seat in self.players if self.status[seat] == IN]

    def go_in(self, seat: int, verb: str, laid_off: set[str]) -> None:
        """A seat goes in by its own decision, or stays in with another exchange."""
        match verb:
            case "exchange":
                self.exchange(seat, laid_off)
            case "draw":
                self._new_hand(seat, self.stock.draw(self.rules["hand_size"], self._folded_hands()))
            case "buco":
                self._new_hand(seat, self.extra_hand)
                self.extra_hand = set()
        self.status[seat] = IN
        if seat not in self.entered:
            self.entered.append(seat)
        if self.exchanges_afterwards() and self._may_take_turn_up(seat):
            self._take_turn_up(seat)

    def go_out(self, seat: int) -> None:
        """A seat is finally out; a turn-up that was the dealer's own is nobody's now."""
        self.status[seat] = OUT
        if seat in self.entered:
            self.entered.remove(seat)
        if self.dealer_owns_turn_up and seat == self.setup.dealer:
            self.hands[seat].discard(self.turn_up)

    def _folded_hands(self) -> list[set[str]]:
        return [self.hands[seat] for seat in self.players if self.status[seat] == OUT]

    def _new_hand(self, seat: int, cards: set[str]) -> None:
        self.stock.laid_off |= self.hands[seat]
        self.hands[seat] = cards

    # --- exchanging ----------------------------------------------------------------------------------------------

    def exchanges_while_declaring(self) -> bool:
        """Does a seat exchange at the moment it goes in?"""
        return bool(self.rules["exchange_max"] > 0 and self.rules["exchange_when"] == "declaring")

    def exchanges_afterwards(self) -> bool:
        """Do the participants exchange in a round of its own?"""
        return bool(self.rules["exchange_max"] > 0 and self.rules["exchange_when"] == "after")

    def can_be_served(self) -> bool:
        """Is there a whole new hand to draw?"""
        return self.stock.available(self._folded_hands()) >= int(self.rules["hand_size"])

    def exchanges(self, seat: int) -> set[str]:
        """Every exchange open to a seat; the dealer who gets the turn-up lays off one card more than he draws."""
        cards = self.hands[seat] | {self.turn_up} if self._may_take_turn_up(seat) else self.hands[seat]
        surplus = len(cards) - self.rules["hand_size"]
        limit = min(self.rules["exchange_max"], self.stock.available(self._folded_hands()))
        return {
            " ".join(("exchange", *laid_off))
            for number in range(surplus, limit + surplus + 1)
            for laid_off in combinations(in_id_order(cards, self.rules), number)
        }

    def exchange(self, seat: int, laid_off: set[str]) -> None:
        """Lay cards off and draw what is missing; the cards of this very action are not recycled for it."""
        if self._may_take_turn_up(seat):
            self._take_turn_up(seat)
        self.hands[seat] -= laid_off
        missing = self.rules["hand_size"] - len(self.hands[seat])
        self.hands[seat] |= self.stock.draw(missing, self._folded_hands())
        self.stock.laid_off |= laid_off
