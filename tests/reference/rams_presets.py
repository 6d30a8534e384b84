"""The table of rules/rams.md section 3, copied a second time: every game as the values of its fields."""

from fractions import Fraction
from typing import Any

ITALIAN = ["A", "3", "K", "Q", "J", "7", "6", "5", "4", "2"]
FRENCH = ["A", "K", "Q", "J", "10", "9", "8", "7", "6", "5", "4", "3", "2"]
PACKS = {
    "italian40": ("cdhs", ITALIAN),
    "italian36": ("cdhs", ITALIAN[:-1]),
    "piquet32": ("cdhs", FRENCH[:8]),
    "french52": ("cdhs", FRENCH),
}
ONE = Fraction(1)

BESTIA: dict[str, Any] = {
    "players": (3, 10),
    "hand_size": 3,
    "ante_payer": "dealer",
    "ante": 3,
    "stay_stake": 0,
    "turn_up": "before_deal",
    "turn_up_owner": "nobody",
    "extra_hand": False,
    "bidding": "round",
    "max_circuits": None,
    "conditional_third": False,
    "late_join": False,
    "forced_deal": "never",
    "second_chance": True,
    "exchange_max": 0,
    "exchange_when": "after",
    "recycle": "folded_then_discards",
    "last_player_wins": False,
    "principal": "none",
    "principal_leads": False,
    "must_head": False,
    "ruff": "any_trump",
    "lead_top_trump": "none",
    "lead_top_trump_every_trick": False,
    "lead_trump_after_first": False,
    "quota": (1, 1),
    "principal_penalty": (ONE, ONE),
    "pot_award": "per_trick",
    "best_principal_half_ante": False,
    "penalty_cap": None,
    "stakes": "unlimited",
    "remainder": "carry",
    "rake_bp": 0,
}
STRICT = BESTIA | {
    "forced_deal": "after_no_bestia",
    "ruff": "highest_trump",
    "lead_top_trump": "ace",
    "lead_top_trump_every_trick": True,
    "lead_trump_after_first": True,
    "penalty_cap": 30,
}
BUCO = BESTIA | {
    "players": (4, 10),
    "ante_payer": "all",
    "extra_hand": True,
    "second_chance": False,
    "recycle": "none",
    "last_player_wins": True,
    "must_head": True,
    "ruff": "overtrump_else_any_card",
}
FIVE = BESTIA | {
    "players": (4, 6),
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
ROMAN = FIVE | {
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
    "principal_penalty": (Fraction(3, 2), ONE),
    "best_principal_half_ante": True,
}
ONLINE3 = BESTIA | {
    "players": (3, 6),
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
ONLINE4 = ONLINE3 | {
    "players": (3, 4),
    "hand_size": 4,
    "exchange_max": 4,
    "principal": "first_in",
    "quota": (2, 1),
}
JULEPE = BESTIA | {
    "players": (3, 6),
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
MAUSCHELN = BESTIA | {
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
    "principal_penalty": (Fraction(2), ONE),
}
TIPPEN = BESTIA | {
    "turn_up": "after_deal",
    "forced_deal": "bare_ante",
    "second_chance": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "bestia": BESTIA,
    "bestia_strict": STRICT,
    "bestia_buco": BUCO,
    "bestia_five": FIVE,
    "bestia_five_majority": FIVE | {"pot_award": "most_tricks"},
    "bestia_five_ace": FIVE | {"lead_top_trump": "ace"},
    "bestia_five_top": FIVE | {"lead_top_trump": "highest_remaining", "lead_top_trump_every_trick": True},
    "bestia_five_undertrump": FIVE | {"ruff": "overtrump_else_any_trump"},
    "bestia_roman": ROMAN,
    "online3": ONLINE3,
    "online4": ONLINE4,
    "julepe": JULEPE,
    "mauscheln": MAUSCHELN,
    "mousel": MAUSCHELN,
    "tippen": TIPPEN,
    "dreiblatt": TIPPEN,
    "tippen_exchange": TIPPEN | {"exchange_max": 3},
    "bestia_col_buco": BESTIA | {"extra_hand": True, "second_chance": False},
}


def preset_names() -> list[str]:
    """Every preset of section 3."""
    return list(PRESETS)


def player_range(name: str) -> tuple[int, int]:
    """Fewest and most players of a preset."""
    fewest, most = PRESETS[name]["players"]
    return fewest, most


def preset(name: str, num_players: int, **changes: object) -> dict[str, Any]:
    """The fields of a preset for so many players, with single fields changed."""
    rules = {field: value for field, value in PRESETS[name].items() if field != "players"}
    if name == "julepe":
        pack = "italian36" if num_players < 6 else "italian40"
    elif name in ("mauscheln", "mousel", "tippen", "dreiblatt", "tippen_exchange"):
        pack = "piquet32" if num_players <= 6 else "french52"
    else:
        pack = "italian40"
    return rules | {"num_players": num_players, "pack": PACKS[pack]} | changes
