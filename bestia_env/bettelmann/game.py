"""Bettelmann as a :class:`~bestia_env.family.Family`: what drivers know of it."""

from __future__ import annotations

import numpy as np

from bestia_env.bettelmann import texts
from bestia_env.bettelmann.inject import DEAL_KEYS, inject
from bestia_env.bettelmann.loops import LOOPS
from bestia_env.bettelmann.parameters import action_layout, parameters
from bestia_env.bettelmann.state import STATE, VIEW, Phase
from bestia_env.bettelmann.tensor import decode, tensor_layout
from bestia_env.family import Family

__all__ = ["FAMILY", "BettelmannFamily"]


class BettelmannFamily(Family):
    """See :class:`~bestia_env.family.Family` for what each member is."""

    name = "bettelmann"
    phases = tuple(phase.name.lower() for phase in Phase)
    state_dtype = STATE
    view_dtype = VIEW
    reward_dtype = np.dtype(np.float64)
    loops = LOOPS

    layout = staticmethod(action_layout)
    parameters = staticmethod(parameters)
    tensor = staticmethod(tensor_layout)
    decode = staticmethod(decode)
    inject = staticmethod(inject)
    view_text = staticmethod(texts.view_text)
    view_dict = staticmethod(texts.view_dict)
    full_state = staticmethod(texts.full_state)
    settlement = staticmethod(texts.settlement)

    def deal_keys(self) -> frozenset[str]:
        return DEAL_KEYS

    def public_keys(self) -> frozenset[str]:
        return texts.PUBLIC


FAMILY = BettelmannFamily()
