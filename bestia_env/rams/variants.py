"""The documented games, one entry each: the table of rules: rams 3 as rows of values."""

from __future__ import annotations

from fractions import Fraction

from bestia_env.cards import Pack
from bestia_env.presets import Variant

__all__ = ["MAX_SEATS", "MINI", "PRESETS", "VARIANTS"]

MAX_SEATS = 10

_BESTIA: dict[str, object] = {}
_STRICT: dict[str, object] = {
    "forced_deal": "after_no_bestia",
    "ruff": "highest_trump",
    "lead_top_trump": "ace",
    "lead_top_trump_every_trick": True,
    "lead_trump_after_first": True,
    "penalty_cap": 30,
}
_BUCO: dict[str, object] = {
    "ante_payer": "all",
    "extra_hand": True,
    "second_chance": False,
    "recycle": "none",
    "last_player_wins": True,
    "must_head": True,
    "ruff": "overtrump_else_any_card",
}
_FIVE: dict[str, object] = {
    "hand_size": 5,
    "ante_payer": "all",
    "ante": 5,
    "turn_up_owner": "dealer",
    "second_chance": False,
    "exchange_max": 4,
    "exchange_when": "declaring",
    "last_player_wins": True,
    "must_head": True,
    "ruff": "overtrump_else_any_card",
}
_ROMAN: dict[str, object] = {
    **_FIVE,
    "ante": 10,
    "stay_stake": 10,
    "turn_up": "after_deal",
    "turn_up_owner": "nobody",
    "bidding": "circuits",
    "max_circuits": 6,
    "conditional_third": True,
    "exchange_max": 5,
    "principal": "knocker",
    "principal_leads": True,
    "principal_penalty": (Fraction(3, 2), Fraction(1)),
    "best_principal_half_ante": True,
}
_ONLINE3: dict[str, object] = {
    "ante_payer": "all",
    "ante": 100,
    "turn_up": "after_deal",
    "exchange_max": 3,
    "exchange_when": "declaring",
    "recycle": "none",
    "lead_top_trump": "ace_or_exposed_next",
    "stakes": "table",
    "remainder": "first_trick_winner",
}
_ONLINE4: dict[str, object] = {**_ONLINE3, "hand_size": 4, "exchange_max": 4, "principal": "first_in", "quota": (2, 1)}
_JULEPE: dict[str, object] = {
    "hand_size": 5,
    "ante": 4,
    "turn_up": "after_deal",
    "turn_up_owner": "dealer_swap",
    "second_chance": False,
    "exchange_max": 5,
    "exchange_when": "declaring",
    "must_head": True,
    "ruff": "overtrump_else_any_trump",
    "quota": (2, 2),
    "pot_award": "quota_split",
}
_MAUSCHELN: dict[str, object] = {
    "hand_size": 4,
    "ante": 4,
    "turn_up": "mid_deal",
    "late_join": True,
    "second_chance": False,
    "exchange_max": 4,
    "principal": "first_in",
    "principal_leads": True,
    "must_head": True,
    "ruff": "overtrump_else_any_trump",
    "quota": (2, 1),
    "principal_penalty": (Fraction(2), Fraction(1)),
}
_TIPPEN: dict[str, object] = {"turn_up": "after_deal", "forced_deal": "bare_ante", "second_chance": False}
_ITALIAN_SHORT = ((5, "italian36"), (10, "italian40"))
_GERMAN = ((6, "piquet32"), (10, "french52"))

VARIANTS: dict[str, Variant] = {
    "bestia": Variant(players=(3, 10), default_players=5, source="000", values=_BESTIA),
    "bestia_strict": Variant(players=(3, 10), default_players=5, source="000", values=_STRICT),
    "bestia_buco": Variant(players=(4, 10), default_players=6, source="001", values=_BUCO),
    "bestia_col_buco": Variant(
        players=(3, 10), default_players=5, source="000", values={"extra_hand": True, "second_chance": False}
    ),
    "bestia_five": Variant(players=(4, 6), default_players=5, source="001", values=_FIVE),
    "bestia_five_majority": Variant(
        players=(4, 6), default_players=5, source="001", values={**_FIVE, "pot_award": "most_tricks"}
    ),
    "bestia_five_ace": Variant(
        players=(4, 6), default_players=5, source="001", values={**_FIVE, "lead_top_trump": "ace"}
    ),
    "bestia_five_top": Variant(
        players=(4, 6),
        default_players=5,
        source="001",
        values={**_FIVE, "lead_top_trump": "highest_remaining", "lead_top_trump_every_trick": True},
    ),
    "bestia_five_undertrump": Variant(
        players=(4, 6), default_players=5, source="001", values={**_FIVE, "ruff": "overtrump_else_any_trump"}
    ),
    "bestia_roman": Variant(players=(4, 6), default_players=5, source="001", values=_ROMAN),
    "online3": Variant(players=(3, 6), default_players=5, source="004", values=_ONLINE3),
    "online4": Variant(players=(3, 4), default_players=4, source="004", values=_ONLINE4),
    "julepe": Variant(players=(3, 6), default_players=5, source="000", values=_JULEPE, packs=_ITALIAN_SHORT),
    "mauscheln": Variant(players=(3, 10), default_players=4, source="000", values=_MAUSCHELN, packs=_GERMAN),
    "mousel": Variant(players=(3, 10), default_players=4, source="000", values=_MAUSCHELN, packs=_GERMAN),
    "tippen": Variant(players=(3, 10), default_players=4, source="000", values=_TIPPEN, packs=_GERMAN),
    "dreiblatt": Variant(players=(3, 10), default_players=4, source="000", values=_TIPPEN, packs=_GERMAN),
    "tippen_exchange": Variant(
        players=(3, 10), default_players=4, source="000", values={**_TIPPEN, "exchange_max": 3}, packs=_GERMAN
    ),
}


def _mini(players: tuple[int, int], suits: str, ranks: str, *, default_players: int = 2, **values: object) -> Variant:
    """A game small enough to be solved. All ante, and who is left alone takes the pot: no decision decides itself."""
    plain: dict[str, object] = {
        "pack": Pack(suits=suits, ranks=tuple(ranks)),
        "hand_size": 1,
        "ante_payer": "all",
        "ante": 1,
        "second_chance": False,
        "recycle": "none",
        "last_player_wins": True,
    }
    return Variant(
        players=players, default_players=default_players, source="", values=plain | values, listed=False, mini=True
    )


MINI: dict[str, Variant] = {
    "mini_bestia": _mini((2, 3), "cd", "AKQ"),
    "mini_bestia_draw": _mini((2, 3), "cd", "AKQ", second_chance=True, last_player_wins=False),
    "mini_bestia_exchange": _mini((2, 2), "cd", "AKQ", hand_size=2, ante=2, exchange_max=1, exchange_when="declaring"),
    "mini_bestia_two": _mini((2, 3), "cd", "AKQJ", hand_size=2, ante=2),
    "mini_bestia_three": _mini((3, 3), "cd", "AKQJ", default_players=3),
    "mini_bestia_twelve": _mini((2, 2), "cd", "AKQJ76"),
}

PRESETS = (
    VARIANTS
    | MINI
    | {
        # rules given as data start from plain defaults
        "rams": Variant(players=(2, MAX_SEATS), default_players=5, source="", values={}, listed=False)
    }
)
