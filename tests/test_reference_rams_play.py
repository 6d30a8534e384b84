"""The second implementation of the Rams group: corners of the procedure, random self-play."""

import random
from fractions import Fraction

import pytest

from tests.reference.rams import (
    DealSetup,
    ReferenceDeal,
    equity_score,
    next_forced,
    player_range,
    preset,
    preset_names,
    risk_of_deal,
    settle,
)
from tests.reference.rams_cards import cards_of_pack
from tests.reference.rams_random import play_randomly, random_rules, random_setup, rejected
from tests.reference.rams_script import run, start


def in_order(cards: set[str], number: int) -> list[str]:
    return sorted(cards)


def pass_all(deal: ReferenceDeal, *seats: int) -> ReferenceDeal:
    return run(deal, ", ".join(f"{seat} pass" for seat in seats))


# --- short stock (rules: rams 2.3) -------------------------------------------------------------------------------


def test_short_stock_deals_its_last_cards_then_folded_hands_then_cards_laid_off() -> None:
    asked: list[set[str]] = []

    def reshuffle(cards: set[str], number: int) -> list[str]:
        assert number == len(asked)
        asked.append(cards)
        return sorted(cards)

    deal = start(preset("bestia", 10), [], "5h", reshuffle=reshuffle)
    dealt = [set(hand) for hand in deal.hands]
    assert len(deal.stock.cards) == 9
    pass_all(deal, *range(1, 10), 0)
    run(deal, "1 draw, 2 draw, 3 pass, 4 draw")
    assert (deal.stock.cards, asked) == ([], [])
    run(deal, "5 draw")
    assert (asked, deal.hands[5], deal.hands[3]) == ([dealt[3]], dealt[3], set())
    run(deal, "6 draw")
    assert asked[1] == dealt[1] | dealt[2] | dealt[4] | dealt[5]
    assert deal.stock.laid_off == dealt[6]


def test_a_passer_who_cannot_be_served_is_skipped_and_serves_the_next() -> None:
    deal = start(preset("bestia", 10, recycle="folded"), [], "5h", reshuffle=in_order)
    pass_all(deal, *range(1, 10), 0)
    fourth = set(deal.hands[4])
    run(deal, "1 draw, 2 draw, 3 draw")
    assert (deal.actor, deal.legal()) == (5, {"pass", "draw"})
    run(deal, "5 draw")
    assert deal.hands[5] == fourth


@pytest.mark.parametrize(("recycle", "largest"), [("none", 0), ("folded", 0), ("folded_then_discards", 5)])
def test_the_exchange_limit_is_what_can_be_had(recycle: str, largest: int) -> None:
    deal = start(preset("julepe", 6, recycle=recycle), [], "5h", reshuffle=in_order)
    for number in (5, 4):
        deal.apply(next(text for text in sorted(deal.legal()) if len(text.split()) == number + 1))
    assert len(deal.stock.cards) == 0
    assert max(len(text.split()) - 1 for text in deal.legal()) == largest
    assert "exchange" in deal.legal()


def test_exchange_draws_the_last_cards_before_the_new_stock() -> None:
    hands = ["", "Ac 3c Kc Qc Jc", "Ad 3d Kd Qd Jd", "As 3s Ks Qs Js", "", ""]
    deal = start(preset("julepe", 6), hands, "5h", reshuffle=in_order)
    last = deal.stock.cards[-2:]
    run(deal, "1 exchange Jc Qc Kc 3c Ac, 2 exchange Qd Kd, 3 pass, 4 exchange")
    run(deal, "5 " + next(text for text in sorted(deal.legal()) if len(text.split()) == 6))
    assert set(last) < deal.hands[5]
    assert deal.hands[5] - set(last) == {"3s", "As", "Js"}


def test_second_chance_ends_with_the_stock_where_nothing_is_recycled() -> None:
    deal = start(preset("online3", 7), [], "5h", credits=[1000] * 7)
    for _ in range(6):
        deal.apply(max(deal.legal(), key=len))
    run(deal, "0 pass")
    assert (deal.phase, deal.participants) == ("play", [1, 2, 3, 4, 5, 6])


