"""Tables of typical carries: what lies in the pot when rule-of-thumb players have played for a while."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from bestia_env.errors import RulesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.rams.rules import RamsRules

__all__ = ["typical_table"]


@cache
def _tables() -> dict[str, Any]:
    text = (resources.files("bestia_env.rams") / "typical.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables


def typical_table(rules: RamsRules) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equally likely pairs (carry in chips, forced 0 or 1) before a deal of self-play of the agent ``medium``.

    The table is that of the rules' preset and table size. Rules that put a cap on a game without one get a second
    table, made with a cap of 10 antes, since uncapped pots can be larger by orders of magnitude. A carry scales with
    the ante. All this is exact for a preset as it is and an approximation for changed rules: neither the size of the
    cap nor any other field is asked.

    Raises:
        RulesError: there is no table for these rules.
    """
    table = _tables()["tables"].get(rules.variant, {}).get(str(rules.num_players))
    if table is None:
        known = ", ".join(sorted(_tables()["tables"]))
        raise RulesError(
            f'carry="typical" has no table for {rules.variant} with {rules.num_players} players; '
            f"give a number or a range of chips (tables exist for {known})"
        )
    pairs = table["capped"] if rules.penalty_cap is not None and "capped" in table else table
    carries = np.array(pairs["carry"], np.int64) * rules.ante // table["ante"]
    return carries, np.array(pairs["forced"], np.int64)
