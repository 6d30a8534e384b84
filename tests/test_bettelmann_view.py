"""What a seat of Bettelmann knows: View, redeal, tensor, texts."""

import pickle
from collections import Counter

import numpy as np
import pytest

from bestia_env.bettelmann.game import FAMILY
from bestia_env.bettelmann.state import STATE, VIEW
from bestia_env.cards import Pack
from bestia_env.registry import make_rules as make
from tests.bettelmann_table import LOOPS, Table
from tests.reference.bettelmann import ReferenceGame


@pytest.fixture(params=[("bettelmann", 2), ("bettelmann", 3), ("bettelmann", 4), ("camicia", 3)])
def midway(request: pytest.FixtureRequest) -> Table:
    """64 games after 200 steps, some of them over."""
    table = Table(make(*request.param), games=64, seed=9)
    for _ in range(200):
        table.lay()
    assert 0 < table.states["over"].sum() < 64
    return table


def test_every_seat_sees_the_same_table(midway: Table) -> None:
    n = midway.rules.num_players
    for seat in range(n):
        views = midway.views(np.full(64, seat))
        order = [(seat + step) % n for step in range(n)]
        assert np.array_equal(views["held"][:, :n], midway.states["held"][:, order])
        assert np.array_equal(views["out"][:, :n], midway.states["out"][:, order])
        for name in ("actor", "owner"):
            absolute = midway.states[name]
            assert np.array_equal(views[name], np.where(absolute < 0, -1, (absolute - seat) % n))
        assert np.array_equal(views["legal"][:, 0], midway.states["actor"] == seat)
        for name in ("due", "cards", "piles", "pile_length", "phase"):
            assert np.array_equal(views[name], midway.states[name])
        for view, state in zip(views, midway.states, strict=True):
            length = int(state["pile_length"])
            assert view["pile"].tolist() == state["pile"][:length].tolist() + [-1] * (52 - length)


def test_redeal_keeps_the_view_and_deals_the_rest(midway: Table) -> None:
    n = midway.rules.num_players
    seats = np.arange(64) % n
    views = midway.views(seats)
    copies = np.zeros(3 * 64, STATE)
    LOOPS.redeal(views, midway.parameters, np.arange(3 * 64, dtype=np.uint64), copies)
    again = np.zeros(3 * 64, VIEW)
    LOOPS.observe(copies, midway.parameters, np.arange(3 * 64), np.zeros(3 * 64, np.int64), again)
    assert again.tobytes() == np.repeat(views, 3).tobytes()
    tables = []
    for state in copies:
        table = Table(midway.rules)
        table.states[0] = state
        tables.append(table)
    for table in tables:
        cards = [card for stack in table.stacks() for card in stack] + table.state["pile"][
            : table.state["pile_length"]
        ].tolist()
        assert sorted(cards) == list(range(midway.rules.cards.num_cards))
    assert all(tables[i].stacks() != tables[i + 1].stacks() for i in range(0, 3 * 64, 3))
    assert all(table.play().over for table in tables[::6])


def test_redeal_is_uniform() -> None:
    table = Table(make("bettelmann"), ["Ah 2h", "Kh 3h"])
    table.lay()
    copies = np.zeros(52_000, STATE)
    LOOPS.redeal(table.views(), table.parameters, np.arange(len(copies), dtype=np.uint64), copies)
    for seat, place in ((0, 0), (0, 1), (1, 0)):
        counts = np.bincount(copies["stack"][:, seat, place], minlength=52)
        assert counts[table.rules.cards.card("Ah")] == 0
        expected = len(copies) / 51
        assert (((counts - expected) ** 2).sum() - expected**2) / expected < 100  # chi-squared, 50 degrees of freedom


def test_loops_are_noticed_in_redealt_games() -> None:
    pack = Pack(suits="cd", ranks=("J", "3", "2"))
    rules = make("bettelmann", pack=pack, penalties={"J": 1})
    table = Table(rules, ["J--", "-J-"])
    copies = np.zeros(720, STATE)
    LOOPS.redeal(table.views(), table.parameters, np.arange(720, dtype=np.uint64), copies)
    results: Counter[str] = Counter()
    for state in copies:
        table.states[0] = state
        game = ReferenceGame([[pack.text(card) for card in stack] for stack in table.stacks()], {"J": 1})
        while not game.over:
            game.lay()
        assert table.play().outcome()[:3] == (game.result, game.cards, game.piles)
        results[str(game.result)] += 1
    assert set(results) == {"win", "cycle"}


@pytest.mark.parametrize("pad", [None, 4])
def test_tensor_decodes_to_the_view(midway: Table, pad: int | None) -> None:
    layout = FAMILY.tensor(midway.rules, pad)
    assert layout.size < 600
    assert set(layout.meanings) == set(layout.slices)
    views = midway.views(np.arange(64) % midway.rules.num_players)
    out = np.full((64, layout.size), np.nan, np.float32)
    LOOPS.encode(views, midway.parameters, layout.parameters, out)
    assert out.min() >= 0
    assert out.max() <= 1
    for tensor, view in zip(out, views, strict=True):
        told = FAMILY.decode(tensor, layout, midway.rules)
        assert set(told) == set(VIEW.names or ()) - {"legal"}
        for name, value in told.items():
            seen = view[name].tolist()
            assert value == (seen[: midway.rules.num_players] if name in ("held", "out") else seen), name


def test_padded_tensors_have_one_size() -> None:
    rules = [make("bettelmann", 2), make("bettelmann", 4), make("camicia", 3)]
    assert len({FAMILY.tensor(r, 10).size for r in rules}) == 1
    assert len({FAMILY.tensor(r).size for r in rules}) == 3


def test_counts_decode_exactly_up_to_the_highest_cap() -> None:
    rules = make("bettelmann", hard_cap=250_000)
    table, layout = Table(rules, games=1000), FAMILY.tensor(rules)
    views = table.views()
    views["cards"], views["piles"] = np.arange(249_001, 250_001), np.arange(1000) * 250
    out = np.zeros((1000, layout.size), np.float32)
    LOOPS.encode(views, table.parameters, layout.parameters, out)
    told = [FAMILY.decode(tensor, layout, rules) for tensor in out]
    assert [t["cards"] for t in told] == views["cards"].tolist()
    assert [t["piles"] for t in told] == views["piles"].tolist()


def test_texts() -> None:
    table = Table(make("bettelmann", 3), ["Qh 2h", "3s 4s", "5c"])
    table.lay()
    table.lay()
    view = table.views()[0]
    assert FAMILY.view_text(table.rules, view) == (
        "bettelmann(num_players=3)\n"
        "lay · 2 cards laid, 0 piles taken, 1 due to +2\n"
        "   me holds 1 · actor\n   +1 holds 1\n   +2 holds 1\n"
        "pile: Qh 3s"
    )
    told = FAMILY.view_dict(table.rules, view)
    assert (told["legal"], told["held"], told["owner"], told["actor"]) == ([0], [1, 1, 1], 2, 0)
    assert FAMILY.layout(table.rules).names == ("lay",)


def test_a_pickled_game_goes_on_alike(midway: Table) -> None:
    twin = Table(midway.rules, games=64)
    twin.states = pickle.loads(pickle.dumps(midway.states))
    for _ in range(100):
        midway.lay()
        twin.lay()
    assert twin.states.tobytes() == midway.states.tobytes()


def test_no_field_hides_an_attribute_of_a_record() -> None:
    for dtype in (STATE, VIEW):
        assert not set(dtype.names or ()) & set(dir(np.record))
