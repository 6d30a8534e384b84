"""From command line words to rules and sessions, for every tool of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestia_env import BestiaError, RulesError, SessionConfig, family_of, make_rules, parse_rules

if TYPE_CHECKING:
    from bestia_env.family import Rules

__all__ = ["rules_of", "session_of"]


def rules_of(variant: str | None, players: int | None, changes: Sequence[str], text: str | None) -> Rules:
    """Rules from a preset's name, a table size and ``field=value`` words, or from a rules text.

    Raises:
        RulesError: unknown preset, field or value.
        BestiaError: a rules text together with anything else.
    """
    if text is not None:
        if variant is not None or players is not None or changes:
            raise BestiaError(
                "--rules together with --variant, --players or --set; allowed is one way to name the rules"
            )
        return parse_rules(text)
    variant = variant or "bestia"
    rules = make_rules(variant, players)
    if not changes:
        return rules
    for change in changes:
        if not change.partition("=")[0].isidentifier() or "=" not in change:
            raise RulesError(f"--set {change!r}; allowed is field=value")
    return parse_rules(f"{variant}({', '.join([f'num_players={rules.num_players}', *changes])})")


def session_of(rules: Rules, carry: str | None) -> tuple[SessionConfig, str]:
    """The session of one deal that a carry names, and what to tell the user about it.

    Args:
        rules: the game.
        carry: ``"typical"``, a number of chips, ``"LOW-HIGH"`` chips, or None: typical where the game has a table of
            typical carries, else 0.

    Raises:
        RulesError: a carry that cannot be read or does not fit the rules.
    """
    forced_deal = getattr(rules, "forced_deal", None)
    if carry is None and forced_deal is None:
        return SessionConfig(), "a game without a pot"
    if carry in (None, "typical"):
        # drawn together with the carry where the rules have forced deals after one without a bestia
        forced = "typical" if forced_deal == "after_no_bestia" else False
        session = SessionConfig(carry="typical", forced=forced)
        note = "carry typical: drawn from the preset's table of what self-play of 'medium' leaves in the pot"
        try:
            family_of(rules).parameters(rules, session)
        except RulesError as error:
            if carry is not None:
                raise
            session, note = SessionConfig(), f"carry 0, because {error}"
        return session, note
    assert carry is not None
    low, dash, high = carry.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise RulesError(f"--carry {carry!r}; allowed is typical, a number of chips, or LOW-HIGH")
    session = SessionConfig(carry=range(int(low), int(high) + 1) if dash else int(low))
    family_of(rules).parameters(rules, session)
    return session, f"carry {carry}"
