"""One sensible player per game, known by what the rules have and not by their name; docs/agents.md says how they play.

Each is a :class:`~agents.thumb.ThumbPolicy` whose thresholds were chosen for its game, and refuses rules without the
features it is written for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from agents.thumb import ANY, ANY_TRUMP, Thresholds, ThumbPolicy
from bestia_env.errors import BestiaError
from bestia_env.registry import family_of

if TYPE_CHECKING:
    from bestia_env.family import Rules
    from bestia_env.rams.rules import RamsRules

__all__ = ["PLAYERS", "GamePlayer", "GamePolicy"]


@dataclass(frozen=True, kw_only=True)
class GamePlayer:
    """A player for one kind of game.

    Args:
        needs: what the rules must have, each by the words an error tells it with.
        thresholds: how it plays given rules that have it.
    """

    needs: dict[str, Callable[[RamsRules], bool]]
    thresholds: Callable[[RamsRules], Thresholds]


# Rows are 0, 1, 2, 3 or more rivals; columns fewer trumps than the quota, as many, one more, two or more beyond it.


def _julepe(rules: RamsRules) -> Thresholds:
    return Thresholds(
        top_ranks=((ANY_TRUMP, ANY, ANY, ANY), (2, 5, ANY, ANY), (1, 3, ANY, ANY), (0, 1, ANY, ANY)),
        unseen_against=-1,
        high_side_cards=True,
        saves_two_trumps=True,
    )


def _mauscheln(rules: RamsRules) -> Thresholds:
    return Thresholds(
        top_ranks=((1, 5, ANY, ANY), (1, 3, ANY, ANY), (1, 3, ANY, ANY), (1, 3, ANY, ANY)),
        unseen_against=-1,
        high_side_cards=True,
    )


def _roman(rules: RamsRules) -> Thresholds:
    return Thresholds(
        top_ranks=((ANY, ANY, ANY, ANY), (0, ANY, ANY, ANY), (0, 3, ANY, ANY), (0, 2, ANY, ANY)),
        unseen_against=-1,
        reads_circuits=True,
        forces_in=(0, 1, ANY, ANY),
        knocks_after=(0, 0, 3, ANY),
        high_side_cards=True,
    )


def _online(rules: RamsRules) -> Thresholds:
    return Thresholds(
        top_ranks=((ANY, ANY, ANY, ANY), (1, 5, ANY, ANY), (1, 4, ANY, ANY), (0, 2, 5, ANY)),
        unseen_against=rules.hand_size - 3,  # with four cards a blind hand is good enough against one other
        light_risk=2,
        high_side_cards=True,
    )


PLAYERS: dict[str, GamePlayer] = {
    "julepe": GamePlayer(
        needs={
            "exchange_max above 0 with exchange_when=declaring": lambda r: r.exchanges_while_declaring,
            "turn_up_owner=dealer_swap": lambda r: r.turn_up_owner == "dealer_swap",
            "a quota of two tricks for all": lambda r: _quotas(r) == {2},
        },
        thresholds=_julepe,
    ),
    "mauscheln": GamePlayer(
        needs={
            "principal=first_in": lambda r: r.principal == "first_in",
            "late_join=True": lambda r: r.late_join,
            "exchange_max above 0 with exchange_when=after": lambda r: r.exchanges_after,
            "quota=(2, 1)": lambda r: r.quota == (2, 1),
        },
        thresholds=_mauscheln,
    ),
    "roman": GamePlayer(
        needs={
            "bidding=circuits": lambda r: r.bidding == "circuits",
            "exchange_max above 0 with exchange_when=declaring": lambda r: r.exchanges_while_declaring,
            "a quota of one trick for all": lambda r: _quotas(r) == {1},
        },
        thresholds=_roman,
    ),
    "online": GamePlayer(
        needs={
            "stakes=table": lambda r: r.stakes == "table",
            "exchange_max above 0 with exchange_when=declaring": lambda r: r.exchanges_while_declaring,
            "second_chance=True": lambda r: r.second_chance,
        },
        thresholds=_online,
    ),
}


def _quotas(rules: RamsRules) -> set[int]:
    """The quotas that occur."""
    return {rules.quota[1]} if rules.principal == "none" else set(rules.quota)


class GamePolicy(ThumbPolicy):
    """A :class:`GamePlayer`. Its thresholds are known once it is bound.

    Args:
        name: one of ``PLAYERS``.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, Thresholds(top_ranks=(0, 0, 0, 0), unseen_against=-1))

    @property
    def player(self) -> GamePlayer:
        """How it plays, and what it needs; not kept, because its conditions cannot be pickled."""
        return PLAYERS[self.name]

    def bind(self, rules: Rules) -> None:
        """See :class:`bestia_env.Policy`.

        Raises:
            BestiaError: rules that lack what this player is written for.
        """
        if family_of(rules).name != "rams":
            raise BestiaError(f"agent {self.name!r} cannot play {rules.variant}; allowed are games of the Rams group")
        game = cast("RamsRules", rules)
        for need, is_met in self.player.needs.items():
            if not is_met(game):
                raise BestiaError(
                    f"agent {self.name!r} cannot play {game}; allowed are rules with {', '.join(self.player.needs)}: "
                    f"these lack {need}"
                )
        self.thresholds = self.player.thresholds(game)
        self._thresholds = self.thresholds.record()
        super().bind(rules)
