"""The second implementation of the Rams group: sessions with one pot."""

import random

import pytest

from tests.reference.rams import ReferenceDeal, ReferenceSession, preset
from tests.reference.rams_cards import cards_of_pack
from tests.reference.rams_random import random_action


def session(name: str, seats: int, num_deals: int, prefer: str = "", seed: int = 0, **more: object) -> ReferenceSession:
    """A session whose seats do what begins with `prefer` where they can, else something at random."""
    settings = {key: more.pop(key) for key in ("play_on", "carry", "dealer", "forced", "credits") if key in more}
    rules = preset(name, seats, **more)
    rng = random.Random(seed)

    def deck(index: int) -> list[str]:
        cards = sorted(cards_of_pack(rules))
        return random.Random(f"{seed} {index}").sample(cards, len(cards))

    def choose(deal: ReferenceDeal, index: int) -> str:
        wanted = [text for text in sorted(deal.legal()) if prefer and text.startswith(prefer)]
        return rng.choice(wanted) if wanted else random_action(deal, rng)

    played = ReferenceSession(
        rules,
        num_deals=num_deals,
        deck=deck,
        choose=choose,
        reshuffle=lambda index, cards, number: sorted(cards),
        **settings,
    )
    return played.run()


def test_session_carries_the_pot_and_turns_the_deal() -> None:
    played = session("bestia", 4, 5, prefer="pass", dealer=2, carry=6)
    assert [deal.setup.dealer for deal in played.deals] == [2, 3, 0, 1, 2]
    assert [deal.pot0 for deal in played.deals] == [9, 12, 15, 18, 21]
    assert (played.carry, played.credits, played.truncated) == (21, [-3, -3, -6, -3], False)


def test_session_plays_on_until_the_limit_and_splits_the_pot() -> None:
    played = session("bestia", 4, 4, prefer="pass", play_on=True, carry=2)
    assert len(played.deals) == 4 + 12
    assert played.deals[-1].setup.dealer == 3
    assert played.carry == 0
    assert played.final_split == [13, 13, 12, 12]
    assert sum(played.credits) == 2


def test_session_plays_on_until_the_pot_is_bare() -> None:
    played = session("bestia", 4, 1, prefer="pass", play_on=True, seed=5)
    assert len(played.deals) == 1 + 12
    lone = session("bestia", 4, 1, prefer="knock", play_on=True, penalty_cap=3, seed=5)
    assert lone.reason == "played on"
    assert all(deal.carry_after >= 3 for deal in lone.deals[:-1])
    assert lone.deals[-1].carry_after < 3 or len(lone.deals) == 13


def test_session_stops_before_a_pot_could_pass_two_to_the_53() -> None:
    carry = 2**53 // 4 - 3
    assert len(session("bestia", 3, 1, carry=carry).deals) == 1
    stopped = session("bestia", 3, 1, carry=carry + 1)
    assert (stopped.deals, stopped.truncated, stopped.carry) == ([], True, carry + 1)


def test_session_forces_deals() -> None:
    played = session("bestia_strict", 4, 30, seed=3)
    before = [False, *(not deal.anybody_bestia for deal in played.deals[:-1])]
    assert [deal.setup.forced for deal in played.deals] == before
    assert any(before)
    assert session("bestia_strict", 4, 1, forced=True).deals[0].setup.forced


def test_session_half_ante_is_for_the_next_deal_only() -> None:
    played = session("bestia_roman", 4, 60, prefer="knock", penalty_cap=30, seed=1)
    earned = [None, *(deal.next_half_ante for deal in played.deals[:-1])]
    assert any(seat is not None for seat in earned)
    for deal, seat in zip(played.deals, earned, strict=True):
        assert deal.antes == [5 if other == seat else 10 for other in range(4)]


@pytest.mark.parametrize("seed", range(20))
def test_session_at_table_stakes_eliminates(seed: int) -> None:
    credits_before = [500, 300, 100, 0, 700]
    played = session("online3", 5, 200, seed=seed, credits=credits_before, dealer=3)
    assert played.eliminated[0] == (0, 3)
    assert played.deals[0].setup.dealer == 4
    assert played.reason in ("one seat left", "nobody left")
    assert (sum(played.credits), played.carry, min(played.credits)) == (1600, 0, 0)
    for index, deal in enumerate(played.deals):
        out = {seat for start_of, seat in played.eliminated if start_of <= index}
        assert deal.setup.entitled == [seat not in out for seat in range(5)]
        assert deal.setup.dealer not in out
        assert min(deal.credits_after) >= 0


def test_all_eliminated_at_once_share_the_pot() -> None:
    played = session("online3", 4, 9, prefer="pass", credits=[100, 100, 100, 0], carry=5, dealer=1)
    assert (len(played.deals), played.reason) == (1, "nobody left")
    assert played.eliminated == [(0, 3), (1, 0), (1, 1), (1, 2)]
    assert played.final_split == [102, 101, 102, 0]
