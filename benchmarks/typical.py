"""Makes the shipped tables of typical carries anew: ``python -m benchmarks.typical``.

``SessionConfig(carry="typical")`` draws what lies in the pot before a deal from a table of its preset and table size.
A table holds 256 equally likely pairs (carry, forced): those that ``medium``, playing against itself, finds before a
deal. Long sessions are played, the first deals of each are left out, and of all pairs seen, sorted by carry, 256 at
equal distances are kept.

A game without a cap has a second table, for rules that cap its penalties: made alike, with a cap of 10 antes.

Where pots explode (many seats, no cap) there is no more typical pot the longer one plays. Sessions of a fixed length
bound it, and a session that outgrows the engine's chips counts up to the deal before it does. With table stakes
everybody begins with 100 antes, as in the online tournament (rules: rams 5), and deals with fewer than all seats are
left out.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tyro
from tqdm import tqdm

from agents import agent_version
from bestia_env import GameBatch, SessionConfig, make_policy, make_rules, player_range, variants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.rams.rules import RamsRules

__all__ = ["Config", "main", "pairs_seen", "table_of"]

AGENT = "medium"
TABLE_SIZE = 256
CREDITS_IN_ANTES = 100
CAP_IN_ANTES = 10


@dataclass(frozen=True, kw_only=True)
class Config:
    """Regenerates the tables of typical carries from self-play of ``medium``.

    Args:
        sessions: sessions a table.
        deals: deals a session.
        skip: deals left out at the beginning of each session.
        seed: of all sessions.
        out: the file to write; the shipped one if not given.
    """

    sessions: int = 512
    deals: int = 60
    skip: int = 20
    seed: int = 1
    out: Path | None = None


def pairs_seen(rules: RamsRules, config: Config) -> NDArray[np.int64]:
    """(N, 2) carry and forced flag before every deal that counts."""
    credits = CREDITS_IN_ANTES * rules.ante if rules.stakes == "table" else None
    session = SessionConfig(num_deals=config.deals, credits=credits)
    batch = GameBatch(rules, config.sessions, seed=config.seed, session=session, autoreset=False)
    policy = make_policy(AGENT, rules)
    seen = []
    told = np.full(config.sessions, -1)  # the deal of each session that was looked at last
    actions = np.zeros(config.sessions, np.int64)
    while len(playing := np.flatnonzero(batch.actor >= 0)):
        deal = batch.states["deal"][playing]
        begun = playing[(deal != told[playing]) & (deal >= config.skip)]
        told[playing] = deal
        begun = begun[batch.states["entitled"][begun, : rules.num_players].all(axis=1)]
        seen.append(np.stack([batch.states["carry"][begun], batch.states["forced"][begun]], axis=1))
        actions[playing] = policy.act(batch.view(rows=playing), batch.keys(playing))
        batch.step(actions)
    return np.concatenate(seen)


def table_of(rules: RamsRules, config: Config) -> dict[str, Any]:
    """The table of one preset and table size, and the one with a cap if the game has none itself.

    With table stakes nobody can owe more than he has: a cap is not needed, nor a table for it.
    """
    table = {"ante": rules.ante, "cap": rules.penalty_cap} | _kept(pairs_seen(rules, config))
    if rules.penalty_cap is None and rules.stakes != "table":
        capped = replace(rules, penalty_cap=CAP_IN_ANTES * rules.ante)
        table["capped"] = {"cap": capped.penalty_cap} | _kept(pairs_seen(capped, config))
    return table


def _kept(pairs: NDArray[np.int64]) -> dict[str, Any]:
    """The pairs at equal distances, as two lists."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    kept = pairs[(2 * np.arange(TABLE_SIZE) + 1) * len(pairs) // (2 * TABLE_SIZE)]
    return {"carry": kept[:, 0].tolist(), "forced": kept[:, 1].tolist()}


def all_tables(config: Config) -> dict[str, dict[str, Any]]:
    """The tables of every preset with a pot; presets that differ by name alone share theirs."""
    games = [
        make_rules(variant, players)
        for variant in variants()
        for players in range(player_range(variant)[0], player_range(variant)[1] + 1)
    ]
    tables: dict[str, dict[str, Any]] = {}
    known: dict[str, dict[str, Any]] = {}
    for rules in tqdm([rules for rules in games if hasattr(rules, "ante")], unit="table"):
        game = rules.full_text().removeprefix(rules.variant)
        if game not in known:
            known[game] = table_of(rules, config)
        tables.setdefault(rules.variant, {})[str(rules.num_players)] = known[game]
    return tables


def text_of(tables: dict[str, dict[str, Any]], config: Config) -> str:
    """The file's text: JSON with one line a table."""
    command = (
        f"python -m benchmarks.typical --sessions {config.sessions} --deals {config.deals} --skip {config.skip} "
        f"--seed {config.seed}"
    )
    parts = [f'"command": {json.dumps(command)}', f'"agent": {json.dumps(f"{AGENT} {agent_version(AGENT)}")}']
    blocks = []
    for variant, by_players in tables.items():
        lines = [f'"{players}": {json.dumps(table, separators=(",", ":"))}' for players, table in by_players.items()]
        blocks.append(f'"{variant}": ' + _braces(lines))
    return _braces([*parts, '"tables": ' + _braces(blocks)]) + "\n"


def _braces(lines: list[str]) -> str:
    return "{\n" + ",\n".join(lines) + "\n}"


def main() -> int:
    """The command line; returns the exit code."""
    config = tyro.cli(Config, prog="python -m benchmarks.typical", description=Config.__doc__)
    path = config.out or Path(str(resources.files("bestia_env.rams") / "typical.json"))
    beside = path.with_name(f"{path.name}.tmp")
    beside.write_text(text_of(all_tables(config), config), encoding="utf-8")
    os.replace(beside, path)
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
