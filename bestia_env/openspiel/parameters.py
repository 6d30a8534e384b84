"""Parameters of an OpenSpiel game: rules and the setup of its deal, as numbers and words that print and read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bestia_env
from bestia_env.errors import BestiaError, RulesError
from bestia_env.family import Rules
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.typical import typical_table
from bestia_env.session import SessionConfig

__all__ = ["DEFAULTS", "REWARDS", "Setup", "changes_text", "setup_of"]

REWARDS = ("score", "chips")
DEFAULTS: dict[str, Any] = {
    "variant": "bestia",
    "players": 0,  # the preset's default
    "changes": "",
    "dealer": -1,  # drawn by chance
    "carry": -1,  # the preset's typical one
    "forced": False,
    "reward": "score",
}

# OpenSpiel reads commas, brackets and equality signs as its own.
_OURS, _THEIRS = "(),=", "[];:"
_WRITTEN = str.maketrans(_OURS, _THEIRS)
_READ = str.maketrans(_THEIRS, _OURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A game's rules, how its one deal begins, and what its returns count."""

    rules: Rules
    session: SessionConfig
    reward: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters with every default spelled out."""
        return {
            "variant": self.rules.variant,
            "players": self.rules.num_players,
            "changes": changes_text(self.rules),
            "dealer": -1 if self.session.dealer is None else self.session.dealer,
            "carry": self.session.carry,
            "forced": self.session.forced,
            "reward": self.reward,
        }


def changes_text(rules: Rules) -> str:
    """What rules change of their preset: ``penalty_cap=30, quota=(1, 1)`` with OpenSpiel's own signs replaced."""
    inside = str(rules).removeprefix(rules.variant)[1:-1]
    _, _, changes = inside.partition(", ")  # num_players comes first
    return changes.translate(_WRITTEN)


def setup_of(parameters: dict[str, Any]) -> Setup:
    """What parameters say.

    Raises:
        RulesError: unknown preset or field, or values that the rules reject.
        BestiaError: a reward of another name.
    """
    p = DEFAULTS | parameters
    players = p["players"] or bestia_env.default_players(p["variant"])
    changes = str(p["changes"]).translate(_READ)
    rules = bestia_env.parse_rules(f"{p['variant']}(num_players={players}{', ' if changes else ''}{changes})")
    if p["reward"] not in REWARDS:
        raise BestiaError(f"reward={p['reward']!r}; allowed are {' and '.join(REWARDS)}")
    carry = p["carry"] if p["carry"] >= 0 else _usual_carry(rules)
    dealer = p["dealer"] if p["dealer"] >= 0 else None
    return Setup(
        rules=rules, session=SessionConfig(dealer=dealer, carry=carry, forced=bool(p["forced"])), reward=p["reward"]
    )


def _usual_carry(rules: Rules) -> int:
    """The median of the preset's typical carries above 0, a pot in which chips were left; 0 where there is no table."""
    if not isinstance(rules, RamsRules):
        return 0
    try:
        carries, _ = typical_table(rules)
    except RulesError:
        return 0
    left = sorted(carries[carries > 0])
    return int(left[len(left) // 2]) if left else 0
