"""Views and states as text and as plain JSON-able values; what a seat is told derives from its View alone."""

from __future__ import annotations

from typing import Any

from bestia_env.cards import cards_of
from bestia_env.rams.rules import RamsRules
from bestia_env.rams.state import Phase, Status, Verb

__all__ = ["full_state", "settlement", "view_dict", "view_text"]


# The keys of view_dict that the whole table knows.
PUBLIC = frozenset(
    (
        "phase actor dealer principal forced turn_up turn_up_taken extra_hand carry ante antes pot_before_stakes pot "
        "risk cap credits stock discards reshuffles turns_left circuit first_in status held lying declared trick "
        "leader plays tricks"
    ).split()
)


def _seat_name(seat: int) -> str:
    return "me" if seat == 0 else f"+{seat}"


def view_dict(rules: RamsRules, view: Any) -> dict[str, Any]:
    """A View as plain values: seats relative (0 = the seat itself), cards as texts, chips as integers."""
    pack, n = rules.cards, rules.num_players

    def cards(mask: int) -> str:
        return pack.texts(cards_of(mask))

    def seat(number: int) -> int | None:
        return int(number) if number >= 0 else None

    log = zip(view["log_seat"], view["log_verb"], view["log_count"], strict=True)
    plays = view["plays"][: rules.hand_size, :n].tolist()
    return {
        "rules": str(rules),
        "phase": Phase(int(view["phase"])).name.lower(),
        "actor": seat(view["actor"]),
        "dealer": seat(view["dealer"]),
        "principal": seat(view["principal"]),
        "forced": bool(view["forced"]),
        "turn_up": pack.text(view["turn_up"]),
        "turn_up_taken": bool(view["turn_up_taken"]),
        "extra_hand": bool(view["extra_hand"]),
        "hand": cards(view["hand"]),
        "first_hand": cards(view["first_hand"]),
        "held_so_far": cards(view["owned"]),
        "laid_off": cards(view["laid"]),
        "laid_off_still_there": cards(view["buried"]),
        "carry": int(view["carry"]),
        "ante": int(view["ante"]),
        "antes": view["antes"][:n].tolist(),
        "pot_before_stakes": int(view["pot_before"]),
        "pot": int(view["pot"]),
        "risk": int(view["risk"]),
        "cap": int(view["cap"]) if view["cap"] >= 0 else None,
        "credits": view["credits"][:n].tolist() if rules.stakes == "table" else None,
        "stock": int(view["stock_left"]),
        "discards": int(view["discards"]),
        "reshuffles": int(view["reshuffles"]),
        "turns_left": int(view["turns_left"]),
        "circuit": int(view["circuit"]),
        "first_in": seat(view["first_in"]),
        "status": [Status(code).name.lower() for code in view["status"][:n].tolist()],
        "held": view["held"][:n].tolist(),
        "lying": view["lying"][:n].tolist(),
        "declared": [
            [int(who), Verb(int(verb)).name.lower(), int(count)]
            for who, verb, count in list(log)[: int(view["log_length"])]
        ],
        "trick": int(view["trick"]),
        "leader": seat(view["leader"]),
        "plays": [[pack.text(card) if card >= 0 else None for card in trick] for trick in plays],
        "tricks": view["tricks"][:n].tolist(),
        "may_lay_off": cards(view["exchange_cards"]),
        "legal": view["legal"].nonzero()[0].tolist(),
    }