# --- the turn-up -------------------------------------------------------------------------------------------------


def test_five_dealer_who_folds_leaves_the_turn_up_out_of_play() -> None:
    rules = preset("bestia_five", 4, lead_top_trump="ace_or_exposed_next")
    deal = start(rules, ["", "3h 2h 2c 4c 5c", "", ""], "Ah")
    assert "Ah" in deal.hands[0]
    run(deal, "1 exchange, 2 exchange, 3 pass, 0 pass")
    assert len(deal.hands[0]) == 4
    assert deal.legal() == {"play 3h"}


def test_five_dealer_may_lay_the_turn_up_off_and_nobody_knows() -> None:
    rules = preset("bestia_five", 4, lead_top_trump="ace_or_exposed_next")
    deal = start(rules, ["", "3h 2h 2c 4c 5c", "", ""], "Ah")
    run(deal, "1 exchange, 2 pass, 3 pass, 0 exchange Ah")
    assert deal.hands[0].isdisjoint({"Ah"})
    assert len(deal.legal()) == 5


def test_julepe_dealer_takes_the_turn_up_only_if_he_goes_in() -> None:
    hands = ["Ac 3c Kc Qc Jc", "", "", ""]
    deal = start(preset("julepe", 4), hands, "5h")
    run(deal, "1 exchange, 2 pass, 3 pass")
    assert "exchange" not in deal.legal()
    run(deal, "0 exchange 5h")
    assert deal.hands[0] == set(hands[0].split())
    assert (deal.phase, deal.stock.laid_off) == ("play", {"5h"})


def test_swap_in_a_round_of_exchanges() -> None:
    rules = preset("julepe", 4, exchange_when="after")
    deal = start(rules, ["Ac 3c Kc Qc Jc", "", "", ""], "5h")
    run(deal, "1 knock, 2 pass, 3 pass, 0 knock, 1 exchange")
    assert (deal.phase, deal.actor, len(deal.hands[0])) == ("exchange", 0, 6)
    run(deal, "0 exchange 5h")
    assert deal.hands[0] == {"Ac", "3c", "Kc", "Qc", "Jc"}


# --- declaring ---------------------------------------------------------------------------------------------------


def test_late_joining_goes_once_round_from_the_first_in() -> None:
    deal = pass_all(start(preset("mauscheln", 5), [], "9s", dealer=2), 3, 4)
    run(deal, "0 knock, 1 pass, 2 knock, 3 pass, 4 knock")
    assert (deal.phase, deal.participants, deal.principal) == ("exchange", [4, 0, 2], 0)
    run(deal, "0 exchange, 2 exchange, 4 exchange")
    assert (deal.phase, deal.actor) == ("play", 0)


def test_without_late_joining_an_early_pass_is_final() -> None:
    deal = pass_all(start(preset("mauscheln", 5, late_join=False), [], "9s", dealer=2), 3, 4)
    run(deal, "0 knock, 1 pass, 2 knock")
    assert (deal.phase, deal.participants) == ("exchange", [0, 2])


def test_only_who_passed_before_the_first_in_may_come_back() -> None:
    rules = preset("mauscheln", 7, exchange_when="declaring", recycle="folded")
    deal = run(start(rules, [], "9s", reshuffle=in_order), "1 pass, 2 exchange, 3 pass")
    assert deal.stock.available([]) == 52 - 29
    deal.stock.cards.clear()
    early, late = set(deal.hands[1]), set(deal.hands[3])
    deal.apply(max(deal.legal(), key=len))
    assert deal.hands[4] == late
    assert deal.hands[1] == early


