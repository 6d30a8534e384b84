"""The Rams group once more, slowly: what the cross-check and the tests use of it."""

from .rams_cards import legal_cards
from .rams_deal import ReferenceDeal
from .rams_money import Settlement, antes_of_deal, divisor, equity_score, next_forced, risk_of_deal, settle
from .rams_presets import player_range, preset, preset_names
from .rams_session import ReferenceSession
from .rams_table import DealSetup

__all__ = [
    "DealSetup",
    "ReferenceDeal",
    "ReferenceSession",
    "Settlement",
    "antes_of_deal",
    "divisor",
    "equity_score",
    "legal_cards",
    "next_forced",
    "player_range",
    "preset",
    "preset_names",
    "risk_of_deal",
    "settle",
]
