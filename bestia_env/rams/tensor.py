"""The observation tensor: its layout as named slices, the compiled encoder, and the decoder that proves it complete."""

from __future__ import annotations

from math import expm1, log1p
from typing import Any, TypeAlias

import numpy as np

from bestia_env._bits import EMPTY, ONE, Array, Int, Mask, lowest
from bestia_env._jit import jit_for
from bestia_env.family import TensorLayout, record_dtype
from bestia_env.rams.codes import SAY_EXCHANGE, SAY_PASS, SAY_THIRD
from bestia_env.rams.rules import MAX_HAND, MAX_LOG, RamsRules
from bestia_env.rams.state import Parameters, Phase, Status, View
from bestia_env.rams.variants import MAX_SEATS
from bestia_env.session import MAX_CHIPS

jit = jit_for("rams")

CHIP_SCALE = 1.0 / log1p(float(MAX_CHIPS))
SCALED_ONE = log1p(1.0) * CHIP_SCALE
SAYINGS = SAY_EXCHANGE + MAX_HAND + 2  # codes of a log entry: 0 none, then the verbs, exchanges by their count
TURNS = 128
SHUFFLE_HALF = 8  # a count of reshuffles r is r / (r + 8)
PHASES = len(Phase)
STATUSES = len(Status)
CHIPS = ("carry", "ante", "pot_before", "pot", "risk", "cap")

_SLICES = (
    "hand first_hand laid turn_up marks phase dealer actor principal leader status held lying antes tricks exchanged "
    "log plays chips credits counters"
).split()

Encoder: TypeAlias = Any  # one record of ENCODER
ENCODER = record_dtype([(name, "i8") for name in [*_SLICES, "seats", "ranks", "suits", "length", "log_entries"]])


