"""Bettelmann once more, slowly: plain lists and deques, the script of a game as one generator.

Written from the rule page alone (section 3 and its decisions), for the cross-check of the compiled engine.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from fractions import Fraction

WIN, LIMIT, CYCLE, CAP = "win", "limit", "cycle", "cap"


class ReferenceGame:
    """One game. Cards are texts (``Ah``) or marks (``A`` for a rank, ``-`` for a number card), top card first.

    ``turn`` is the seat that lays next, None once ``over``; ``result`` and ``rewards`` say how it ended.
    """

    def __init__(
        self,
        stacks: list[list[str]],
        penalties: Mapping[str, int],
        partial: str = "close",
        elimination: str = "late",
        limit_cards: int | None = None,
        on_limit: str = "stacks_only",
        detect_cycle: bool = True,
        hard_cap: int = 100_000,
    ) -> None:
        self.stacks = [deque(stack) for stack in stacks]
        self.pile: list[str] = []
        self.cards = 0
        self.piles = 0
        self.turn: int | None = None
        self.out: set[int] = set()
        self.owner: int | None = None
        self.due = 0
        self.over = False
        self.result: str | None = None
        self.rewards: list[Fraction] | None = None
        self._penalties = dict(penalties)
        self._close = {"close": True, "pass_on": False}[partial]
        self._at_once = {"late": False, "immediate": True}[elimination]
        self._limit = limit_cards
        self._finish_pile = {"stacks_only": False, "finish_pile": True}[on_limit]
        self._detect = detect_cycle
        self._cap = hard_cap
        self._script = self._game()
        next(self._script, None)

    def lay(self) -> None:
        """The seat whose turn it is lays its top card."""
        assert not self.over
        next(self._script, None)

    def penalty(self, card: str) -> int:
        """What the next seat owes for a card, 0 for a number card."""
        return self._penalties.get(card) or self._penalties.get(card[:-1], 0)

    # --- the script ---------------------------------------------------------------------------------------------------

    def _game(self) -> Iterator[None]:
        seen = set()
        leader: int | None = 0
        if self._at_once:
            self.out = {seat for seat, stack in enumerate(self.stacks) if not stack}
        while not self.stacks[leader]:
            self.out.add(leader)
            leader = self._after(leader)
        while leader is not None:
            position = (leader, tuple(tuple(map(self.penalty, stack)) for stack in self.stacks))
            if self._detect and position in seen:
                self._finish(CYCLE, self._holders())
                return
            seen.add(position)
            leader = yield from self._one_pile(leader)

    def _one_pile(self, leader: int) -> Iterator[None]:
        """Plays until a pile is taken; returns who took it and leads the next, or None when the game is over."""
        seat = leader
        while True:
            self.turn = seat
            yield
            taker, heir = self._lay_one(seat)
            if taker is not None:
                self._gather(taker)
            if self._at_once:
                self.out |= {other for other, stack in enumerate(self.stacks) if not stack and other != self.owner}
            if self._check_win(seat) or self._check_limit():
                return None
            if taker is not None:
                return taker
            while not self.stacks[heir]:
                self.out.add(heir)
                if self._check_win(seat):
                    return None
                heir = self._after(heir)
                if heir == self.owner:
                    self._gather(heir)
                    return None if self._check_win(seat) or self._check_limit() else heir
            seat = heir

    def _lay_one(self, seat: int) -> tuple[int | None, int]:
        """Lays a card; returns who takes the pile now, if anybody, and else whose turn comes next."""
        card = self.stacks[seat].popleft()
        self.pile.append(card)
        self.cards += 1
        if self.penalty(card):
            self.owner, self.due = seat, self.penalty(card)
            return None, self._after(seat)
        if not self.due:
            return None, self._after(seat)
        self.due -= 1
        if not self.due:
            return self.owner, seat
        if self.stacks[seat]:
            return None, seat
        if self._close:
            return self.owner, seat
        heir = self._after(seat)
        return (self.owner, heir) if heir == self.owner else (None, heir)

    def _after(self, seat: int) -> int:
        others = [(seat + step) % len(self.stacks) for step in range(1, len(self.stacks) + 1)]
        return next(other for other in others if other not in self.out)

    def _gather(self, seat: int) -> None:
        self.stacks[seat].extend(self.pile)
        self.pile = []
        self.piles += 1
        self.owner, self.due = None, 0

    # --- the end ------------------------------------------------------------------------------------------------------

    def _holders(self) -> list[int]:
        return [seat for seat, stack in enumerate(self.stacks) if stack]

    def _check_win(self, last: int) -> bool:
        holders = self._holders()
        still_in = [seat for seat in range(len(self.stacks)) if seat not in self.out]
        if not holders:
            winner = self.owner if self.owner is not None else last
        elif len(still_in) == 1:
            winner = still_in[0]
        elif len(holders) == 1 and not self.pile:
            winner = holders[0]
        else:
            return False
        if self.pile:
            self._gather(winner)
        self._finish(WIN, [winner])
        return True

    def _check_limit(self) -> bool:
        if self._limit is not None and self.cards >= self._limit and not (self._finish_pile and self.pile):
            most = max(map(len, self.stacks))
            self._finish(LIMIT, [seat for seat, stack in enumerate(self.stacks) if len(stack) == most])
        elif self.cards >= self._cap:
            self._finish(CAP, self._holders())
        return self.over

    def _finish(self, result: str, sharing: list[int]) -> None:
        seats = len(self.stacks)
        share = Fraction(seats - len(sharing), len(sharing))
        self.rewards = [share if seat in sharing else Fraction(-1) for seat in range(seats)]
        self.result, self.over, self.turn = result, True, None
