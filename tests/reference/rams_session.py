"""A session of Rams deals with one pot (rules: rams 2.5, and from 5 the elimination of seats without credit)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .rams_deal import ReferenceDeal
from .rams_money import divisor, next_forced, too_large
from .rams_table import DealSetup


class ReferenceSession:
    """Plays a session to its end when `run` is called.

    Args:
        rules: the fields of section 3.
        num_deals: deals before the session ends or, with `play_on`, goes on until the pot is bare.
        deck: the pack order of deal k (0-based).
        choose: the action text for the actor of a deal; the second argument is k.
        reshuffle: new stock from (deal k, cards, number of the reshuffle in the deal).
        play_on: see section 2.5.
        carry: what lies in the pot before the first deal.
        dealer: the first dealer.
        forced: the first deal is forced whatever the rules say.
        credits: by seat, zeros unless given; needed at table stakes.

    Once run: `deals` holds the finished deals, `credits` and `carry` what the seats and the pot hold, `final_split`
    what the seats got out of the pot at the end (included in `credits`), `truncated` and `reason` how it ended,
    `eliminated` (deal, seat) in order. A carry that is not 0 at the end is unclaimed.
    """

    def __init__(
        self,
        rules: Mapping[str, Any],
        *,
        num_deals: int,
        deck: Callable[[int], list[str]],
        choose: Callable[[ReferenceDeal, int], str],
        reshuffle: Callable[[int, set[str], int], list[str]],
        play_on: bool = False,
        carry: int = 0,
        dealer: int = 0,
        forced: bool = False,
        credits: Sequence[int] | None = None,
    ) -> None:
        self.rules = rules
        self.seats: int = rules["num_players"]
        if credits is None and rules["stakes"] == "table":
            raise ValueError("credits: table stakes need what every seat holds")
        self.num_deals, self.play_on = num_deals, play_on
        self.deck, self.choose, self.reshuffle = deck, choose, reshuffle
        self.carry, self.dealer = carry, dealer
        self.credits = list(credits) if credits is not None else [0] * self.seats
        self.first_deal_forced = forced
        self.deals: list[ReferenceDeal] = []
        self.left = [True] * self.seats  # who is still in the session
        self.eliminated: list[tuple[int, int]] = []
        self.final_split = [0] * self.seats
        self.truncated = False
        self.reason = ""

    def run(self) -> "ReferenceSession":
        """Play until the session ends."""
        while not self.reason:
            self._end_of_plan()
            if not self.reason:
                self._eliminate()
            if not self.reason and too_large(self.rules, self.carry):
                self.truncated, self.reason = True, "the pot could pass 2^53"
            if not self.reason:
                self._play_deal()
        return self

    def _end_of_plan(self) -> None:
        done = len(self.deals)
        if done < self.num_deals:
            return
        if not self.play_on:
            self.reason = "all deals played"
        elif self.carry < divisor(self.rules) or done >= self.num_deals + 3 * self.seats:
            self._split_pot([seat for seat in range(self.seats) if self.left[seat]])
            self.reason = "played on"

    def _split_pot(self, seats: list[int]) -> None:
        """Equal parts to these seats, the odd chips one each to the seats after the last dealer."""
        part, odd = divmod(self.carry, len(seats))
        after_dealer = [(self._last_dealer() + 1 + step) % self.seats for step in range(self.seats)]
        for place, seat in enumerate(seat for seat in after_dealer if seat in seats):
            self.final_split[seat] = part + (1 if place < odd else 0)
            self.credits[seat] += self.final_split[seat]
        self.carry = 0

    def _last_dealer(self) -> int:
        return self.deals[-1].setup.dealer if self.deals else self.dealer

    def _eliminate(self) -> None:
        """At table stakes who has nothing left before the ante is out; the last one left takes the pot."""
        if self.rules["stakes"] != "table":
            return
        broke = [seat for seat in range(self.seats) if self.left[seat] and self.credits[seat] == 0]
        for seat in broke:
            self.left[seat] = False
            self.eliminated.append((len(self.deals), seat))
        if sum(self.left) == 1:
            self._split_pot([self.left.index(True)])
            self.reason = "one seat left"
        elif not any(self.left):
            self._split_pot(broke)
            self.reason = "nobody left"

    def _play_deal(self) -> None:
        index = len(self.deals)
        dealer = self._last_dealer() + (1 if self.deals else 0)
        while not self.left[dealer % self.seats]:
            dealer += 1
        previous_bestia = self.deals[-1].anybody_bestia if self.deals else False
        forced = next_forced(self.rules, carry=self.carry, first_deal=not self.deals, previous_bestia=previous_bestia)
        deal = ReferenceDeal(
            DealSetup(
                rules=self.rules,
                dealer=dealer % self.seats,
                carry=self.carry,
                order=self.deck(index),
                forced=forced or (self.first_deal_forced and not self.deals),
                half_ante=self.deals[-1].next_half_ante if self.deals else None,
                credits=list(self.credits),
                entitled=list(self.left),
                reshuffle=lambda cards, number: self.reshuffle(index, cards, number),
            )
        )
        while not deal.over:
            deal.apply(self.choose(deal, index))
        self.deals.append(deal)
        self.carry = deal.carry_after
        self.credits = list(deal.credits_after)
