"""The tensor: it decodes to the View, stays in [0, 1] whatever the pot, and has one padded size for all tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestia_env._rows import take_rows
from bestia_env.batch import GameBatch
from bestia_env.cards import cards_of
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import VIEW, Phase
from tests.rams_play import (
    ALL,
    DRAWN,
    ONE_EACH,
    SOME,
    changed_rules,
    encoded,
    label,
    pool,
    sessions,
    varied_actions,
    views_of_everybody,
    with_states,
)


def assert_tells(told: dict[str, Any], view: Any, rules: RamsRules) -> None:
    """A decoded tensor says what the View says."""
    assert set(told) == set(VIEW.names or ()) - {"legal", "exchange_cards"}
    n, length = rules.num_players, int(view["log_length"])
    for name, value in told.items():
        seen = view[name].tolist()
        if name in ("carry", "ante", "pot_before", "pot", "risk", "cap"):
            assert value == pytest.approx(seen, rel=1e-5), name
        elif name in ("antes", "credits"):
            assert value == pytest.approx([max(chips, 0) for chips in seen[:n]], rel=1e-5), name
        elif name.startswith("log_") and name != "log_length":
            assert value == seen[:length], name
        elif name == "plays":
            assert value == [trick[:n] for trick in seen[: rules.hand_size]]
        else:
            assert value == (seen[:n] if isinstance(seen, list) else seen), name


@pytest.mark.parametrize("rules", ALL, ids=label)
def test_the_tensor_decodes_to_the_view(rules: RamsRules) -> None:
    batch = pool(rules)
    views = views_of_everybody(batch)[::3]
    for pad in (None, 10):
        tensors, layout = encoded(batch, views, pad), batch.family.tensor(rules, pad)
        assert layout.size <= 600
        assert set(layout.meanings) == set(layout.slices) == set(layout.shapes)
        assert np.isfinite(tensors).all()
        assert tensors.min() >= 0
        assert tensors.max() <= 1
        for tensor, view in zip(tensors, views, strict=True):
            assert_tells(batch.family.decode(tensor, layout, rules), view, rules)


@pytest.mark.parametrize("variant", sorted({rules.variant for rules in ALL}))
def test_one_padded_size_for_all_tables(variant: str) -> None:
    games = [rules for rules in ALL if rules.variant == variant]
    padded = [pool(rules).family.tensor(rules, 10) for rules in games]
    assert len({tuple((part.start, part.stop) for part in layout.slices.values()) for layout in padded}) == 1
    stops = [0, *(part.stop for part in padded[0].slices.values())]
    assert [part.start for part in padded[0].slices.values()] == stops[:-1]
    assert padded[0].size == stops[-1] >= max(pool(rules).tensor_layout.size for rules in games[-1:])


@pytest.mark.parametrize("rules", SOME, ids=label)
def test_pots_after_twenty_bestie_stay_inside_the_space(rules: RamsRules) -> None:
    most = 2**53 // (rules.num_players + 1) - 2 * rules.num_players * (rules.ante + rules.stay_stake)
    batch = GameBatch(rules, 8, seed=1, autoreset=False)
    batch.reset(deals=[{"carry": most - row * (most // 9)} for row in range(8)])
    rng = np.random.default_rng(1)
    while True:
        tensors, layout = encoded(batch, views_of_everybody(batch), 10), batch.family.tensor(rules, 10)
        assert np.isfinite(tensors).all()
        assert tensors.min() >= 0
        assert tensors.max() <= 1
        legal = batch.legal()
        if not legal.any():
            break
        batch.step(varied_actions(legal, batch.layout, rng))
    view = views_of_everybody(batch)[0]
    assert_tells(batch.family.decode(tensors[0], layout, rules), view, rules)
    assert batch.states["carry_after"].max() > 10**14 or batch.states["shares"].max() > 10**14


def seen_changes(state: Any, viewer: int, n: int) -> dict[str, Any]:
    """Changes of a state that ``viewer`` can see, as (field, index or None, new value)."""
    other = (viewer + 1) % n
    free = [card for card in range(8) if not any(card in cards_of(hand) for hand in state["hand"])]
    played = max(range(n), key=lambda seat: int(state["plays"][0][seat]))
    return {
        "own hand": ("hand", viewer, int(state["hand"][viewer]) ^ 3),
        "own first hand": ("first_hand", viewer, int(state["first_hand"][viewer]) ^ 3),
        "cards laid off": ("laid", viewer, int(state["laid"][viewer]) ^ 3),
        "another hand's size": ("hand", other, int(state["hand"][other]) ^ 1),
        "turn-up": ("turn_up", None, (int(state["turn_up"]) + 1) % 30),
        "turn-up taken": ("turn_up_taken", None, 1 - int(state["turn_up_taken"])),
        "a card played": ("plays", (0, played), next(card for card in free if card != state["plays"][0][played])),
        "status": ("status", other, (int(state["status"][other]) + 1) % 5),
        "tricks": ("tricks", other, int(state["tricks"][other]) + 1),
        "dealer": ("dealer", None, (int(state["dealer"]) + 1) % n),
        "leader": ("leader", None, (int(state["leader"]) + 1) % n),
        "actor": ("actor", None, (int(state["actor"]) + 1) % n),
        "principal": ("principal", None, (int(state["principal"]) + 1) % n),
        "forced": ("forced", None, 1 - int(state["forced"])),
        "buco": ("extra_hand", None, 0 if state["extra_hand"] else 7),
        "pot": ("pot", None, int(state["pot"]) + 1),
        "carry": ("carry", None, int(state["carry"]) + 1),
        "ante": ("ante", None, int(state["ante"]) + 1),
        "risk": ("risk", None, int(state["risk"]) + 1),
        "an ante paid": ("antes", other, int(state["antes"][other]) + 1),
        "stock": ("stock_next", None, int(state["stock_next"]) + 1),
        "discards": ("discards", None, int(state["discards"]) ^ 1),
        "reshuffles": ("reshuffles", None, int(state["reshuffles"]) + 1),
        "circuit": ("circuit", None, int(state["circuit"]) + 1),
        "turns left": ("turns_left", None, int(state["turns_left"]) + 1),
        "trick": ("trick", None, 1 + int(state["trick"])),
    }


@pytest.mark.parametrize("rules", ONE_EACH, ids=label)
def test_a_change_that_the_seat_sees_changes_its_tensor(rules: RamsRules) -> None:
    batch = pool(rules)
    row = int(np.flatnonzero((batch.states["phase"] == Phase.PLAY) & (batch.states["played"] > 0))[0])
    twin, viewer = with_states(batch, take_rows(batch.states, np.array([row]))), int(batch.actor[row])
    kept = twin.states.copy()
    before = encoded(twin, twin.view(viewer)).tobytes()
    changes = seen_changes(kept[0], viewer, rules.num_players)
    if rules.stakes == "table":
        changes["credit"] = ("credits", 0, int(kept["credits"][0, 0]) + 1)
    for what, (name, index, value) in changes.items():
        twin.states[:] = kept
        if index is None:
            twin.states[name] = value
        else:
            twin.states[name][0][index] = value
        assert encoded(twin, twin.view(viewer)).tobytes() != before, what
    capped = GameBatch(rules.variant, 1, num_players=rules.num_players, seed=0, penalty_cap=600, session=batch.session)
    capped.states[:] = kept
    assert encoded(capped, capped.view(viewer)).tobytes() != before


@settings(DRAWN, max_examples=30)
@given(st.data(), changed_rules(), st.integers(0, 2**32))
def test_the_tensor_decodes_to_the_view_under_any_rules(data: st.DataObject, rules: RamsRules, seed: int) -> None:
    batch = GameBatch(rules, 3, seed=seed, session=data.draw(sessions(rules)))
    rng, pad = np.random.default_rng(seed), data.draw(st.sampled_from([None, 10]))
    layout = batch.family.tensor(rules, pad)
    for _ in range(8):
        for _ in range(4):
            batch.step(varied_actions(batch.legal(), batch.layout, rng))
        views = batch.view(int(rng.integers(rules.num_players)))
        for tensor, view in zip(encoded(batch, views, pad), views, strict=True):
            assert tensor.min() >= 0
            assert tensor.max() <= 1
            assert_tells(batch.family.decode(tensor, layout, rules), view, rules)
