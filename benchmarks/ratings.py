"""One number an agent: its worst named field, which evidence bears; and OpenSkill, which is no evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestia_env import BestiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from benchmarks.payoffs import Payoffs

__all__ = ["OpenSkill", "WorstCase", "openskill_ratings", "worst_cases"]


class WorstCase(NamedTuple):
    """An agent's mean where it fares worst.

    Attributes:
        agent: its name.
        setting: where that is; the first in alphabetical order if there are several.
        mean: its mean there.
        low: an end that the worst true mean is above, if no interval of the agent fails.
        high: an end that the worst true mean is below, if no interval of the agent fails.
    """

    agent: str
    setting: str
    mean: float
    low: float
    high: float


def worst_cases(tensor: Payoffs) -> list[WorstCase]:
    """Agents by their worst mean over the named settings, best first.

    This is the ranking to publish beside the pay-offs: the smallest number of an agent's row. Entering an agent again
    under another name repeats numbers in every row, and a smallest number does not change by being repeated. A mean
    over fields would: whoever enters a weak field twice weighs it double. Wald (1945) has the criterion; with fields
    as nature's choice it is the pure maximin of the hero against the named fields.

    The true worst mean lies under every setting's upper end and above the lowest lower end, hence ``low`` and
    ``high``. The smallest of several noisy means is too small on average: believe the interval.

    Raises:
        BestiaError: an agent that did not play in every setting; there is no fair worst case then.
    """
    if np.isnan(tensor.values).any():
        agent, setting, _ = np.argwhere(np.isnan(tensor.values))[0]
        raise BestiaError(
            f"{tensor.agents[agent]!r} did not play in {tensor.settings[setting]!r}; allowed are tensors without gaps"
        )
    found = []
    for agent, row in zip(tensor.agents, tensor.values, strict=True):
        worst = int(row[:, 0].argmin())
        low, high = float(row[:, 1].min()), float(row[:, 2].min())
        found.append(WorstCase(agent, tensor.settings[worst], float(row[worst, 0]), low, high))
    return sorted(found, key=lambda case: (-case.mean, case.agent))


class OpenSkill(NamedTuple):
    """A rating: ``mu`` the estimate, ``sigma`` what the model believes to be its uncertainty."""

    mu: float
    sigma: float


def openskill_ratings(tables: Mapping[tuple[str, ...], ArrayLike]) -> dict[str, OpenSkill]:
    """OpenSkill ratings (Plackett-Luce; Joshy, arXiv 2401.05451) from the order of the agents in every block.

    A side column for readers who are used to ratings. It sees who won a block and not by how much, puts cycles on a
    line, changes when an agent is entered twice, and depends on the order of games. That order is fixed here: block by
    block, and within a block by the names of the tables. ``sigma`` takes games for independent, which tables of one
    block are not.

    Args:
        tables: (B, m) block values by the names of the m agents at a table, no name twice. A hero-in-field table is
            (hero, field) with the values v and −v: the field's seats together win what the hero loses. Equal values
            are a draw.

    Returns:
        Ratings by name.

    Raises:
        BestiaError: a table with a name twice or with values of another shape, or unequal numbers of blocks.
    """
    from openskill.models import PlackettLuce

    games = {names: np.asarray(tables[names], np.float64) for names in sorted(tables)}
    for names, values in games.items():
        if len(set(names)) != len(names) or len(names) < 2 or values.ndim != 2 or values.shape[1] != len(names):
            raise BestiaError(
                f"table {names} with values of shape {values.shape}; allowed are two or more different names and "
                "one column a name"
            )
    if len({len(values) for values in games.values()}) > 1:
        raise BestiaError("tables of unequal numbers of blocks; allowed are tables of the same blocks")
    model = PlackettLuce()
    ratings = {name: model.rating() for name in sorted({name for names in games for name in names})}
    for block in zip(*(values.tolist() for values in games.values()), strict=True):
        for names, scores in zip(games, block, strict=True):
            rated = model.rate([[ratings[name]] for name in names], scores=scores)
            ratings.update({name: team[0] for name, team in zip(names, rated, strict=True)})
    return {name: OpenSkill(rating.mu, rating.sigma) for name, rating in ratings.items()}
