"""Deal records: every file of tests/deals in the engine and in the second implementation; games recorded and back."""

import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import bestia_env
from bestia_env.batch import GameBatch
from bestia_env.errors import RecordError
from bestia_env.records import Deal, DealRecord, load_record, loads_record, record_game
from bestia_env.session import SessionConfig
from tests.crosscheck import any_rules
from tests.reference.bettelmann import ReferenceGame
from tests.reference.rams import DealSetup, ReferenceDeal, ReferenceSession
from tests.reference.rams_script import pack_order

FILES = sorted((Path(__file__).parent / "deals").glob("*.toml"))
RECORDS = {path.stem: load_record(path) for path in FILES}
RAMS = [name for name, record in RECORDS.items() if hasattr(record.rules, "pot_award")]
BETTELMANN = [name for name in RECORDS if name not in RAMS]


def text(name: str) -> str:
    return (Path(__file__).parent / "deals" / f"{name}.toml").read_text(encoding="utf-8")


def random_game(rules: Any, seed: int, game: tuple[int, int] = (0, 0), deals: int = 1, **session: Any) -> DealRecord:
    return record_game(
        rules,
        lambda batch: int(batch.random_actions()[0]),
        seed=seed,
        game=game,
        session=SessionConfig(num_deals=deals, **session),
    )


# --- the records of the project ---------------------------------------------------------------------------------------


def test_every_game_has_records() -> None:
    records = Counter(record.rules.variant for record in RECORDS.values())
    assert set(bestia_env.variants()) <= set(records)
    assert min(records[name] for name in bestia_env.variants()) >= 3


@pytest.mark.parametrize("name", RECORDS)
def test_records_state_their_results_and_replay(name: str) -> None:
    record = RECORDS[name]
    played = record.replay()
    for given, deal in zip(record.deals, played.deals, strict=True):
        assert set(given.result) == set(deal.result)
        for key in ("forced", "half_ante", "entitled"):
            assert (key in given.setup) == (key in deal.setup)
    assert played.replay() == played
    assert (played.winners, played.net) == (record.winners, record.net)


def reference_rules(rules: Any) -> dict[str, Any]:
    return rules.values() | {"pack": (rules.cards.suits, list(rules.cards.ranks))}


def reference_order(values: dict[str, Any], setup: Any) -> list[str]:
    everybody = [True] * values["num_players"]
    cards = (setup["hands"], setup["turn_up"], setup.get("stock", ""), setup.get("extra_hand", ""))
    return pack_order(values, setup["dealer"], setup.get("entitled", everybody), *cards)


def reference_deal(values: dict[str, Any], deal: Deal) -> ReferenceDeal:
    n, setup = values["num_players"], deal.setup
    stocks = setup.get("reshuffles", [])
    return ReferenceDeal(
        DealSetup(
            rules=values,
            dealer=setup["dealer"],
            carry=setup["carry"],
            order=reference_order(values, setup),
            forced=setup.get("forced", False),
            half_ante=setup.get("half_ante"),
            credits=setup.get("credits", [0] * n),
            entitled=setup.get("entitled", [True] * n),
            reshuffle=lambda _, number: stocks[number].split(),
        )
    )


@pytest.mark.parametrize("name", RAMS)
def test_second_implementation_replays(name: str) -> None:
    record = RECORDS[name]
    values = reference_rules(record.rules)
    for given, deal in zip(record.deals, record.replay().deals, strict=True):
        reference = reference_deal(values, deal)
        for said in deal.actions or ():
            seat, _, action = said.partition(" ")
            assert reference.actor == int(seat)
            reference.apply(action)
        assert reference.over
        assert reference.winners == given.result["winners"]
        assert reference.net == given.result["net"]
        assert reference.carry_after == given.result["carry_after"]


@pytest.mark.parametrize("name", [name for name in RAMS if len(RECORDS[name].deals) > 1])
def test_second_implementation_hands_on_the_same(name: str) -> None:
    record = RECORDS[name].replay()
    values = reference_rules(record.rules)
    first = record.deals[0].setup
    said = iter([action.partition(" ")[2] for deal in record.deals for action in deal.actions or ()])
    session = ReferenceSession(
        values,
        num_deals=len(record.deals),
        deck=lambda index: reference_order(values, record.deals[index].setup),
        choose=lambda deal, index: next(said),
        reshuffle=lambda index, cards, number: record.deals[index].setup["reshuffles"][number].split(),
        carry=first["carry"],
        dealer=first["dealer"],
        forced=first.get("forced", False),
        credits=first.get("credits"),
    ).run()
    n = record.rules.num_players
    assert next(said, None) is None
    for deal, played in zip(record.deals, session.deals, strict=True):
        setup = played.setup
        assert (deal.setup["dealer"], deal.setup["carry"]) == (setup.dealer, setup.carry)
        assert deal.setup.get("forced", False) == setup.forced
        assert deal.setup.get("half_ante") == setup.half_ante
        assert deal.setup.get("entitled", [True] * n) == setup.entitled
        assert deal.setup.get("credits", setup.credits) == setup.credits
    assert record.carry_after == session.carry
    assert record.net == [sum(deal.net[seat] for deal in session.deals) for seat in range(n)]


