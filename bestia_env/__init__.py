"""Reinforcement-learning environments for the Rams group of card games (Bestia and its cousins) and their neighbours.

``aec_env`` makes a PettingZoo environment, ``GameBatch`` plays many games at once; ``make_rules`` and ``variants`` say
which games there are. Importing this package registers the ids of the Gymnasium environments, and loads neither the
compiler nor PettingZoo: each name is imported when it is first used (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bestia_env._version import __version__
from bestia_env.register import register_singles

if TYPE_CHECKING:
    from bestia_env.aec import BestiaAEC, aec_env
    from bestia_env.batch import GameBatch
    from bestia_env.cards import Pack
    from bestia_env.errors import BestiaError, IllegalActionError, RecordError, RulesError
    from bestia_env.family import ActionLayout, TensorLayout
    from bestia_env.opponents import OpponentPool
    from bestia_env.policies import Policy, PrivilegedPolicy, RandomPolicy, make_policy
    from bestia_env.records import DealRecord, load_record, loads_record, record_game
    from bestia_env.register import register_envs
    from bestia_env.registry import (
        default_players,
        family_of,
        make_rules,
        mini_variants,
        parse_rules,
        player_range,
        variants,
    )
    from bestia_env.session import SessionConfig
    from bestia_env.single import BestiaEnv
    from bestia_env.vector import BestiaVectorEnv

_WHERE = {
    "BestiaAEC": "aec",
    "BestiaEnv": "single",
    "BestiaVectorEnv": "vector",
    "aec_env": "aec",
    "GameBatch": "batch",
    "Pack": "cards",
    "BestiaError": "errors",
    "IllegalActionError": "errors",
    "RecordError": "errors",
    "RulesError": "errors",
    "ActionLayout": "family",
    "TensorLayout": "family",
    "OpponentPool": "opponents",
    "Policy": "policies",
    "PrivilegedPolicy": "policies",
    "RandomPolicy": "policies",
    "make_policy": "policies",
    "DealRecord": "records",
    "load_record": "records",
    "loads_record": "records",
    "record_game": "records",
    "default_players": "registry",
    "family_of": "registry",
    "make_rules": "registry",
    "mini_variants": "registry",
    "parse_rules": "registry",
    "player_range": "registry",
    "register_envs": "register",
    "variants": "registry",
    "SessionConfig": "session",
}

__all__ = [
    "ActionLayout",
    "BestiaAEC",
    "BestiaEnv",
    "BestiaError",
    "BestiaVectorEnv",
    "DealRecord",
    "GameBatch",
    "IllegalActionError",
    "OpponentPool",
    "Pack",
    "Policy",
    "PrivilegedPolicy",
    "RandomPolicy",
    "RecordError",
    "RulesError",
    "SessionConfig",
    "TensorLayout",
    "__version__",
    "aec_env",
    "default_players",
    "family_of",
    "load_record",
    "loads_record",
    "make_policy",
    "make_rules",
    "mini_variants",
    "parse_rules",
    "player_range",
    "record_game",
    "register_envs",
    "variants",
]

register_singles()


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'bestia_env' has no attribute {name!r}")
    value = getattr(import_module(f"bestia_env.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
