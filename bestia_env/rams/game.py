"""The Rams group as a :class:`~bestia_env.family.Family`: what drivers know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.family import ActionLayout, TensorLayout
from bestia_env.rams import inject as setup
from bestia_env.rams import texts
from bestia_env.rams.loops import LOOPS
from bestia_env.rams.parameters import action_layout, parameters
from bestia_env.rams.rules import MAX_SEATS, RamsRules
from bestia_env.rams.state import STATE, VIEW
from bestia_env.rams.tensor import decode, tensor_layout
from bestia_env.rams.variants import VARIANTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.session import SessionConfig

__all__ = ["FAMILY", "RamsFamily"]


class RamsFamily:
    """See :class:`~bestia_env.family.Family` for what each member is."""

    name = "rams"
    state_dtype = STATE
    view_dtype = VIEW
    reward_dtype = np.dtype(np.int64)
    loops = LOOPS

    def layout(self, rules: RamsRules) -> ActionLayout:
        return action_layout(rules)

    def parameters(self, rules: RamsRules, session: SessionConfig) -> NDArray[Any]:
        return parameters(rules, session)

    def tensor(self, rules: RamsRules, pad_players: int | None = None) -> TensorLayout:
        preset = VARIANTS.get(rules.variant)
        return tensor_layout(rules, preset.players[1] if preset else MAX_SEATS, pad_players)

    def decode(self, tensor: NDArray[np.float32], layout: TensorLayout, rules: RamsRules) -> dict[str, Any]:
        return decode(tensor, layout, rules)

    def inject(self, rules: RamsRules, state: Any, deal: Mapping[str, Any], rng_key: int) -> None:
        setup.inject(rules, state, deal, rng_key)

    def deal_keys(self) -> frozenset[str]:
        return setup.DEAL_KEYS

    def public_keys(self) -> frozenset[str]:
        return texts.PUBLIC

    def view_text(self, rules: RamsRules, view: Any) -> str:
        return texts.view_text(rules, view)

    def view_dict(self, rules: RamsRules, view: Any) -> dict[str, Any]:
        return texts.view_dict(rules, view)

    def full_state(self, rules: RamsRules, state: Any) -> dict[str, Any]:
        return texts.full_state(rules, state)

    def settlement(self, rules: RamsRules, state: Any) -> dict[str, Any]:
        return texts.settlement(rules, state)

    def sides(self, rules: RamsRules) -> tuple[tuple[int, ...], ...]:
        return tuple((seat,) for seat in range(rules.num_players))


FAMILY = RamsFamily()
