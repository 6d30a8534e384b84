"""One deal of a Rams game, from the first declaration to the settlement (rules: rams 2)."""

from .rams_cards import legal_cards, winning_card
from .rams_money import equity_score, settle
from .rams_table import IN, OUT, PASSED, THIRD, UNSPOKEN, DealSetup, RamsTable


class ReferenceDeal(RamsTable):
    """A deal that is stepped with action texts. Once `over`, the money is in the attributes `settle` fills."""

    def __init__(self, setup: DealSetup) -> None:
        super().__init__(setup)
        self.phase = "declare"
        self.over = False
        self.actor: int | None = None
        self.turns: list[int] = []  # who is still to be asked in this round
        self.circuit = 0  # complete circuits of the bidding so far
        self.thirds: list[int] = []  # the seats that said "third if I must", first first
        self.knocker: int | None = None  # who ended a bidding in circuits
        self.trick: list[tuple[int, str]] = []
        self.tricks = [0] * self.seats
        self.winners: list[int] = []
        self.played: set[str] = set()  # cards of earlier tricks
        self._legal: set[str] | None = None
        self._begin()

    @property
    def principal(self) -> int | None:
        """The seat with the principal's duties as far as it is known; forced deals have none (rules: rams 2.6)."""
        if self.setup.forced:
            return None
        if self.rules["principal"] == "knocker":
            return self.knocker
        if self.rules["principal"] == "first_in" and self.entered:
            return self.entered[0]
        return None

    def _begin(self) -> None:
        if self.setup.forced or len(self.players) <= 1:
            for seat in self.players:
                self.status[seat] = IN
            self._end_declaring()
        else:
            self.turns = list(self.players)
            self.actor = self.turns[0]

    # --- what may be done ----------------------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """The action texts open to the actor; empty once the deal is over."""
        if self._legal is None:
            self._legal = set() if self.actor is None else self._find_legal(self.actor)
        return set(self._legal)

    def _find_legal(self, seat: int) -> set[str]:
        match self.phase:
            case "declare" if self.rules["bidding"] == "circuits":
                return self._legal_in_circuit(seat)
            case "declare":
                return self._legal_in_round(seat)
            case "second_chance":
                return {"pass", "draw"}
            case "exchange":
                return self.exchanges(seat)
        cards = legal_cards(
            self.hands[seat],
            [card for _, card in self.trick],
            self.trump,
            self.rules,
            tricks_played=len(self.winners),
            turned_out=self.turned_out(),
            played=self.played,
        )
        return {f"play {card}" for card in cards}

    def _legal_in_round(self, seat: int) -> set[str]:
        actions = {"pass"}
        if self.exchanges_while_declaring():
            actions |= self.exchanges(seat)
        else:
            actions.add("knock")
        if self.extra_hand:
            actions.add("buco")
        return actions

    def _legal_in_circuit(self, seat: int) -> set[str]:
        if self.status[seat] == THIRD and self.status.count(IN) >= 3:
            return {"pass"}
        actions = {"pass", "knock"}
        if self.circuit < self.rules["max_circuits"]:
            if self.exchanges_while_declaring():
                actions |= self.exchanges(seat)
            if self.rules["conditional_third"] and self.status[seat] == UNSPOKEN:
                actions.add("third")
        return actions

    # --- what is done --------------------------------------------------------------------------------------------

    def apply(self, text: str) -> None:
        """Carry out an action of the actor.

        Raises:
            ValueError: the action is not legal now; nothing has changed.
        """
        legal = self.legal()
        if self.actor is None or text not in legal:
            raise ValueError(f"{text!r} is not legal for seat {self.actor} in phase {self.phase}: {sorted(legal)}")
        seat = self.actor
        self._legal = None
        verb, *cards = text.split()
        match self.phase:
            case "play":
                self._play(seat, cards[0])
            case "exchange":
                self.exchange(seat, set(cards))
                self._next_exchange()
            case "second_chance":
                self._answer_second_chance(seat, verb)
            case "declare" if self.rules["bidding"] == "circuits":
                self._declare_in_circuit(seat, verb, set(cards))
            case "declare":
                self._declare_in_round(seat, verb, set(cards))

    # --- declaring, each seat once -------------------------------------------------------------------------------

    def _declare_in_round(self, seat: int, verb: str, laid_off: set[str]) -> None:
        nobody_in_before = not self.entered
        self.turns.pop(0)
        if verb != "pass":
            self.go_in(seat, verb, laid_off)
            if nobody_in_before and self.rules["late_join"]:
                # Once round from the left of the first who went in: those who passed before him speak again.
                self.turns += [other for other in self.players if self.status[other] == PASSED]
        elif self.rules["second_chance"] or (self.rules["late_join"] and nobody_in_before):
            self.status[seat] = PASSED
        else:
            self.go_out(seat)
        if self.rules["last_player_wins"] and len(self.turns) == 1 and not self.entered:
            self.status[self.turns.pop()] = IN
        if self.turns:
            self.actor = self.turns[0]
        elif self.rules["second_chance"]:
            self.phase = "second_chance"
            self.turns = [other for other in self.players if self.status[other] == PASSED]
            self._next_second_chance()
        else:
            self._end_declaring()

    def _next_second_chance(self) -> None:
        """Ask the next passer; who cannot be served with a whole hand is skipped."""
        while self.turns and not self.can_be_served():
            self.go_out(self.turns.pop(0))
        if self.turns:
            self.actor = self.turns[0]
        else:
            self._end_declaring()

    def _answer_second_chance(self, seat: int, verb: str) -> None:
        self.turns.pop(0)
        if verb == "draw":
            self.go_in(seat, verb, set())
        else:
            self.go_out(seat)
        self._next_second_chance()

    # --- declaring in circuits -----------------------------------------------------------------------------------

    def _declare_in_circuit(self, seat: int, verb: str, laid_off: set[str]) -> None:
        match verb:
            case "knock":
                self._knock(seat)
                return
            case "exchange":
                self.go_in(seat, verb, laid_off)
            case "third":
                self.status[seat] = THIRD
                self.thirds.append(seat)
            case "pass":
                self.go_out(seat)
        left = [other for other in self.players if self.status[other] != OUT]
        if len(left) == 1 and self.rules["last_player_wins"]:
            self.status[left[0]] = IN
            self._end_declaring()
        elif left:
            self.actor = self._next_in_circuit(seat)
        else:
            self._end_declaring()

    def _next_in_circuit(self, seat: int) -> int:
        """The next seat that is not out; a circuit is complete when the turn has passed the dealer's place."""
        place = self.order.index(seat)
        while True:
            place += 1
            if place == self.seats:
                place = 0
                self.circuit += 1
            if self.status[self.order[place]] != OUT:
                return self.order[place]

    def _knock(self, seat: int) -> None:
        self.knocker = seat
        self.go_in(seat, "knock", set())
        for other in self.players:
            if self.status[other] == UNSPOKEN:
                self.status[other] = IN
        for other in self.thirds:
            if self.status[other] == THIRD and len(self.participants) < 3:
                self.status[other] = IN
        self._end_declaring()

    # --- from the last declaration to the first card -------------------------------------------------------------

    def _end_declaring(self) -> None:
        for seat in self.players:
            if self.status[seat] != IN:
                self.go_out(seat)
        if len(self.participants) < 2:
            self._settle()
            return
        self.pay_stakes()
        if self.exchanges_afterwards():
            self.phase = "exchange"
            self.turns = list(self.participants)
            if self.principal is not None:
                at = self.turns.index(self.principal)
                self.turns = self.turns[at:] + self.turns[:at]
            self.actor = self.turns[0]
        else:
            self._start_play()

    def _next_exchange(self) -> None:
        self.turns.pop(0)
        if self.turns:
            self.actor = self.turns[0]
        else:
            self._start_play()

    def _start_play(self) -> None:
        self.phase = "play"
        if self.principal is not None and self.rules["principal_leads"]:
            self.actor = self.principal
        else:
            self.actor = self.participants[0]

    # --- tricks and settlement -----------------------------------------------------------------------------------

    def _play(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        table = self.participants
        if len(self.trick) < len(table):
            self.actor = table[(table.index(seat) + 1) % len(table)]
            return
        laid_by = {laid: other for other, laid in self.trick}
        winner = laid_by[winning_card(list(laid_by), self.trump, self.rules)]
        self.tricks[winner] += 1
        self.winners.append(winner)
        self.played |= set(laid_by)
        self.trick = []
        self.actor = winner
        if len(self.winners) == self.rules["hand_size"]:
            self._settle()

    def _settle(self) -> None:
        self.phase, self.over, self.actor = "over", True, None
        result = settle(
            self.rules,
            pot=self.pot,
            risk=self.risk,
            tricks=self.tricks,
            participants=self.participants,
            principal=self.principal,
            first_winner=self.winners[0] if self.winners else None,
        )
        self.shares, self.penalties, self.rake = result.shares, result.penalties, result.rake
        self.carry_after = result.carry_after
        self.anybody_bestia = bool(result.bestie)
        self.next_half_ante = result.best_principal
        won = [share - penalty for share, penalty in zip(self.shares, self.penalties, strict=True)]
        self.net = [won[seat] - self.antes[seat] - self.stakes_paid[seat] for seat in range(self.seats)]
        self.credits = [self.credits[seat] + won[seat] for seat in range(self.seats)]
        self.credits_after = list(self.credits)
        self.score = equity_score(
            self.rules,
            pot0=self.pot0,
            shares=self.shares,
            penalties=self.penalties,
            stakes_paid=self.stakes_paid,
            carry_after=self.carry_after,
            entitled=self.setup.entitled,
            half_ante_earner=self.next_half_ante,
        )
