"""The observation tensor: its layout as named slices, the compiled encoder, and the decoder that proves it complete."""

from __future__ import annotations

from math import expm1, log1p
from typing import Any, TypeAlias

import numpy as np

from bestia_env._bits import Array
from bestia_env._jit import jit_for
from bestia_env.bettelmann.rules import MAX_CAP, MAX_PENALTY, BettelmannRules
from bestia_env.bettelmann.state import Parameters, Phase, View
from bestia_env.cards import MAX_CARDS
from bestia_env.family import TensorLayout, record_dtype

__all__ = ["decode", "encode", "tensor_layout"]

jit = jit_for("bettelmann")

COUNT_SCALE = 1.0 / log1p(float(MAX_CAP))

MEANINGS = {
    "phase": "one-hot: lay, over",
    "actor": "one-hot by relative seat, zeros when the game is over",
    "owner": "one-hot by relative seat: who laid the pending penalty, zeros when there is none",
    "held": "cards in the stack / 52, by relative seat",
    "out": "1 for each seat that is out",
    "pile": "at each card that lies: its place in the pile / 52, the first laid is 1 / 52",
    "counters": f"cards due / {MAX_PENALTY}; cards laid, piles taken: log(1 + count) / log(1 + {MAX_CAP})",
}

Encoder: TypeAlias = Any  # one record of ENCODER
ENCODER = record_dtype([(name, "i8") for name in [*MEANINGS, "ranks", "length"]])


def tensor_layout(rules: BettelmannRules, pad_players: int | None = None) -> TensorLayout:
    """The layout for a game: sizes follow the table, or when padded the preset's largest table, up to ``pad_players``.

    Padded tensors lay cards on a grid of 4 suits by 13 ranks, top ranks aligned, so that packs of different size share
    their places.
    """
    n = rules.num_players
    seats = n if pad_players is None else max(n, min(pad_players, rules.table_sizes[1]))
    suits = len(rules.cards.suits) if pad_players is None else 4
    ranks = rules.cards.num_ranks if pad_players is None else 13
    shapes: dict[str, tuple[int, ...]] = {
        "phase": (len(Phase),),
        "actor": (seats,),
        "owner": (seats,),
        "held": (seats,),
        "out": (seats,),
        "pile": (suits * ranks,),
        "counters": (3,),
    }
    slices, length = {}, 0
    for name, (numbers,) in shapes.items():
        slices[name] = slice(length, length + numbers)
        length += numbers
    parameters = np.zeros(1, ENCODER)
    for name, part in slices.items():
        parameters[name] = part.start
    parameters["ranks"], parameters["length"] = ranks, length
    return TensorLayout(slices=slices, shapes=shapes, meanings=MEANINGS, parameters=parameters)


@jit
def encode(v: View, p: Parameters, e: Encoder, out: Array) -> None:
    """Writes one View as float32 numbers in [0, 1]."""
    for index in range(e.length):
        out[index] = 0.0
    out[e.phase + v.phase] = 1.0
    if v.actor >= 0:
        out[e.actor + v.actor] = 1.0
    if v.owner >= 0:
        out[e.owner + v.owner] = 1.0
    for seat in range(v.num_players):
        out[e.held + seat] = v.held[seat] / MAX_CARDS
        out[e.out + seat] = v.out[seat]
    for place in range(v.pile_length):
        suit, rank = divmod(np.int64(v.pile[place]), p.num_ranks)
        out[e.pile + suit * e.ranks + e.ranks - p.num_ranks + rank] = (place + 1) / MAX_CARDS
    out[e.counters] = v.due / MAX_PENALTY
    out[e.counters + 1] = np.log1p(float(v.cards)) * COUNT_SCALE
    out[e.counters + 2] = np.log1p(float(v.piles)) * COUNT_SCALE


def decode(tensor: Any, layout: TensorLayout, rules: BettelmannRules) -> dict[str, Any]:
    """A tensor in the View's terms: every field of the View but the action mask, all exact."""
    parts = {name: tensor[part] for name, part in layout.slices.items()}
    n, own, ranks = rules.num_players, rules.cards.num_ranks, int(layout.parameters["ranks"][0])
    order = parts["pile"]
    places = np.flatnonzero(order)
    places = places[np.argsort(order[places])]
    pile = places // ranks * own + places % ranks - (ranks - own)
    due, cards, piles = parts["counters"].tolist()

    def seat(part: Any) -> int:
        return int(np.argmax(part)) if part.any() else -1

    return {
        "num_players": n,
        "phase": int(np.argmax(parts["phase"])),
        "actor": seat(parts["actor"]),
        "owner": seat(parts["owner"]),
        "due": round(due * MAX_PENALTY),
        "cards": round(expm1(cards / COUNT_SCALE)),
        "piles": round(expm1(piles / COUNT_SCALE)),
        "pile_length": len(pile),
        "held": np.rint(parts["held"][:n] * MAX_CARDS).astype(int).tolist(),
        "out": np.rint(parts["out"][:n]).astype(int).tolist(),
        "pile": pile.tolist() + [-1] * (MAX_CARDS - len(pile)),
    }
