"""Measures the tournament's statistics where the answer is known: ``python -m benchmarks.calibration --help``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import tyro

from agents.thumb import ANY, STYLES, ThumbPolicy
from benchmarks.control import adjust, deal_covariates
from benchmarks.options import rules_of, session_of
from benchmarks.power import Gain, blocks_needed, pairing_gain
from benchmarks.runner import play_blocks
from benchmarks.sequential import FIRST_LOOK, anytime_intervals
from benchmarks.statistics import LEVEL, block_intervals
from bestia_env import BestiaError, make_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env import Policy, SessionConfig
    from bestia_env.family import Rules

__all__ = [
    "NO_LONE_JACK", "Config", "NarrowChange", "Null", "main", "narrow_change", "null_comparisons", "wrongly_separated",
]  # fmt: skip

NO_LONE_JACK = ThumbPolicy("no-lone-jack", replace(STYLES["medium"], top_ranks=(0, 4, ANY, ANY)))
"""``medium`` but for one rule: it stays out on a lone fifth-highest trump, in Bestia the jack."""

LOOK_EVERY = 50  # blocks


@dataclass(frozen=True, kw_only=True)
class Config:
    """Checks the tournament's intervals and measures what its design saves.

    Null comparisons: one agent is played under two names on different deals, many times. Of the 95 % intervals of the
    difference about 95 % must hold 0; so must about 95 % of the intervals of one name's own mean hold the mean of all.
    A confidence sequence looked at every 50 blocks may leave out 0 in at most 5 % of the comparisons.

    A narrow change: medium against medium that stays out on a lone jack of trumps, in a field of mediums on the same
    deals. Printed: how often they differ, and what rotation and pairing save in deals.

    Control variate: what the hands dealt explain of the hero's block scores.

    Args:
        variant: name of the game (bestia if neither this nor --rules is given).
        players: seats; the game's default if not given.
        changes: a field of the rules to change, such as penalty_cap=30; may be repeated.
        rules: the game as a text instead.
        carry: chips in the pot before the ante, as in the tournament.
        hero: who is played under two names.
        field: whom he meets; another agent, since against itself every score is 0.
        comparisons: null comparisons.
        blocks: blocks of each of their two sides.
        gain_blocks: blocks with which the gains are measured.
        seed: of all deals and of the bootstrap.
    """

    variant: str | None = None
    players: int | None = None
    changes: Annotated[
        tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE"), tyro.conf.UseAppendAction
    ] = ()
    rules: str | None = None
    carry: str | None = None
    hero: str = "medium"
    field: str = "loose"
    comparisons: int = 400
    blocks: int = 500
    gain_blocks: int = 20_000
    seed: int = 1


# --- null comparisons -------------------------------------------------------------------------------------------------


class Null(NamedTuple):
    """Shares of null comparisons, for one quantity.

    Attributes:
        difference: of the 95 % intervals of the difference, those that hold 0.
        mean: of the 95 % intervals of one name's mean, those that hold the mean of all blocks.
        separated: of the confidence sequences of the difference, those that ever leave out 0.
        peeking: the same, had one looked as often at ordinary intervals.
    """

    difference: float
    mean: float
    separated: float
    peeking: float


def null_comparisons(
    rules: Rules, session: SessionConfig, seed: int, hero: str, field: str, comparisons: int, blocks: int
) -> dict[str, Null]:
    """One agent under two names on different deals.

    Args:
        rules: the game.
        session: how deals begin.
        seed: of all deals and, comparison by comparison, of the bootstrap.
        hero: who plays under two names.
        field: whom he meets.
        comparisons: how many.
        blocks: of each name in each comparison.

    Returns:
        The shares for ``score`` and ``chips``.
    """
    total = 2 * comparisons * blocks
    results = play_blocks(rules, session, seed, range(total), (hero, *[field] * (rules.num_players - 1)))
    played = np.stack([results.scores[:, :, 0].mean(axis=1), results.chips[:, :, 0].mean(axis=1)], axis=1)
    one, other = played.reshape(2, comparisons, blocks, 2)  # two names; the last axis is score and chips
    columns = np.concatenate([one - other, one], axis=2)
    truths = [0.0, 0.0, *played.mean(axis=0)]
    covered = np.zeros(4)
    for number, values in enumerate(columns):
        intervals = block_intervals(values, seed + number)
        covered += [interval.low <= truth <= interval.high for interval, truth in zip(intervals, truths, strict=True)]
    shares = (covered / comparisons).tolist()
    return {
        quantity: Null(shares[place], shares[place + 2], *wrongly_separated(columns[:, :, place].T))
        for place, quantity in enumerate(("score", "chips"))
    }


def wrongly_separated(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Looks at (B, K) columns of mean 0 every :data:`LOOK_EVERY` blocks.

    Returns:
        The share of columns whose confidence sequence ever leaves out 0; and the share in which the mean is ever more
        than 1.96 standard errors from 0.
    """
    blocks, columns = differences.shape
    ever = np.zeros((2, columns), bool)
    for seen in range(min(FIRST_LOOK, blocks), blocks + 1, LOOK_EVERY):
        now = differences[:seen]
        sequence = anytime_intervals(now, tuned_to=blocks, differences=1)
        ever[0] |= [interval.low > 0 or interval.high < 0 for interval in sequence]
        ever[1] |= np.abs(now.mean(axis=0)) > 1.96 * now.std(axis=0, ddof=1) / np.sqrt(seen)
    sequences, peeking = ever.mean(axis=1).tolist()
    return sequences, peeking


