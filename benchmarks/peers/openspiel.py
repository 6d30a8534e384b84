"""OpenSpiel: loops in Python, and its C++ bots; ``.venv-peers/openspiel/bin/python -m benchmarks.peers.openspiel``.

Cards are dealt one chance node at a time, because that is how the library deals; they are not counted as decisions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.peers.timing import Interface, run

PYTHON = "Python loop"
TENSOR = "Python loop with tensor"
BOTS = "C++ bots in C++"
BOTS_DEALT = "C++ bots in C++, dealing not timed"


def interfaces() -> Iterator[Interface]:
    """What is timed."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    hearts, spades = pyspiel.load_game("hearts"), pyspiel.load_game("spades")
    yield Interface(PYTHON, "hearts", _python_loop(hearts))
    # both ways to a tensor: a new list each time, or NumPy memory that the library fills
    yield Interface(
        TENSOR, "spades, list", _python_loop(spades, lambda state: state.observation_tensor(state.current_player()))
    )
    observer = make_observation(spades)
    yield Interface(
        TENSOR, "spades, NumPy", _python_loop(spades, lambda state: observer.set_from(state, state.current_player()))
    )
    for name in ("hearts", "spades", "euchre"):
        yield Interface(BOTS, name, _bots(pyspiel, pyspiel.load_game(name)))
    yield Interface(BOTS_DEALT, "spades", _bots(pyspiel, spades, dealt=True))


def _python_loop(game: Any, look: Callable[[Any], object] = lambda _state: None) -> Callable[[], int]:
    """Plays one game: ``legal_actions`` as a list, a random element, ``apply_action``; ``look`` at every decision."""
    choice = random.Random(7).choice

    def play() -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                # faster than chance_outcomes(); all outcomes of these games' chance nodes are equally likely
                state.apply_action(choice(state.legal_actions()))
                continue
            look(state)
            state.apply_action(choice(state.legal_actions()))
            decisions += 1
        state.returns()
        return decisions

    return play


def _bots(pyspiel: Any, game: Any, *, dealt: bool = False) -> Callable[[], int]:
    """Plays one game of uniformly random bots: ``evaluate_bots``, whose loop, chance nodes and bots are C++.

    With ``dealt`` it starts from a copy of a state whose cards have been dealt, one of a hundred.
    """
    bots = [pyspiel.make_uniform_random_bot(seat, 7 + seat) for seat in range(game.num_players())]
    # how many moves were made is told quickly, whose they were is not: so what chance does must be a constant
    (dealing,) = {_chance_moves(pyspiel, game, bots, seed) for seed in range(20)}
    starts = [_after_dealing(game, seed) for seed in range(100)] if dealt else []
    games = 0

    def play() -> int:
        nonlocal games
        state = starts[games % len(starts)].clone() if dealt else game.new_initial_state()
        games += 1
        pyspiel.evaluate_bots(state, bots, games)
        return state.move_number() - dealing

    return play


def _chance_moves(pyspiel: Any, game: Any, bots: list[Any], seed: int) -> int:
    state = game.new_initial_state()
    pyspiel.evaluate_bots(state, bots, seed)
    history = state.full_history()
    assert len(history) == state.move_number()
    return sum(move.player < 0 for move in history)  # negative: the chance player


def _after_dealing(game: Any, seed: int) -> Any:
    state, choice = game.new_initial_state(), random.Random(seed).choice
    while state.is_chance_node():
        state.apply_action(choice(state.legal_actions()))
    return state


if __name__ == "__main__":
    run(("open-spiel", "numpy"), interfaces)