def tensor_layout(rules: RamsRules, pad_players: int | None = None) -> TensorLayout:
    """The layout for a game: sizes follow the table, or when padded the preset's largest table, up to ``pad_players``.

    Padded tensors lay cards on a grid of 4 suits by 13 ranks, top ranks aligned, so that packs of different size share
    their places.
    """
    seats = rules.num_players if pad_players is None else max(rules.num_players, min(pad_players, rules.table_sizes[1]))
    suits = len(rules.cards.suits) if pad_players is None else 4
    ranks = rules.cards.num_ranks if pad_players is None else 13
    cards = suits * ranks
    entries = min(MAX_LOG, -(-rules.max_log * seats // rules.num_players))
    shapes: dict[str, tuple[int, ...]] = {
        "hand": (cards,),
        "first_hand": (cards,),
        "laid": (cards,),
        "turn_up": (suits,),
        "marks": (4,),
        "phase": (PHASES,),
        "dealer": (seats,),
        "actor": (seats,),
        "principal": (seats,),
        "leader": (seats,),
        "status": (seats, STATUSES),
        "held": (seats,),
        "lying": (seats,),
        "antes": (seats,),
        "tricks": (seats,),
        "exchanged": (seats,),
        "log": (entries, 2),
        "plays": (rules.hand_size, seats, suits),
        "chips": (len(CHIPS),),
        "credits": (seats if rules.stakes == "table" else 0,),
        "counters": (7,),
    }
    slices, start = {}, 0
    for name, shape in shapes.items():
        slices[name] = slice(start, start + int(np.prod(shape)))
        start = slices[name].stop
    parameters = np.zeros(1, ENCODER)
    for name, part in slices.items():
        parameters[name] = part.start
    parameters["seats"], parameters["ranks"], parameters["suits"] = seats, ranks, suits
    parameters["length"], parameters["log_entries"] = start, entries
    return TensorLayout(slices=slices, shapes=shapes, meanings=MEANINGS, parameters=parameters)


MEANINGS = {
    "hand": "1 for each card in hand",
    "first_hand": "cards held in this deal: 1 dealt first, 0.5 come later",
    "laid": "cards laid off: 1 still among the discards, 0.5 shuffled back into the stock",
    "turn_up": "at its suit: (rank + 1) / ranks",
    "marks": "forced deal; turn-up taken; buco on the table; penalties capped",
    "phase": "one-hot: declare, second chance, exchange, play, settle, over",
    "dealer": "one-hot by relative seat",
    "actor": "one-hot by relative seat, zeros when nobody acts",
    "principal": "one-hot by relative seat, zeros when there is none",
    "leader": "one-hot by relative seat: who leads the current trick",
    "status": "one-hot a seat: unspoken, passed, in, third, out, not entitled",
    "held": "cards in hand / 6",
    "lying": "cards laid off that still lie in the discards / 52",
    "antes": "what the seat anted / the ante of this deal",
    "tricks": "tricks taken / 6",
    "exchanged": "cards laid off in the latest exchange / 6",
    "log": "an entry a row: (code / 13, (seat + 1) / 10); 1 pass, 2 knock, 3 draw, 4 buco, 5 third, 6 + exchanged",
    "plays": "by trick and seat, at the card's suit: (rank + 1) / ranks",
    "chips": "carry, ante, carry + antes, pot, risk, cap: log(1 + chips / ante) / log(1 + 2^53)",
    "credits": "credit a seat, scaled as chips; only with table stakes",
    "counters": "stock / 52, discards / 52, reshuffles as r / (r + 8), turns / 128, circuit / 64, trick / 6, log / 64",
}


@jit
def _place(card: Int, p: Parameters, e: Encoder) -> Int:
    """Where a card stands on the tensor's grid of suits and ranks."""
    suit = p.suit_of[card]
    return suit * e.ranks + e.ranks - p.num_ranks + card - suit * p.num_ranks


@jit
def _write_cards(cards: Mask, p: Parameters, e: Encoder, start: Int, value: float, out: Array) -> None:
    while cards != EMPTY:
        out[start + _place(lowest(cards), p, e)] = value
        cards &= cards - ONE


@jit
def _write_rank(card: Int, p: Parameters, e: Encoder, start: Int, out: Array) -> None:
    suit = p.suit_of[card]
    out[start + suit] = (_place(card, p, e) - suit * e.ranks + 1) / e.ranks


@jit
def _write_seat(seat: Int, start: Int, out: Array) -> None:
    if seat >= 0:
        out[start + seat] = 1.0


@jit
def _scaled(chips: Int, unit: Int) -> float:
    return np.log1p(chips / unit) * CHIP_SCALE


@jit
def encode(v: View, p: Parameters, e: Encoder, out: Array) -> None:
    """Writes one View as float32 numbers in [0, 1]."""
    for index in range(e.length):
        out[index] = 0.0
    _write_cards(v.hand, p, e, e.hand, 1.0, out)
    _write_cards(v.owned, p, e, e.first_hand, 0.5, out)
    _write_cards(v.first_hand, p, e, e.first_hand, 1.0, out)
    _write_cards(v.laid, p, e, e.laid, 0.5, out)
    _write_cards(v.buried, p, e, e.laid, 1.0, out)
    _write_rank(v.turn_up, p, e, e.turn_up, out)
    out[e.marks] = v.forced
    out[e.marks + 1] = v.turn_up_taken
    out[e.marks + 2] = v.extra_hand
    out[e.marks + 3] = v.cap >= 0
    out[e.phase + v.phase] = 1.0
    _write_seat(v.dealer, e.dealer, out)
    _write_seat(v.actor, e.actor, out)
    _write_seat(v.principal, e.principal, out)
    _write_seat(v.leader, e.leader, out)
    _encode_seats(v, p, e, out)
    _encode_log(v, e, out)
    _encode_numbers(v, p, e, out)


@jit
def _encode_seats(v: View, p: Parameters, e: Encoder, out: Array) -> None:
    for seat in range(v.num_players):
        out[e.status + seat * STATUSES + v.status[seat]] = 1.0
        out[e.held + seat] = v.held[seat] / MAX_HAND
        out[e.lying + seat] = v.lying[seat] / 52
        out[e.antes + seat] = v.antes[seat] / max(v.ante, 1)
        out[e.tricks + seat] = v.tricks[seat] / MAX_HAND
        for trick in range(p.hand_size):
            card = v.plays[trick, seat]
            if card >= 0:
                _write_rank(card, p, e, e.plays + (trick * e.seats + seat) * e.suits, out)


@jit
def _encode_log(v: View, e: Encoder, out: Array) -> None:
    for entry in range(v.log_length):
        code = v.log_verb[entry] + 1 + v.log_count[entry]
        out[e.log + 2 * entry] = code / SAYINGS
        out[e.log + 2 * entry + 1] = (v.log_seat[entry] + 1) / MAX_SEATS
        if v.log_verb[entry] == SAY_EXCHANGE:
            out[e.exchanged + v.log_seat[entry]] = v.log_count[entry] / MAX_HAND


@jit
def _encode_numbers(v: View, p: Parameters, e: Encoder, out: Array) -> None:
    # Logarithms are the dearest numbers here, and most amounts are equal.
    unit = max(p.ante, 1)
    ante = _scaled(v.ante, unit) if v.ante != unit else SCALED_ONE
    before = _scaled(v.pot_before, unit) if v.pot_before != v.ante else ante
    pot = _scaled(v.pot, unit) if v.pot != v.pot_before else before
    out[e.chips] = _scaled(v.carry, unit) if v.carry != 0 else 0.0
    out[e.chips + 1] = ante
    out[e.chips + 2] = before
    out[e.chips + 3] = pot
    out[e.chips + 4] = _scaled(v.risk, unit) if v.risk != v.pot else pot
    out[e.chips + 5] = _scaled(v.cap, unit) if v.cap > 0 else 0.0
    if e.counters > e.credits:
        for seat in range(v.num_players):
            out[e.credits + seat] = _scaled(max(v.credits[seat], 0), unit)
    out[e.counters] = v.stock_left / 52
    out[e.counters + 1] = v.discards / 52
    out[e.counters + 2] = v.reshuffles / (v.reshuffles + SHUFFLE_HALF)
    out[e.counters + 3] = v.turns_left / TURNS
    out[e.counters + 4] = v.circuit / MAX_LOG
    out[e.counters + 5] = v.trick / MAX_HAND
    out[e.counters + 6] = v.log_length / MAX_LOG


# --- decoding -------------------------------------------------------------------------------------------------------


def _seat(part: Any) -> int:
    return int(np.argmax(part)) if part.any() else -1


def decode(tensor: Any, layout: TensorLayout, rules: RamsRules) -> dict[str, Any]:
    """A tensor in the View's terms: every field of the View but the action mask and what it may exchange.

    Chips come back to a relative 1e-5, everything else exactly.
    """
    parts = {name: tensor[part].reshape(layout.shapes[name]) for name, part in layout.slices.items()}
    n, ranks = rules.num_players, int(layout.parameters["ranks"][0])
    own = rules.cards.num_ranks

    def cards(part: Any, least: float) -> int:
        places = np.flatnonzero(part > least)
        return sum(1 << int(place // ranks * own + place % ranks - (ranks - own)) for place in places)

    def card(part: Any) -> int:
        suit = int(np.argmax(part))
        return suit * own + round(float(part[suit]) * ranks) - 1 - (ranks - own) if part.any() else -1

    def chips(value: float) -> float:
        return expm1(float(value) / CHIP_SCALE) * max(rules.ante, 1)

    stock, discards, shuffles, turns, circuit, trick, said = parts["counters"].tolist()
    length = round(said * MAX_LOG)
    codes = np.rint(parts["log"][:length, 0] * SAYINGS).astype(int) - 1
    verbs, seats = np.minimum(codes, SAY_EXCHANGE), np.rint(parts["log"][:length, 1] * MAX_SEATS).astype(int) - 1
    stays = (SAY_PASS, SAY_THIRD) if rules.exchanges_while_declaring else (SAY_PASS, SAY_THIRD, SAY_EXCHANGE)
    went_in = [seat for verb, seat in zip(verbs, seats, strict=True) if verb not in stays]
    marks = np.rint(parts["marks"]).astype(int)
    money = dict(zip(CHIPS, (chips(value) for value in parts["chips"]), strict=True))
    return {
        "num_players": int((parts["status"].sum(axis=1) > 0).sum()),
        "phase": int(np.argmax(parts["phase"])),
        **{name: _seat(parts[name]) for name in ("actor", "dealer", "principal", "leader")},
        "first_in": int(went_in[0]) if went_in else -1,
        "forced": int(marks[0]),
        "turn_up": card(parts["turn_up"]),
        "turn_up_taken": int(marks[1]),
        "extra_hand": int(marks[2]),
        "stock_left": round(stock * 52),
        "discards": round(discards * 52),
        "reshuffles": round(SHUFFLE_HALF * shuffles / (1 - shuffles)),
        "turns_left": round(turns * TURNS),
        "circuit": round(circuit * MAX_LOG),
        "trick": round(trick * MAX_HAND),
        "log_length": length,
        "hand": cards(parts["hand"], 0.5),
        "first_hand": cards(parts["first_hand"], 0.75),
        "owned": cards(parts["first_hand"], 0.25),
        "laid": cards(parts["laid"], 0.25),
        "buried": cards(parts["laid"], 0.75),
        **money,
        "cap": money["cap"] if marks[3] else -1,
        "credits": [chips(value) for value in parts["credits"][:n]] or [0] * n,
        "antes": (parts["antes"][:n] * max(money["ante"], 1)).tolist(),
        "status": np.argmax(parts["status"][:n], axis=1).tolist(),
        "tricks": np.rint(parts["tricks"][:n] * MAX_HAND).astype(int).tolist(),
        "held": np.rint(parts["held"][:n] * MAX_HAND).astype(int).tolist(),
        "lying": np.rint(parts["lying"][:n] * 52).astype(int).tolist(),
        "log_verb": verbs.tolist(),
        "log_count": (codes - verbs).tolist(),
        "log_seat": seats.tolist(),
        "plays": [[card(parts["plays"][t, seat]) for seat in range(n)] for t in range(rules.hand_size)],
    }
