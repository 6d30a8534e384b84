"""Views and states as text and as plain JSON-able values; what a seat is told derives from its View alone."""

from __future__ import annotations

from typing import Any

from bestia_env.bettelmann.rules import BettelmannRules
from bestia_env.bettelmann.state import RING, Phase, Result

__all__ = ["full_state", "settlement", "view_dict", "view_text"]

# The keys of view_dict that the whole table knows.
PUBLIC = frozenset("phase actor held out pile owner due cards piles".split())


def _table(rules: BettelmannRules, record: Any) -> dict[str, Any]:
    """What View and state have in common."""
    n = rules.num_players
    owner = int(record["owner"])
    return {
        "held": record["held"][:n].tolist(),
        "out": [bool(flag) for flag in record["out"][:n]],
        "pile": rules.cards.texts(record["pile"][: int(record["pile_length"])]),
        "owner": owner if owner >= 0 else None,
        "due": int(record["due"]),
        "cards": int(record["cards"]),
        "piles": int(record["piles"]),
    }


def view_dict(rules: BettelmannRules, view: Any) -> dict[str, Any]:
    """A View as plain values: seats relative (0 = the seat itself), the pile as card texts in the order laid."""
    actor = int(view["actor"])
    return {
        "rules": str(rules),
        "phase": Phase(int(view["phase"])).name.lower(),
        "actor": actor if actor >= 0 else None,
        **_table(rules, view),
        "legal": view["legal"].nonzero()[0].tolist(),
    }


def view_text(rules: BettelmannRules, view: Any) -> str:
    """A View for people, a few lines; ``me`` is the seat, ``+1`` the next one."""
    told = view_dict(rules, view)

    def name(seat: int) -> str:
        return "me" if seat == 0 else f"+{seat}"

    debt = f", {told['due']} due to {name(told['owner'])}" if told["owner"] is not None else ""
    lines = [
        told["rules"],
        f"{told['phase']} · {told['cards']} cards laid, {told['piles']} piles taken{debt}",
        *(
            f"  {name(seat):>3} holds {held}{', out' if out else ''}{' · actor' if seat == told['actor'] else ''}"
            for seat, (held, out) in enumerate(zip(told["held"], told["out"], strict=True))
        ),
        f"pile: {told['pile'] or '-'}",
    ]
    return "\n".join(lines)


def full_state(rules: BettelmannRules, state: Any) -> dict[str, Any]:
    """Perfect information: every stack, top card first; seats absolute."""
    places = range(rules.num_players)
    stacks = [
        [state["stack"][s, (int(state["head"][s]) + i) % RING] for i in range(int(state["held"][s]))] for s in places
    ]
    return {
        "address": {name: int(state[name]) for name in ("seed", "row", "game", "deal", "decision")},
        "phase": Phase(int(state["phase"])).name.lower(),
        "actor": int(state["actor"]),
        "stacks": [rules.cards.texts(stack) for stack in stacks],
        **_table(rules, state),
    }


def settlement(rules: BettelmannRules, state: Any) -> dict[str, Any]:
    """How a game ended: result, the seats that share the win, counts, and net = score by seat."""
    n = rules.num_players
    return {
        "result": Result(int(state["result"])).name.lower(),
        "winners": [seat for seat in range(n) if state["won"][seat]],
        "cards": int(state["cards"]),
        "piles": int(state["piles"]),
        "net": state["net"][:n].tolist(),
        "score": [int(top) / int(state["score_base"]) for top in state["score_top"][:n]],
    }