def test_the_opener_of_online4_does_not_lead() -> None:
    deal = start(preset("online4", 4), [], "5h", credits=[1000] * 4)
    run(deal, "1 pass, 2 exchange, 3 exchange, 0 pass, 1 draw, 0 pass")
    assert (deal.principal, deal.actor, deal.participants) == (2, 1, [1, 2, 3])
    only_re_entrants = start(preset("online4", 4), [], "5h", credits=[1000] * 4)
    run(only_re_entrants, "1 pass, 2 pass, 3 pass, 0 pass, 1 pass, 2 draw, 3 draw, 0 pass")
    assert (only_re_entrants.principal, only_re_entrants.actor) == (2, 2)


def test_nobody_in_leaves_the_pot() -> None:
    deal = pass_all(start(preset("mauscheln", 4), [], "9s", carry=8), 1, 2, 3, 0)
    assert (deal.over, deal.participants, deal.carry_after, deal.net) == (True, [], 12, [-4, 0, 0, 0])
    assert deal.score == [0, 0, 0, 0]
    assert not deal.anybody_bestia


def test_nobody_joins_the_mauschler() -> None:
    deal = run(start(preset("mauscheln", 4), [], "9s", carry=8), "1 knock, 2 pass, 3 pass, 0 pass")
    assert (deal.over, deal.shares, deal.carry_after) == (True, [0, 12, 0, 0], 0)
    assert deal.score == [Fraction(-1, 4), Fraction(3, 4), Fraction(-1, 4), Fraction(-1, 4)]


@pytest.mark.parametrize("name", ["bestia_buco", "bestia_five"])
def test_the_last_player_wins_without_deciding(name: str) -> None:
    rules = preset(name, 5)
    deal = pass_all(start(rules, [], "5h"), 1, 2, 3, 4)
    assert (deal.over, deal.participants, deal.shares[0]) == (True, [0], 5 * rules["ante"])
    assert pass_all(start(preset(name, 5, last_player_wins=False), [], "5h"), 1, 2, 3, 4).actor == 0


def test_second_chance_is_offered_when_nobody_knocked() -> None:
    deal = pass_all(start(preset("bestia", 3), [], "5h"), 1, 2, 0, 1, 2)
    assert (deal.actor, deal.phase, deal.legal()) == (0, "second_chance", {"pass", "draw"})
    assert run(deal, "0 draw").shares == [3, 0, 0]


def test_forced_deals() -> None:
    deal = start(preset("tippen_exchange", 4), [], "8d", forced=True)
    assert (deal.phase, deal.actor, deal.participants) == ("exchange", 1, [1, 2, 3, 0])
    rules = preset("mauscheln", 4, forced_deal="bare_ante", stay_stake=4)
    deal = start(rules, [], "9s", forced=True)
    assert (deal.pot0, deal.pot, deal.principal) == (4, 20, None)
    strict = preset("bestia_strict", 4)
    assert not next_forced(strict, carry=0, first_deal=True, previous_bestia=False)
    assert next_forced(strict, carry=3, first_deal=False, previous_bestia=False)
    assert not next_forced(strict, carry=3, first_deal=False, previous_bestia=True)
    swap = preset("julepe", 4, exchange_when="after", forced_deal="bare_ante")
    deal = run(start(swap, [], "5h", forced=True), "1 exchange, 2 exchange, 3 exchange")
    assert deal.actor == 0
    assert run(deal, "0 exchange").turned_out() == "5h"


@pytest.mark.parametrize("name", ["bestia", "bestia_roman", "online3"])
def test_a_lone_entitled_seat_takes_the_pot_at_once(name: str) -> None:
    seats = 4
    entitled = [False, True, False, False]
    rules = preset(name, seats)
    deal = start(rules, [], "5h", dealer=1, carry=60, entitled=entitled, credits=[500] * seats)
    assert (deal.over, deal.net, deal.carry_after) == (True, [0, 60, 0, 0], 0)
    assert [len(hand) for hand in deal.hands] == [0, rules["hand_size"], 0, 0]


# --- the Roman bidding -------------------------------------------------------------------------------------------


def roman(seats: int = 6, **changes: object) -> ReferenceDeal:
    return start(preset("bestia_roman", seats, **changes), [], "5h", reshuffle=in_order)


