"""What the tests of training have in common: a small game to learn, and networks that have learned nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from agents.net import Layer, NetPolicy
from bestia_env import GameBatch, make_rules

SMALL: dict[str, Any] = {
    "variant": "mini_bestia", "players": 2, "envs": 128, "rollout": 16, "batch": 512, "eval_fields": ("random",),
    "eval_blocks": 200, "layers": (32,), "opponents": ("random=1",),
}  # fmt: skip


def some_net(
    variant: str = "bestia", players: int = 3, pad: int | None = None, kind: str = "logits", relative: bool = True
) -> NetPolicy:
    rules = make_rules(variant, players)
    batch = GameBatch(rules, 1, pad_players=pad)
    rng = np.random.default_rng(0)
    sizes = [batch.tensor_layout.size, 16, batch.layout.num_actions]
    layers = [
        Layer(rng.normal(size=(one, two)).astype(np.float32), rng.normal(size=two).astype(np.float32))
        for one, two in pairwise(sizes)
    ]
    return NetPolicy(layers, rules.full_text(), pad_players=pad, kind=kind, relative_suits=relative)
