"""The rules of the Rams group as data: one frozen record with every field of the rule book's table (rules: rams 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm

from bestia_env.cards import Pack, plain_pack
from bestia_env.errors import RulesError
from bestia_env.presets import PresetRules, Variant, check_kinds, require, whole
from bestia_env.rams.variants import PRESETS

__all__ = ["CHOICES", "MAX_HAND", "MAX_LOG", "RamsRules"]

MAX_HAND = 6
MAX_LOG = 64

# Every field that takes one of a few words; a word's place is its number in compiled code.
CHOICES: dict[str, tuple[str, ...]] = {
    "ante_payer": ("dealer", "all"),
    "turn_up": ("before_deal", "mid_deal", "after_deal"),
    "turn_up_owner": ("nobody", "dealer", "dealer_swap"),
    "bidding": ("round", "circuits"),
    "forced_deal": ("never", "after_no_bestia", "bare_ante"),
    "exchange_when": ("declaring", "after"),
    "recycle": ("none", "folded", "folded_then_discards"),
    "principal": ("none", "first_in", "knocker"),
    "ruff": ("any_trump", "overtrump_else_any_trump", "overtrump_else_any_card", "highest_trump"),
    "lead_top_trump": ("none", "ace", "ace_or_exposed_next", "highest_remaining"),
    "pot_award": ("per_trick", "quota_split", "most_tricks"),
    "stakes": ("unlimited", "table"),
    "remainder": ("carry", "first_trick_winner"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RamsRules(PresetRules):
    """How a deal of a game of the Rams group is played. Units: chips (cents where stakes are the table's).

    Every field is one row of the table in rules: rams 3; the defaults are plain three-card Bestia for five. A preset
    is one value of this record (:mod:`bestia_env.rams.variants`); nothing else tells games apart.

    Args:
        variant: the preset whose values are the defaults of the text form; a label, never compared by the engine.
        num_players: seats, 2 to 10.
        pack: a pack's name or a :class:`~bestia_env.cards.Pack`.
        hand_size: cards dealt to a seat, equal to the number of tricks.
        ante_payer: who antes: the ``dealer`` or ``all``.
        ante: chips each payer antes; with table stakes the most he antes.
        stay_stake: chips each participant pays after the declaring.
        turn_up: when the card that fixes trumps is turned.
        turn_up_owner: who gets it: ``nobody``; the ``dealer`` as his last card; ``dealer_swap``: a dealer who goes in.
        extra_hand: whether a hand (the buco) lies on the table that one seat may play.
        bidding: one ``round`` of declarations or ``circuits`` until somebody knocks.
        max_circuits: full circuits after which only passing and knocking are offered.
        conditional_third: whether "third if I must" may be said.
        late_join: whether seats that passed may still join the first who goes in.
        forced_deal: when all must play: ``never``; ``after_no_bestia``: in the deal after one in which nobody missed
            his quota; ``bare_ante``: when the pot holds nothing but the ante.
        second_chance: whether passers are offered a new hand, unseen.
        exchange_max: most cards drawn in one exchange, 0 to hand_size.
        exchange_when: exchanges happen while ``declaring`` or ``after`` it.
        recycle: what is shuffled into a new stock when it runs out: ``none``; ``folded``: the hands of seats that are
            finally out; ``folded_then_discards``: these, then what was laid off.
        last_player_wins: whether the last seat takes the pot undecided when all others passed.
        principal: the seat with extra duties: ``none``; ``first_in``: the first to go in; ``knocker``: who ends the
            circuits.
        principal_leads: whether the principal leads to the first trick.
        must_head: whether a seat that follows suit must beat the trick if it can.
        ruff: the duty of a seat that cannot follow suit and has trumps: ``any_trump``; a trump that wins, else any
            trump (``overtrump_else_any_trump``) or any card (``overtrump_else_any_card``); its ``highest_trump``.
        lead_top_trump: which top trump a leader must lead: ``none``; the ``ace``; ``ace_or_exposed_next``: the next
            one where the ace is the turn-up; the ``highest_remaining``.
        lead_top_trump_every_trick: whether that duty holds after the first trick, too.
        lead_trump_after_first: whether a leader must lead trumps from the second trick on.
        quota: tricks (the principal, every other participant) must take.
        principal_penalty: multiples of the base a principal pays (without a trick, with some but too few).
        pot_award: how the pot is shared: ``per_trick`` in equal parts; ``quota_split`` among the seats with their
            quota; ``most_tricks``: all to the seat with strictly the most, a tie leaves it.
        best_principal_half_ante: whether a principal with strictly the most tricks antes half next time.
        penalty_cap: most chips the base of a penalty may be.
        stakes: ``unlimited`` (chips are a score) or what lies on the ``table``.
        remainder: where indivisible chips of the pot go: they stay (``carry``) or to the ``first_trick_winner``.
        rake_bp: basis points of the pot the house takes, 0 to 1000.

    Raises:
        RulesError: a value out of range or a combination that rules: rams 2.4 and 2.6 reject.
    """

    variant: str = "rams"
    num_players: int = 5
    pack: str | Pack = "italian40"
    hand_size: int = 3
    ante_payer: str = "dealer"
    ante: int = 3
    stay_stake: int = 0
    turn_up: str = "before_deal"
    turn_up_owner: str = "nobody"
    extra_hand: bool = False
    bidding: str = "round"
    max_circuits: int | None = None
    conditional_third: bool = False
    late_join: bool = False
    forced_deal: str = "never"
    second_chance: bool = True
    exchange_max: int = 0
    exchange_when: str = "after"
    recycle: str = "folded_then_discards"
    last_player_wins: bool = False
    principal: str = "none"
    principal_leads: bool = False
    must_head: bool = False
    ruff: str = "any_trump"
    lead_top_trump: str = "none"
    lead_top_trump_every_trick: bool = False
    lead_trump_after_first: bool = False
    quota: tuple[int, int] = (1, 1)
    principal_penalty: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))
    pot_award: str = "per_trick"
    best_principal_half_ante: bool = False
    penalty_cap: int | None = None
    stakes: str = "unlimited"
    remainder: str = "carry"
    rake_bp: int = 0

    def __post_init__(self) -> None:
        for field in ("quota", "principal_penalty"):
            value = getattr(self, field)
            if isinstance(value, list):
                object.__setattr__(self, field, tuple(value))
        low, high = self.table_sizes
        sizes = f"an integer from {low} to {high} ({self.variant})"
        require(self, "num_players", whole(self.num_players, low, high), sizes)
        _check_values(self)
        object.__setattr__(self, "pack", plain_pack(self.pack))
        # Fractions whatever equal numbers were given, so that equal rules print alike.
        object.__setattr__(self, "principal_penalty", tuple(Fraction(part) for part in self.principal_penalty))
        _check_combinations(self)
        _check_divisibility(self)

    @classmethod
    def presets(cls) -> Mapping[str, Variant]:
        """The documented games, and ``rams`` for rules given as data."""
        return PRESETS

    @property
    def divisor(self) -> int:
        """The number d that the pot must be a multiple of to be shared without a remainder (rules: rams 2.4)."""
        if self.pot_award == "most_tricks":
            return 1
        if self.pot_award == "quota_split":
            least = self.quota[1] if self.principal == "none" else min(self.quota)
            return lcm(*range(1, self.hand_size // least + 1))
        return self.hand_size

    @property
    def pot_growth(self) -> int:
        """The most a pot can be multiplied by in one deal: everybody bestia, the principal at his dearest.

        That is n + 1 (rules: rams 2.5) unless a principal pays more than double.
        """
        dearest = max(self.principal_penalty) if self.principal != "none" else Fraction(1)
        return self.num_players - 1 + max(2, ceil(dearest))

    @property
    def exchanges_while_declaring(self) -> bool:
        """Whether going in and exchanging are one decision."""
        return self.exchange_max > 0 and self.exchange_when == "declaring"

    @property
    def exchanges_after(self) -> bool:
        """Whether participants exchange in a round after the declaring."""
        return self.exchange_max > 0 and self.exchange_when == "after"

    @property
    def max_log(self) -> int:
        """Most entries the declaration log of a deal can have."""
        rounds = (self.max_circuits or 0) + 2 if self.bidding == "circuits" else 1 + self.late_join
        return self.num_players * (rounds + self.second_chance + self.exchanges_after)


def _check_values(r: RamsRules) -> None:
    check_kinds(r, CHOICES)
    cards = r.cards
    high = min(MAX_HAND - (r.turn_up_owner == "dealer_swap"), cards.num_cards)
    require(r, "hand_size", whole(r.hand_size, 1, high), f"an integer from 1 to {high}")
    for field in ("ante", "stay_stake"):
        require(r, field, whole(getattr(r, field), 0, 10**9), "a whole number of chips, at most 10^9")
    circuits = r.max_circuits is None or whole(r.max_circuits, 1, MAX_LOG)
    require(r, "max_circuits", circuits, f"None or an integer from 1 to {MAX_LOG}")
    require(r, "exchange_max", whole(r.exchange_max, 0, r.hand_size), f"an integer from 0 to {r.hand_size} (hand_size)")
    require(r, "penalty_cap", r.penalty_cap is None or whole(r.penalty_cap, 1, 2**53), "None or a positive integer")
    require(r, "rake_bp", whole(r.rake_bp, 0, 1000), "an integer from 0 to 1000 basis points")
    pair = isinstance(r.quota, tuple) and len(r.quota) == 2 and all(whole(q, 1, r.hand_size) for q in r.quota)
    require(r, "quota", pair, f"a pair (principal, others) of integers from 1 to {r.hand_size} (hand_size)")
    multiples = (
        isinstance(r.principal_penalty, tuple)
        and len(r.principal_penalty) == 2
        and all(
            type(part) in (int, Fraction) and 0 <= part <= 10 and Fraction(part).denominator <= 100
            for part in r.principal_penalty
        )
    )
    require(r, "principal_penalty", multiples, "a pair of fractions from 0 to 10 with denominators up to 100")
    needed = r.num_players * r.hand_size + (r.turn_up_owner != "dealer") + r.extra_hand * r.hand_size
    require(r, "pack", needed <= cards.num_cards, f"a pack of at least {needed} cards for these hands")
    require(
        r, "max_circuits", r.max_log <= MAX_LOG, f"at most {MAX_LOG} declarations a deal (num_players times circuits)"
    )


# Combinations that contradict themselves: (what, when). The first twelve are the list of rules: rams 2.6; the last
# three are undefined in the sources: a first_in seat of a circuit may leave again, a circuit has no second stage, and
# a principal must exist to lead or to be rewarded.
_REJECTED: tuple[tuple[str, Callable[[RamsRules], bool]], ...] = (
    ("forced_deal with bidding=circuits", lambda r: r.forced_deal != "never" and r.bidding == "circuits"),
    ("forced_deal with exchange_when=declaring", lambda r: r.forced_deal != "never" and r.exchanges_while_declaring),
    ("conditional_third with bidding=round", lambda r: r.conditional_third and r.bidding == "round"),
    ("principal=knocker with bidding=round", lambda r: r.principal == "knocker" and r.bidding == "round"),
    ("bidding=circuits without max_circuits", lambda r: r.bidding == "circuits" and r.max_circuits is None),
    (
        "bidding=circuits with extra_hand, second_chance, exchange_when=after or turn_up_owner=dealer_swap",
        lambda r: (
            r.bidding == "circuits"
            and (r.extra_hand or r.second_chance or r.exchanges_after or r.turn_up_owner == "dealer_swap")
        ),
    ),
    (
        "late_join with second_chance or last_player_wins",
        lambda r: r.late_join and (r.second_chance or r.last_player_wins),
    ),
    ("turn_up_owner=dealer with second_chance", lambda r: r.turn_up_owner == "dealer" and r.second_chance),
    ("last_player_wins with second_chance", lambda r: r.last_player_wins and r.second_chance),
    ("extra_hand with exchange_max", lambda r: r.extra_hand and r.exchange_max > 0),
    (
        "exchange_max=0 with turn_up_owner=dealer_swap or exchange_when=declaring",
        lambda r: r.exchange_max == 0 and (r.turn_up_owner == "dealer_swap" or r.exchange_when == "declaring"),
    ),
    (
        "stakes=table with stay_stake or a principal_penalty above 1",
        lambda r: r.stakes == "table" and (r.stay_stake > 0 or max(r.principal_penalty) > 1),
    ),
    ("late_join with bidding=circuits", lambda r: r.late_join and r.bidding == "circuits"),
    ("principal=first_in with bidding=circuits", lambda r: r.principal == "first_in" and r.bidding == "circuits"),
    (
        "principal=none with principal_leads or best_principal_half_ante",
        lambda r: r.principal == "none" and (r.principal_leads or r.best_principal_half_ante),
    ),
)


def _check_combinations(rules: RamsRules) -> None:
    for what, contradicts in _REJECTED:
        if contradicts(rules):
            raise RulesError(f"rules {rules.variant!r}: {what} is not allowed")


def _check_divisibility(r: RamsRules) -> None:
    """Antes, stake and cap must leave a pot that divides (rules: rams 2.4)."""
    if r.stakes == "table":
        return
    d = r.divisor
    reason = "d, the tricks or shares the pot is divided by"
    antes = r.ante * (r.num_players if r.ante_payer == "all" else 1)
    if antes % d:
        payers = f"{r.num_players} x ante = {antes}" if r.ante_payer == "all" else f"ante = {antes}"
        raise RulesError(f"ante={r.ante}: {payers} chips; allowed are multiples of {d} ({reason})")
    checks = [("stay_stake", d, reason), ("penalty_cap", d, reason)]
    if r.best_principal_half_ante:
        half = "2 x hand_size, because a principal may ante half"
        checks += [(field, 2 * r.hand_size, half) for field in ("ante", "stay_stake", "penalty_cap")]
    if r.principal != "none" and any(part.denominator > 1 for part in r.principal_penalty):
        checks.append(("penalty_cap", 2 * r.hand_size, "2 x hand_size, because of the fraction in principal_penalty"))
    for field, step, why in checks:
        value = getattr(r, field)
        if value is not None and value % step:
            raise RulesError(f"{field}={value}; allowed are multiples of {step} ({why})")