def test_a_third_may_only_pass_when_three_are_in() -> None:
    deal = run(roman(), "1 third, 2 exchange, 3 exchange, 4 pass, 5 pass, 0 exchange")
    assert (deal.actor, deal.legal()) == (1, {"pass"})


def test_a_third_is_as_one_who_is_in_while_two_are_in() -> None:
    deal = run(roman(), "1 third, 2 exchange, 3 exchange, 4 pass, 5 pass, 0 pass")
    assert {"pass", "knock", "exchange"} < deal.legal()
    assert "third" not in deal.legal()
    run(deal, "1 exchange, 2 pass, 3 knock")
    assert (deal.participants, deal.principal) == ([1, 3], 3)


def test_thirds_fill_up_to_three_in_the_order_of_their_announcement() -> None:
    deal = run(roman(), "1 pass, 2 third, 3 third, 4 third, 5 pass, 0 knock")
    assert deal.participants == [2, 3, 0]
    deal = run(roman(), "1 third, 2 pass, 3 third, 4 exchange, 5 pass, 0 knock")
    assert deal.participants == [1, 4, 0]


def test_the_last_seat_in_the_roman_bidding_takes_the_pot_without_stake() -> None:
    deal = run(roman(4), "1 exchange, 2 pass, 3 third, 0 pass, 1 exchange, 3 pass")
    assert (deal.over, deal.participants, deal.pot, deal.shares) == (True, [1], 40, [0, 40, 0, 0])
    assert (deal.stakes_paid, deal.principal, deal.next_half_ante) == ([0] * 4, None, None)


def test_circuits_end() -> None:
    deal = roman(4, max_circuits=2)
    run(deal, "1 pass, 2 exchange, 3 exchange, 0 third, 2 exchange, 3 exchange, 0 exchange")
    assert (deal.actor, deal.legal()) == (2, {"pass", "knock"})


def test_circuits_without_the_last_player_rule_go_on_until_somebody_knocks() -> None:
    deal = run(roman(4, last_player_wins=False), "1 exchange, 2 pass, 3 pass, 0 pass")
    assert (deal.over, deal.actor) == (False, 1)
    assert run(deal, "1 knock").shares == [0, 40, 0, 0]


# --- money -------------------------------------------------------------------------------------------------------


def test_half_ante_and_its_score() -> None:
    deal = start(preset("bestia_roman", 4, ante=15), [], "5h", half_ante=2)
    assert deal.antes == [15, 15, 7, 15]
    rules = preset("bestia_roman", 4)
    result = settle(rules, pot=60, risk=60, tricks=[0, 3, 2, 0], participants=[1, 2], principal=1, first_winner=1)
    assert result.best_principal == 1
    score = equity_score(
        rules,
        pot0=40,
        shares=result.shares,
        penalties=result.penalties,
        stakes_paid=[0, 10, 10, 0],
        carry_after=result.carry_after,
        entitled=[True] * 4,
        half_ante_earner=result.best_principal,
    )
    part = Fraction(0 - 5 - 40, 4)
    assert score == [part / 40, (36 - 10 + 5 + part) / 40, (24 - 10 + part) / 40, part / 40]
    assert sum(score) == 0


def test_three_halves_are_rounded_up_and_cap_comes_first() -> None:
    rules = preset("bestia_roman", 4)
    lost = {"tricks": [0, 0, 5, 0], "participants": [1, 2], "principal": 1, "first_winner": 2}
    assert settle(rules, pot=75, risk=75, **lost).penalties == [0, 113, 0, 0]
    assert settle(rules | {"penalty_cap": 30}, pot=75, risk=75, **lost).penalties == [0, 45, 0, 0]


