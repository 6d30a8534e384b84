"""Agents of the laboratory by name; :func:`bestia_env.make_policy` looks here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.files import file_version, is_file_agent, load_agent
from agents.games import PLAYERS, GamePolicy
from agents.shipped import ShippedPolicy, shipped_names, shipped_version
from agents.thumb import STYLES, TIPS, ThumbPolicy
from bestia_env import BestiaError, RandomPolicy

if TYPE_CHECKING:
    from bestia_env import Policy
    from bestia_env.family import Rules

__all__ = ["agent_names", "agent_version", "make_agent", "thumb_names"]

RANDOM_VERSION = "v1"  # bestia_env.RandomPolicy: uniform over the legal actions


def agent_names(rules: Rules | None = None) -> tuple[str, ...]:
    """The names of all agents, or of those that play some rules."""
    names = ("random", *STYLES, "tips", *PLAYERS, *shipped_names())
    return names if rules is None else tuple(name for name in names if _plays(name, rules))


def thumb_names(rules: Rules | None = None) -> tuple[str, ...]:
    """The names of the rules of thumb, those that play one game only included, or of those that play some rules."""
    return tuple(name for name in agent_names(rules) if name not in ("random", *shipped_names()))


def make_agent(name: str) -> Policy:
    """An agent, not yet bound to rules: one of :func:`agent_names`, a ``.zip`` of SB3, or a folder with a card.

    Raises:
        BestiaError: no agent of that name, or a file that holds none.
    """
    if is_file_agent(name):
        return load_agent(name)
    if _known(name) == "random":
        return RandomPolicy()
    if name in shipped_names():
        return ShippedPolicy(name)
    if name in PLAYERS:
        return GamePolicy(name)
    return ThumbPolicy(name, TIPS if name == "tips" else STYLES[name])


def agent_version(name: str, rules: Rules | None = None) -> str:
    """The version of an agent: it is raised, by hand, whenever the agent decides differently.

    That of an agent in a file is what its card states and a hash of its files; a learner whose networks are shipped has
    a version for each of its games, and without ``rules`` one for all of them.

    Raises:
        BestiaError: no agent of that name.
    """
    if is_file_agent(name):
        return file_version(name)
    if name in shipped_names():
        return shipped_version(name, rules)
    return RANDOM_VERSION if _known(name) == "random" else ThumbPolicy.version


def _plays(name: str, rules: Rules) -> bool:
    """Whether an agent accepts rules."""
    try:
        make_agent(name).bind(rules)
    except BestiaError:
        return False
    return True


def _known(name: str) -> str:
    if name not in agent_names():
        raise BestiaError(
            f"agent {name!r}; allowed are {', '.join(agent_names())}, module:attribute, "
            "a .zip of SB3, or a folder with a card"
        )
    return name