# --- gains ------------------------------------------------------------------------------------------------------------


class NarrowChange(NamedTuple):
    """What differs between two heroes, and what the design saves in finding out.

    Attributes:
        decisions: share of the first hero's decisions in which the second would act otherwise.
        deals: share of deals (rotations counted apart) that end otherwise for some seat.
        mean: mean of the paired block differences of scores, second less first, in pots per deal.
        deviation: their standard deviation.
        gain: of rotation and pairing.
    """

    decisions: float
    deals: float
    mean: float
    deviation: float
    gain: Gain


class _Compared:
    """Plays like one policy and counts where another would act otherwise."""

    def __init__(self, policy: Policy, other: Policy) -> None:
        self.policy, self.other = policy, other
        self.decisions = self.differ = 0

    def bind(self, rules: Rules) -> None:
        self.policy.bind(rules)
        self.other.bind(rules)

    def act(self, views: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        actions = self.policy.act(views, keys)
        self.decisions += len(views)
        self.differ += int((actions != self.other.act(views, keys)).sum())
        return actions


def narrow_change(
    rules: Rules,
    session: SessionConfig,
    seed: int,
    blocks: range,
    heroes: tuple[str | Policy, str | Policy],
    field: str,
) -> NarrowChange:
    """Two heroes in the same field on the same deals.

    Args:
        rules: the game.
        session: how deals begin.
        seed: of the deals.
        blocks: numbers of the blocks.
        heroes: the first, and one that plays almost alike.
        field: whom they meet.

    Returns:
        How often they differ and what the design saves.
    """
    others = [field] * (rules.num_players - 1)
    first, second = (make_policy(hero, rules) for hero in heroes)
    compared = _Compared(first, second)
    one = play_blocks(rules, session, seed, blocks, (compared, *others))
    two = play_blocks(rules, session, seed, blocks, (second, *others))
    differences = (two.scores - one.scores)[:, :, 0].mean(axis=1)
    return NarrowChange(
        compared.differ / max(1, compared.decisions),
        float((one.chips != two.chips).any(axis=2).mean()),
        float(differences.mean()),
        float(differences.std(ddof=1)),
        pairing_gain(one.scores[:, :, 0], two.scores[:, :, 0]),
    )


# --- telling ----------------------------------------------------------------------------------------------------------


def report(config: Config) -> str:
    """Everything measured, as a text.

    Raises:
        BestiaError: something is unknown or out of range.
    """
    for option, least in (("comparisons", 1), ("blocks", FIRST_LOOK), ("gain_blocks", FIRST_LOOK)):
        if getattr(config, option) < least:
            raise BestiaError(f"{option}={getattr(config, option)}; allowed are integers from {least}")
    rules = rules_of(config.variant, config.players, config.changes, config.rules)
    session, note = session_of(rules, config.carry)
    hero, field, blocks = config.hero, config.field, range(config.gain_blocks)
    nulls = null_comparisons(rules, session, config.seed, hero, field, config.comparisons, config.blocks)
    lines = [
        f"{rules} · seed {config.seed} · {note}",
        "",
        f"{hero} under two names in a field of {field}, {config.comparisons} comparisons of {config.blocks} blocks",
        f"{'':8}{'holds 0':>12}{'holds mean':>12}{'separated':>12}{'peeking':>12}",
        f"{'aim':8}{LEVEL:>12.0%}{LEVEL:>12.0%}{'up to 5%':>12}{'none':>12}",
    ]
    lines += [f"{quantity:8}" + "".join(f"{share:>12.2%}" for share in null) for quantity, null in nulls.items()]
    change = narrow_change(rules, session, config.seed, blocks, ("medium", NO_LONE_JACK), "medium")
    gains = (f"{name} {gain:.1f}x" for name, gain in change.gain._asdict().items())
    lines += [
        "",
        f"narrow change, medium to {NO_LONE_JACK.name} in a field of medium, {len(blocks)} blocks",
        f"differ in {change.decisions:.2%} of decisions, {change.deals:.2%} of deals",
        f"difference {change.mean:+.4f} pots per deal, standard deviation of a block {change.deviation:.4f}",
        f"variance per deal smaller by: {', '.join(gains)}",
    ]
    if change.deviation > 0:
        lines.append(f"blocks to find 0.002 pots per deal: {blocks_needed(change.deviation, 0.002)}")
    played = play_blocks(rules, session, config.seed, blocks, (hero, *[field] * (rules.num_players - 1)))
    scores = played.scores[:, :, 0].mean(axis=1)
    lines += ["", f"control variate, {hero} in a field of {field}, {len(blocks)} blocks"]
    for title, by_position in (("hands dealt", False), ("hands and positions", True)):
        covariates = deal_covariates(rules, session, config.seed, blocks, by_position=by_position)
        adjusted = adjust(scores, covariates)
        lines.append(
            f"{title}: {covariates.shape[1]} covariates, variance {scores.var() / adjusted.var():.2f}x smaller, "
            f"mean {scores.mean():+.4f} to {adjusted.mean():+.4f}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    config = tyro.cli(Config, args=arguments, prog="python -m benchmarks.calibration")
    try:
        print(report(config))
    except BestiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