def test_table_stakes() -> None:
    deal = start(preset("online3", 4), [], "5h", credits=[1000, 800, 250, 90])
    assert (deal.antes, deal.pot, deal.risk) == ([90] * 4, 360, 0)
    deal = start(
        preset("online3", 4), [], "5h", credits=[1000, 0, 250, 90], entitled=[True, False, True, True], carry=7
    )
    assert (deal.antes, deal.pot, deal.risk) == ([90, 0, 90, 90], 277, 0)
    assert risk_of_deal(300, [1050, 180, 710], [True, False, True]) == 300
    assert settle(
        preset("online3", 3, penalty_cap=50),
        pot=300,
        risk=180,
        tricks=[2, 1, 0],
        participants=[0, 1, 2],
        principal=None,
        first_winner=0,
    ).penalties == [0, 0, 50]


def test_illegal_actions_change_nothing() -> None:
    deal = start(preset("bestia", 3), ["", "Kh 7s 2d", ""], "5h")
    for text in ("draw", "exchange", "play Kh", "buco", "third", ""):
        with pytest.raises(ValueError, match="not legal for seat 1"):
            deal.apply(text)
    run(deal, "1 knock, 2 knock, 0 knock, 1 play 7s")
    with pytest.raises(ValueError, match="not legal for seat 2"):
        deal.apply("play Kh")
    assert deal.trick == [(1, "7s")]


# --- self-play ---------------------------------------------------------------------------------------------------


def check_step(deal: ReferenceDeal) -> None:
    """Cards partition the pack, chips are conserved, somebody can act."""
    on_table = [card for _, card in deal.trick]
    piles = [*deal.hands, deal.extra_hand, deal.stock.cards, deal.stock.laid_off, deal.played, on_table]
    cards = [card for pile in piles for card in pile]
    if deal.turn_up not in cards:
        cards.append(deal.turn_up)
    else:
        assert deal.dealer_owns_turn_up or deal.dealer_took_turn_up
    assert sorted(cards) == sorted(cards_of_pack(deal.rules))
    pot = deal.carry_after + deal.rake if deal.over else deal.pot
    assert sum(deal.credits) + pot == sum(deal.setup.credits) + deal.setup.carry
    assert deal.over == (deal.actor is None) == (not deal.legal()) == (deal.phase == "over")
    if deal.phase == "play":
        assert all(deal.setup.entitled[seat] for seat in deal.participants)
        assert deal.actor in deal.participants


def check_end(deal: ReferenceDeal) -> None:
    """The results of section 2.4 belong together."""
    setup = deal.setup
    assert sum(deal.net) == setup.carry - deal.carry_after - deal.rake
    assert deal.credits_after == [has + net for has, net in zip(setup.credits, deal.net, strict=True)]
    assert len(deal.winners) == sum(deal.tricks) == (deal.rules["hand_size"] if len(deal.participants) > 1 else 0)
    out = set(range(deal.seats)) - set(deal.participants)
    assert all(deal.shares[seat] == deal.penalties[seat] == deal.stakes_paid[seat] == 0 for seat in out)
    if deal.pot0:
        assert sum(deal.score) == Fraction(-deal.rake, deal.pot0)
    if deal.rules["stakes"] == "table":
        assert min(deal.credits_after) >= 0


@pytest.mark.parametrize(
    ("name", "seats"),
    [(name, n) for name in preset_names() for n in range(player_range(name)[0], player_range(name)[1] + 1)],
)
def test_self_play_of_the_presets(name: str, seats: int) -> None:
    rules = preset(name, seats)
    assert rejected(rules) == ""
    rng = random.Random(f"{name} {seats}")
    for _ in range(10):
        setup = random_setup(rules, rng)
        check_end(play_randomly(setup, rng, check_step))


@pytest.mark.parametrize("seed", range(8))
def test_self_play_of_random_rules(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        check_end(play_randomly(random_setup(random_rules(rng), rng), rng, check_step))


def test_a_pack_with_a_card_missing_is_no_pack() -> None:
    setup = random_setup(preset("bestia", 3), random.Random(0))
    with pytest.raises(ValueError, match="order"):
        ReferenceDeal(DealSetup(**{**vars(setup), "order": setup.order[1:]}))
