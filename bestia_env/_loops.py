"""Compiled loops over a batch of games, made once a family by one factory.

Each loop takes the array of states ``S`` and the one-element parameter array ``P``. They release the GIL and never
start threads: threads belong to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestia_env._bits import Array, Int, Mask
from bestia_env._jit import jit_for
from bestia_env.family import MAX_SEATS
from bestia_env.rng import AGENT, OPPONENT, below, draw, fold, game_key

__all__ = ["Loops", "choose_uniform", "game_numbers", "make_loops"]

Compiled = Callable[..., Any]

DECISIONS = 1 << 24  # more than any deal has
NOT_LEGAL = -2  # what ``move`` answers; actors are -1 to 9
DEAL_ENDED = 16


@dataclass(frozen=True)
class Loops:
    """The loops of one family; see the functions of the same name in :func:`make_loops`."""

    prepare: Compiled
    start: Compiled
    legal: Compiled
    first_illegal: Compiled
    step: Compiled
    forfeit: Compiled
    observe: Compiled
    encode: Compiled
    redeal: Compiled
    keys: Compiled
    random_actions: Compiled
    rollout: Compiled
    move: Compiled


@jit_for("shared")
def decision_key(s: Any) -> Mask:
    """The key of the open decision: a function of deal address, seat and decision number (design 5).

    Deal, decision and seat share one number, so that the key costs two rounds of mixing and not four.
    """
    return fold(fold(s.key, AGENT), (np.int64(s.deal) * DECISIONS + s.decision) * MAX_SEATS + max(s.actor, 0))


def make_loops(  # noqa: PLR0915  # a list of small loops; compiled closures cannot stand elsewhere
    family: str,
    *,
    prepare: Compiled,
    shuffle: Compiled,
    begin: Compiled,
    advance: Compiled,
    apply: Compiled,
    forfeit: Compiled,
    is_legal: Compiled,
    mask: Compiled,
    pick: Compiled,
    observe: Compiled,
    encode: Compiled,
    redeal: Compiled,
) -> Loops:
    """Compiles a family's functions on one record into loops over a batch."""
    jit = jit_for(family)

    @jit
    def next_game(s: Any, p: Any) -> None:
        """Begins the row's next game."""
        s.game += 1
        s.key = game_key(s.seed, s.row, s.game)
        prepare(s, p)
        shuffle(s, p)
        begin(s, p)
        advance(s, p)

    @jit
    def prepare_all(S: Array, P: Array, rows: Array) -> None:
        """Readies the given rows for a deal that is set up by hand before ``start``."""
        for row in rows:
            s = S[row]
            s.key = game_key(s.seed, s.row, s.game)
            prepare(s, P[0])

    @jit
    def start_all(S: Array, P: Array, rows: Array, prepared: bool) -> None:
        """Begins the games at the addresses of the given rows, or those whose first deal has been set up."""
        for row in rows:
            s = S[row]
            if not prepared:
                s.key = game_key(s.seed, s.row, s.game)
                prepare(s, P[0])
                shuffle(s, P[0])
            begin(s, P[0])
            advance(s, P[0])

    @jit
    def legal_all(S: Array, P: Array, rows: Array, out: Array) -> None:
        """Writes the action mask of each given row's actor."""
        for place in range(len(rows)):
            mask(S[rows[place]], P[0], out[place])

    @jit
    def first_illegal_all(S: Array, P: Array, rows: Array, actions: Array) -> Int:
        """The place of the first of the given rows that acts and whose action is not legal, or -1."""
        for place in range(len(rows)):
            s = S[rows[place]]
            if s.actor >= 0 and not is_legal(s, P[0], actions[place]):
                return place
        return -1

    @jit
    def step_all(
        S: Array,
        P: Array,
        rows: Array,
        actions: Array,
        rewards: Array,
        scores: Array,
        done: Array,
        truncated: Array,
        ended: Array,
    ) -> Int:
        """Plays one legal action in each of the given rows that has an actor; returns how many games ended.

        The outcome of the other rows is left as it is. Net chips and scores of the deals that ended with it are written
        (else zeros), ended games are kept in ``ended``, one after another. Who wants the next games begins them with
        ``start``: were it done here, the whole dealing would be compiled a second time.
        """
        p = P[0]
        games = 0
        seats = rewards.shape[1]
        for place in range(len(rows)):
            row = rows[place]
            s = S[row]
            for seat in range(seats):
                rewards[row, seat] = 0
                scores[row, seat] = 0.0
            done[row] = False
            truncated[row] = False
            if s.actor < 0:
                continue
            apply(s, p, actions[place])
            if advance(s, p) > 0:
                for seat in range(seats):
                    rewards[row, seat] = s.net[seat]
                    scores[row, seat] = s.score_top[seat] / s.score_base
            if s.over != 0:
                done[row] = True
                truncated[row] = s.truncated != 0
                ended[games] = s
                games += 1
        return games

    @jit
    def forfeit_one(S: Array, P: Array, row: Int, seat: Int, rewards: Array, scores: Array) -> None:
        """Ends the game of a row because a seat acted illegally."""
        s = S[row]
        forfeit(s, P[0], seat)
        for other in range(len(rewards)):
            rewards[other] = s.net[other]
            scores[other] = s.score_top[other] / s.score_base

    @jit
    def observe_all(S: Array, P: Array, rows: Array, seats: Array, V: Array) -> None:
        """Fills one View for each given row and seat."""
        for index in range(len(rows)):
            observe(S[rows[index]], P[0], seats[index], V[index])

    @jit
    def encode_all(V: Array, P: Array, E: Array, out: Array) -> None:
        """Writes one tensor a View."""
        for index in range(len(V)):
            encode(V[index], P[0], E[0], out[index])

    @jit
    def redeal_all(V: Array, P: Array, keys: Array, S: Array) -> None:
        """Builds ``len(S) / len(V)`` states for each View, one key a state."""
        copies = len(S) // len(V)
        for index in range(len(S)):
            s = S[index]
            s.seed = keys[index]
            s.key = game_key(s.seed, s.row, s.game)
            redeal(V[index // copies], P[0], keys[index], s)

    @jit
    def keys_all(S: Array, rows: Array, out: Array) -> None:
        """The key of each given row's open decision."""
        for index in range(len(rows)):
            out[index] = decision_key(S[rows[index]])

    @jit
    def random_actions_all(S: Array, P: Array, out: Array) -> None:
        """A uniformly random legal action for every row that has an actor, else 0."""
        for row in range(len(S)):
            out[row] = pick(S[row], P[0], decision_key(S[row])) if S[row].actor >= 0 else 0

    @jit
    def rollout_all(S: Array, P: Array, steps: Int) -> Int:
        """Plays ``steps`` random decisions in every row, games following one another; returns the games that ended."""
        p = P[0]
        games = 0
        for row in range(len(S)):
            s = S[row]
            for _ in range(steps):
                if s.actor < 0:
                    break
                apply(s, p, pick(s, p, decision_key(s)))
                advance(s, p)
                if s.over != 0:
                    games += 1
                    next_game(s, p)
        return games

    @jit
    def move_one(S: Array, P: Array, E: Array, action: Array, V: Array, X: Array, M: Array) -> Int:
        """Plays one action of a batch of one game, and shows the next actor what it sees: View, tensor and mask.

        Returns the next actor (-1: the game is over), plus ``DEAL_ENDED`` if a deal ended with the action; or
        ``NOT_LEGAL``, and then nothing has changed.
        """
        s = S[0]
        p = P[0]
        if not is_legal(s, p, action):
            return NOT_LEGAL
        apply(s, p, action)
        settled = advance(s, p)
        if s.actor >= 0:
            observe(s, p, s.actor, V[0])
            encode(V[0], p, E[0], X)
            for choice in range(len(M)):
                M[choice] = V[0].legal[choice]
        return np.int64(s.actor) + (DEAL_ENDED if settled > 0 else 0)

    return Loops(
        prepare=prepare_all,
        start=start_all,
        legal=legal_all,
        first_illegal=first_illegal_all,
        step=step_all,
        forfeit=forfeit_one,
        observe=observe_all,
        encode=encode_all,
        redeal=redeal_all,
        keys=keys_all,
        random_actions=random_actions_all,
        rollout=rollout_all,
        move=move_one,
    )


@jit_for("shared")
def choose_uniform(masks: Array, keys: Array, out: Array) -> Int:
    """A uniformly random choice among the ones of every mask; returns the first row whose mask is empty, or -1."""
    for row in range(len(masks)):
        options = 0
        for action in range(masks.shape[1]):
            options += masks[row, action] != 0
        if options == 0:
            return row
        choice = below(keys[row], 0, options)
        for action in range(masks.shape[1]):
            if masks[row, action] != 0:
                if choice == 0:
                    out[row] = action
                    break
                choice -= 1
    return -1


@jit_for("shared")
def game_numbers(S: Array, rows: Array, out: Array) -> None:
    """Random numbers of the given rows' games, ``out.shape[1]`` each: who plays against the learner."""
    for place in range(len(rows)):
        key = fold(S[rows[place]].key, OPPONENT)
        for index in range(out.shape[1]):
            out[place, index] = draw(key, index)
