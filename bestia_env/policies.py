"""Policies: what decides for a seat, from its View alone, and how one is named."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from bestia_env.errors import BestiaError, IllegalActionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.family import Rules

__all__ = ["MaskPolicy", "Policy", "PrivilegedPolicy", "RandomPolicy", "legal_masks", "make_policy"]


@runtime_checkable
class Policy(Protocol):
    """Decides for seats from their Views (design 8.4); stateless between calls, so batch order changes nothing."""

    def bind(self, rules: Rules) -> None:
        """Readies the policy for a game.

        Raises:
            BestiaError: it cannot play these rules.
        """

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """One legal action a View.

        Args:
            views: (B,) Views of seats that are to act.
            keys: (B,) random keys, one a decision: the only source of randomness.

        Returns:
            (B,) actions.

        Raises:
            IllegalActionError: a View that offers no action.
        """


@runtime_checkable
class MaskPolicy(Policy, Protocol):
    """A policy that looks at nothing but the action masks, so that nobody need fill Views for it."""

    def act_on_masks(self, masks: NDArray[np.uint8], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """(B,) what ``act`` answers to Views with these (B, A) masks.

        Raises:
            IllegalActionError: an all-zero mask.
        """


class PrivilegedPolicy(Protocol):
    """An oracle: decides from whole states. A runner hands it states only where it is told to."""

    def bind(self, rules: Rules) -> None:
        """Readies the policy for a game."""

    def act_on_states(self, states: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """One legal action a state, for its actor."""


def legal_masks(views: NDArray[Any], num_actions: int) -> NDArray[np.uint8]:
    """(B, num_actions) action masks of Views (a view on their memory).

    Raises:
        IllegalActionError: a View without a legal action.
    """
    masks = np.asarray(views["legal"])[:, :num_actions]
    empty = ~masks.any(axis=1)
    if empty.any():
        raise _nothing_to_do(int(np.flatnonzero(empty)[0]), len(views))
    return masks


def _nothing_to_do(place: int, count: int) -> IllegalActionError:
    return IllegalActionError(
        f"view {place} of {count} has an all-zero action mask; allowed are Views of the seat that is to act"
    )


class RandomPolicy:
    """Uniformly random among the legal actions."""

    def bind(self, rules: Rules) -> None:
        """Plays any rules."""
        from bestia_env.registry import family_of

        self._num_actions = family_of(rules).layout(rules).num_actions

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`Policy`."""
        return self.act_on_masks(np.asarray(views["legal"])[:, : self._num_actions], keys)

    def act_on_masks(self, masks: NDArray[np.uint8], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See :class:`MaskPolicy`."""
        from bestia_env._loops import choose_uniform

        actions = np.zeros(len(masks), np.int64)
        empty = choose_uniform(masks, np.ascontiguousarray(keys, np.uint64), actions)
        if empty >= 0:
            raise _nothing_to_do(int(empty), len(masks))
        return actions

    def action_probabilities(self, views: NDArray[Any]) -> NDArray[np.float64]:
        """(B, A) the probability of every action."""
        masks = legal_masks(views, self._num_actions).astype(np.float64)
        return cast("NDArray[np.float64]", masks / masks.sum(axis=1, keepdims=True))


def make_policy(spec: str | Policy, rules: Rules) -> Policy:
    """A policy by name, by ``module:attribute``, or as it is, bound to rules.

    A name is looked up in the laboratory's registry (:mod:`agents`) when that can be imported; ``random`` always works.

    Raises:
        BestiaError: nothing of that name, with what failed and how to get the laboratory.
    """
    policy = _by_text(spec) if isinstance(spec, str) else spec
    if not hasattr(policy, "bind") or not hasattr(policy, "act"):
        raise BestiaError(f"policy {spec!r} has no bind and act; allowed are objects of bestia_env.Policy")
    policy.bind(rules)
    return policy


def _by_text(spec: str) -> Policy:
    if ":" in spec:
        module, _, attribute = spec.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise BestiaError(f"policy {spec!r}: {error}; allowed is module:attribute that can be imported") from error
        return cast("Policy", found() if isinstance(found, type) else found)
    if spec == "random":
        return RandomPolicy()
    try:
        registry = import_module("agents")
    except ImportError as error:
        raise BestiaError(
            f"policy {spec!r}: the laboratory's agents cannot be imported ({error}); "
            "allowed without it are 'random', 'module:attribute' or an object. "
            "Get it with a checkout and pip install -e '.[lab]'"
        ) from error
    return cast("Policy", registry.make_agent(spec))