def view_text(rules: RamsRules, view: Any) -> str:
    """A View for people, a few lines; ``me`` is the seat, ``+1`` the next one."""
    told = view_dict(rules, view)
    n = rules.num_players
    trumps = f"{told['turn_up']}{' (taken)' if told['turn_up_taken'] else ''}"
    cap = f", penalties up to {told['cap']}" if told["cap"] is not None else ""
    circuit = f", circuit {told['circuit'] + 1}" if rules.bidding == "circuits" and told["phase"] == "declare" else ""
    money = f"pot {told['pot']} (carry {told['carry']}, ante {told['ante']}), risk {told['risk']}{cap}"
    lines = [
        told["rules"],
        f"{told['phase']}{', forced' if told['forced'] else ''} · turn-up {trumps} · {money}",
        f"stock {told['stock']}, discards {told['discards']}, reshuffles {told['reshuffles']}{circuit}"
        + (", the extra hand lies on the table" if told["extra_hand"] else ""),
        f"hand {told['hand'] or '-'} · first {told['first_hand'] or '-'} · laid off {told['laid_off'] or '-'}"
        + (f" (there: {told['laid_off_still_there'] or '-'})" if told["laid_off"] else ""),
    ]
    for seat in range(n):
        marks = [word for word in ("dealer", "principal", "leader", "actor") if told[word] == seat]
        credit = f", credit {told['credits'][seat]}" if told["credits"] else ""
        cards = f"holds {told['held'][seat]}, tricks {told['tricks'][seat]}"
        lines.append(
            f"  {_seat_name(seat):>3} {told['status'][seat]}, {cards}, "
            f"anted {told['antes'][seat]}{credit}{' · ' + ', '.join(marks) if marks else ''}"
        )
    said = [
        f"{_seat_name(who)} {verb}{f' {count}' if verb == 'exchange' else ''}" for who, verb, count in told["declared"]
    ]
    lines.append("said: " + (", ".join(said) or "-"))
    for index, trick in enumerate(told["plays"][: told["trick"] + 1]):
        played = [f"{_seat_name(seat)} {card}" for seat, card in enumerate(trick) if card]
        if played:
            lines.append(f"trick {index + 1}: " + ", ".join(played))
    return "\n".join(lines)


def full_state(rules: RamsRules, state: Any) -> dict[str, Any]:
    """Perfect information: every hand, the stock, the discards; seats absolute."""
    pack, n = rules.cards, rules.num_players

    def cards(mask: int) -> str:
        return pack.texts(cards_of(mask))

    stock = state["stock"][int(state["stock_next"]) : int(state["stock_end"])]
    return {
        "address": {name: int(state[name]) for name in ("seed", "row", "game", "deal", "decision")},
        "phase": Phase(int(state["phase"])).name.lower(),
        "actor": int(state["actor"]),
        "dealer": int(state["dealer"]),
        "forced": bool(state["forced"]),
        "entitled": [bool(flag) for flag in state["entitled"][:n]],
        "status": [Status(int(code)).name.lower() for code in state["status"][:n]],
        "turn_up": pack.text(state["turn_up"]),
        "turn_up_taken": bool(state["turn_up_taken"]),
        "hands": [cards(hand) for hand in state["hand"][:n]],
        "first_hands": [cards(hand) for hand in state["first_hand"][:n]],
        "extra_hand": cards(state["extra_hand"]),
        "stock": pack.texts(stock),
        "discards": cards(state["discards"]),
        "played": cards(state["played"]),
        "carry": int(state["carry"]),
        "pot": int(state["pot"]),
        "credits": state["credits"][:n].tolist(),
        "tricks": state["tricks"][:n].tolist(),
    }


def settlement(rules: RamsRules, state: Any) -> dict[str, Any]:
    """The latest deal that ended, chips by seat; ``score`` is the equity score (design 8.3)."""
    n = rules.num_players
    told = {name: state[name][:n].tolist() for name in ("shares", "penalties", "split", "net")}
    participants = [seat for seat, was_in in enumerate(state["settled_in"][:n].tolist()) if was_in]
    stake = rules.stay_stake if len(participants) > 1 else 0
    stakes = [stake if seat in participants else 0 for seat in range(n)]
    flows = zip(told["shares"], told["penalties"], told["split"], told["net"], stakes, strict=True)
    principal, score_base = int(state["settled_principal"]), int(state["score_base"])
    return {
        "dealer": int(state["settled_dealer"]),
        "forced": bool(state["settled_forced"]),
        "principal": principal if principal >= 0 else None,
        "participants": participants,
        "tricks": state["settled_tricks"][:n].tolist(),
        "antes": [share - penalty + split - net - stake for share, penalty, split, net, stake in flows],
        "stakes": stakes,
        **told,
        "carry_before": int(state["settled_carry"]),
        "pot": int(state["settled_pot"]),
        "rake": int(state["rake"]),
        "carry_after": int(state["carry_after"]),
        "score": [top / score_base for top in state["score_top"][:n].tolist()],
    }
