"""The stock and what becomes of it when it runs out (rules: rams 2.3)."""

from collections.abc import Callable, Sequence


class Stock:
    """Cards to draw, next card first, and the pile of cards laid off.

    The hands of seats that are finally out are passed in by the deal, which knows who that is; a reshuffle empties
    them.
    """

    def __init__(self, cards: list[str], recycle: str, reshuffle: Callable[[set[str], int], list[str]]) -> None:
        self.cards = cards
        self.laid_off: set[str] = set()
        self.reshuffles = 0
        self._recycles_folded = recycle in ("folded", "folded_then_discards")
        self._recycles_laid_off = recycle == "folded_then_discards"
        self._reshuffle = reshuffle

    def available(self, folded_hands: Sequence[set[str]]) -> int:
        """How many cards could be drawn now, reshuffles included."""
        count = len(self.cards)
        if self._recycles_folded:
            count += sum(len(hand) for hand in folded_hands)
        if self._recycles_laid_off:
            count += len(self.laid_off)
        return count

    def draw(self, number: int, folded_hands: Sequence[set[str]]) -> set[str]:
        """Take cards from the stock; a new stock is made only when a card is wanted and none is left."""
        drawn = set()
        for _ in range(number):
            if not self.cards:
                self._renew(folded_hands)
            drawn.add(self.cards.pop(0))
        return drawn

    def _renew(self, folded_hands: Sequence[set[str]]) -> None:
        pool: set[str] = set()
        if self._recycles_folded:
            for hand in folded_hands:
                pool |= hand
                hand.clear()
        if not pool and self._recycles_laid_off:
            pool = self.laid_off
            self.laid_off = set()
        new = list(self._reshuffle(set(pool), self.reshuffles))
        if len(new) != len(pool) or set(new) != pool:
            raise ValueError(f"reshuffle {self.reshuffles}: {new} is not an order of {sorted(pool)}")
        self.reshuffles += 1
        self.cards = new