@pytest.mark.parametrize("name", BETTELMANN)
def test_second_implementation_lays_the_same(name: str) -> None:
    record = RECORDS[name]
    rules: Any = record.rules
    (deal,) = record.deals
    reference = ReferenceGame(
        [stack.split() if " " in stack else list(stack) for stack in deal.setup["stacks"]],
        dict(rules.penalties),
        rules.partial,
        rules.elimination,
        rules.limit_cards,
        rules.on_limit,
        rules.detect_cycle,
        rules.hard_cap,
    )
    lays = []
    while not reference.over:
        lays.append(f"{reference.turn} lay")
        reference.lay()
    assert deal.actions is None or list(deal.actions) == lays
    assert reference.rewards is not None
    assert [float(reward) for reward in reference.rewards] == deal.result["net"]
    assert [seat for seat, reward in enumerate(reference.rewards) if reward > -1] == deal.result["winners"]
    assert (reference.cards, reference.piles) == (deal.result["cards"], deal.result["piles"])


# --- recording, and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", bestia_env.variants())
def test_random_games_go_round(variant: str) -> None:
    fewest, most = bestia_env.player_range(variant)
    for players in range(fewest, most + 1):
        rules = bestia_env.make_rules(variant, players)
        for seed, deals in enumerate((1,) if not hasattr(rules, "pot_award") else (1, 4)):
            record = random_game(rules, seed, (players, 3), deals)
            assert len(record.deals) == deals or rules.stakes == "table"  # where seats may be eliminated
            back = loads_record(record.dumps())
            assert back == record
            assert back.replay() == record


def test_random_rules_go_round() -> None:
    rng = random.Random(4)
    for seed in range(25):
        record = random_game(any_rules(rng), seed, deals=3, play_on=True)
        assert loads_record(record.dumps()).replay() == record
        for deal, later in pairwise(record.deals):
            assert later.setup["carry"] == deal.result["carry_after"]


def test_records_equal_the_batch_at_the_same_address() -> None:
    batch = GameBatch("bestia_roman", 4, num_players=6, seed=11, autoreset=False)
    played: list[list[int]] = [[] for _ in range(4)]
    net = [[0] * 6 for _ in range(4)]
    while (batch.actor >= 0).any():
        actions, acting = batch.random_actions(), batch.actor >= 0
        for row in acting.nonzero()[0]:
            played[row].append(int(actions[row]))
        batch.step(actions)
        for row in batch.done.nonzero()[0]:
            net[row] = batch.rewards[row].tolist()
    for row in range(4):
        record = record_game(batch.rules, played[row], seed=11, game=(row, 0))
        assert record.net == net[row]
        with pytest.raises(RecordError, match=f"actions end after {len(played[row]) - 1}; seat"):
            record_game(batch.rules, played[row][:-1], seed=11, game=(row, 0))
        with pytest.raises(RecordError, match="go on after the end"):
            record_game(batch.rules, [*played[row], 0], seed=11, game=(row, 0))


def test_addresses_alone_are_enough() -> None:
    record = random_game(bestia_env.make_rules("mauscheln", 4), 7, (5, 6), deals=3)
    bare = DealRecord(
        rules=record.rules, seed=7, game=(5, 6), deals=tuple(Deal(actions=deal.actions) for deal in record.deals)
    )
    assert loads_record(bare.dumps()).replay() == record


def test_set_up_deals_are_recorded_whole() -> None:
    setup = {"dealer": 1, "turn_up": "As", "reshuffles": ["2d Kh Qc"], "carry": 9}
    record = record_game("bestia(num_players=4)", lambda batch: 0, deal=setup)
    (deal,) = record.deals
    assert deal.setup | setup == deal.setup
    named = " ".join([*deal.setup["hands"], deal.setup["stock"], "As"]).split()
    assert len(named) == len(set(named)) == 40
    assert record.replay() == record


def test_more_reshuffles_than_an_injection_holds() -> None:
    rules = bestia_env.make_rules("bestia_roman", 6)
    record = next(
        record for record in (random_game(rules, seed) for seed in range(20))
        if len(record.deals[0].setup.get("reshuffles", ())) > 6
    )  # fmt: skip
    (deal,) = record.deals
    reference = reference_deal(reference_rules(rules), deal)
    for said in deal.actions or ():
        reference.apply(said.partition(" ")[2])
    assert (reference.winners, reference.net) == (record.winners, record.net)
    stocks = deal.setup["reshuffles"]
    other = [*stocks[:5], " ".join(reversed(stocks[5].split())), *stocks[6:]]
    wrong = DealRecord(
        rules=rules,
        seed=record.seed,
        deals=(Deal(setup=dict(deal.setup) | {"reshuffles": other}, actions=deal.actions),),
    )
    with pytest.raises(RecordError, match=re.escape("reshuffles[5]=") + ".*the address of the game gives"):
        wrong.replay()


def test_results_are_filled_in() -> None:
    record = loads_record(text("tippen_worked").partition("[result]")[0])
    for ask in (lambda: record.net, lambda: record.winners, lambda: record.carry_after):
        with pytest.raises(RecordError, match=r"result\.(net|winners|carry_after) is not given; .*replay\(\)"):
            ask()
    assert record.replay().net == [-2, 2, -3]
    with pytest.raises(RecordError, match=r"result\.carry_after is not given; given is winners, net, cards, piles"):
        assert RECORDS["bettelmann_v4"].carry_after


def test_files(tmp_path: Path) -> None:
    record = RECORDS["online3_tournament"]
    record.save(tmp_path / "record.toml")
    assert bestia_env.load_record(str(tmp_path / "record.toml")) == record
    (tmp_path / "bad.toml").write_text(record.dumps().replace("format = 1", "format = 2"))
    with pytest.raises(RecordError, match=r"bad\.toml: format=2"):
        load_record(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RecordError, match=r"bad\.toml: not UTF-8"):
        load_record(tmp_path / "bad.toml")
