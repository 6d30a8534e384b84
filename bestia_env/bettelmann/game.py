"""Bettelmann as a :class:`~bestia_env.family.Family`: what drivers know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.bettelmann import inject as setup
from bestia_env.bettelmann import texts
from bestia_env.bettelmann.loops import LOOPS
from bestia_env.bettelmann.parameters import LAYOUT, parameters
from bestia_env.bettelmann.rules import MAX_PLAYERS, BettelmannRules
from bestia_env.bettelmann.state import STATE, VIEW
from bestia_env.bettelmann.tensor import decode, tensor_layout
from bestia_env.bettelmann.variants import VARIANTS
from bestia_env.family import ActionLayout, TensorLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.session import SessionConfig

__all__ = ["FAMILY", "BettelmannFamily"]


class BettelmannFamily:
    """See :class:`~bestia_env.family.Family` for what each member is."""

    name = "bettelmann"
    state_dtype = STATE
    view_dtype = VIEW
    reward_dtype = np.dtype(np.float64)
    loops = LOOPS

    def layout(self, rules: BettelmannRules) -> ActionLayout:
        return LAYOUT

    def parameters(self, rules: BettelmannRules, session: SessionConfig) -> NDArray[Any]:
        return parameters(rules, session)

    def tensor(self, rules: BettelmannRules, pad_players: int | None = None) -> TensorLayout:
        preset = VARIANTS.get(rules.variant)
        return tensor_layout(rules, preset.players[1] if preset else MAX_PLAYERS, pad_players)

    def decode(self, tensor: NDArray[np.float32], layout: TensorLayout, rules: BettelmannRules) -> dict[str, Any]:
        return decode(tensor, layout, rules)

    def inject(self, rules: BettelmannRules, state: Any, deal: Mapping[str, Any], rng_key: int) -> None:
        setup.inject(rules, state, deal, rng_key)

    def deal_keys(self) -> frozenset[str]:
        return setup.DEAL_KEYS

    def public_keys(self) -> frozenset[str]:
        return texts.PUBLIC

    def view_text(self, rules: BettelmannRules, view: Any) -> str:
        return texts.view_text(rules, view)

    def view_dict(self, rules: BettelmannRules, view: Any) -> dict[str, Any]:
        return texts.view_dict(rules, view)

    def full_state(self, rules: BettelmannRules, state: Any) -> dict[str, Any]:
        return texts.full_state(rules, state)

    def settlement(self, rules: BettelmannRules, state: Any) -> dict[str, Any]:
        return texts.settlement(rules, state)

    def sides(self, rules: BettelmannRules) -> tuple[tuple[int, ...], ...]:
        return tuple((seat,) for seat in range(rules.num_players))


FAMILY = BettelmannFamily()
