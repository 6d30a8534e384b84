"""One game with a name for every seat: what one may ask about it and what a seat sees, apart from how it is stepped."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from bestia_env._rows import allowed_text, check_padding
from bestia_env.errors import BestiaError, IllegalActionError, RulesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.batch import GameBatch
    from bestia_env.family import Rules

__all__ = ["Observation", "OneGame"]

Observation = dict[str, "NDArray[Any]"]


class OneGame:
    """A batch of one, and agents ``player_0`` … ``player_{n-1}`` in the order of the seats.

    Args:
        batch: the batch of one game.
        pad_players: observations get one size for all tables of up to so many seats.
    """

    # what _wire looks up
    _WIRED = frozenset(
        "_num_actions _num_numbers _encoder _parameters _observe _encode _row _states _plain _place _scratch "
        "_legal _every_seat _every_row _every_view".split()
    )

    def __init__(self, batch: GameBatch, pad_players: int | None = None) -> None:
        self.rules: Rules = batch.rules
        self.possible_agents = [f"player_{seat}" for seat in range(batch.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._batch = batch
        self.pad_players = check_padding(pad_players)
        self.begun = False
        self._spaces: dict[tuple[str, str], spaces.Space[Any]] = {}
        self._wire()

    def _wire(self) -> None:
        """Looks up what follows from the batch, for speed; pickles do without it."""
        family = self._batch.family
        tensor = family.tensor(self.rules, self.pad_players)
        self._num_actions, self._num_numbers = self._batch.layout.num_actions, tensor.size
        self._encoder, self._parameters = tensor.parameters, family.parameters(self.rules, self._batch.session)
        self._observe, self._encode = family.loops.observe, family.loops.encode
        self._row, self._every_seat = np.zeros(1, np.int64), np.arange(len(self.possible_agents))
        self._every_row = np.zeros_like(self._every_seat)
        self._wire_state()

    def _wire_state(self) -> None:
        self._states = self._batch.states
        # np.record, for its attributes, is several times slower to read than np.void
        self._plain = self._states.view(np.dtype((np.void, self._states.dtype)))
        self._place = np.zeros(1, np.int64)
        self._scratch = np.zeros(1, self._batch.family.view_dtype)
        self._every_view = np.zeros(len(self.possible_agents), self._batch.family.view_dtype)
        self._legal = self._scratch["legal"][0, : self._num_actions].view(np.int8)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self._WIRED}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._wire()

    def _seat(self, agent: str) -> int:
        if agent not in self._seats:
            raise BestiaError(f"agent={agent!r}; allowed are {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def _state(self) -> NDArray[Any]:
        """The one-row array of the state.

        Raises:
            BestiaError: no game has begun.
        """
        if not self.begun:
            raise BestiaError("no game has begun; allowed is reset")
        return self._states

    def _record(self) -> Any:
        self._state()
        return self._plain[0]

    def _chips(self, field: str) -> int:
        if field not in (self._batch.family.state_dtype.names or ()):
            raise AttributeError(f"{self.rules.variant} has no {field}")
        return int(self._state()[field][0])

    # --- in numbers -------------------------------------------------------------------------------------------------

    @property
    def pot(self) -> int:
        """Chips in the pot (families with a pot)."""
        return self._chips("pot")

    @property
    def carry(self) -> int:
        """Chips in the pot before the antes of the open deal, or after the last deal (families with a pot)."""
        return self._chips("carry")

    @property
    def phase(self) -> str:
        """The phase in the family's words, such as ``declare`` or ``play``; ``over`` after the last deal."""
        return self._batch.family.phases[int(self._state()["phase"][0])]

    @property
    def game_id(self) -> tuple[int, int]:
        """The (row, game) part of the address: what ``GameBatch.game_id`` holds."""
        state = self._state()
        return int(state["row"][0]), int(state["game"][0])

    def view(self, agent: str) -> Any:
        """The View record of a seat: all that it may know of the deal, seats relative (design 6).

        Raises:
            BestiaError: before ``reset``, or no such agent.
        """
        return self._views(agent)[0]

    def _views(self, agent: str) -> NDArray[Any]:
        """The View of a seat as the one-row array that the loops read."""
        self._state()
        return self._batch.view(self._seat(agent))

    def full_state(self) -> dict[str, Any]:
        """Perfect information as plain values: every hand, the stock, the address. No observation holds it.

        Raises:
            BestiaError: before ``reset``.
        """
        return self._batch.family.full_state(self.rules, self._record())

    def _not_allowed(self, agent: str, action: object) -> IllegalActionError:
        """Names seat, phase, action, what is allowed, and the address."""
        layout = self._batch.layout
        named = repr(action)
        if type(action) is int and 0 <= action < layout.num_actions:
            named += f" {layout.name(action)}"
        allowed = allowed_text(self.rules, layout, self._record(), self.view(agent)["legal"])
        return IllegalActionError(f"{agent} in phase {self.phase}: action={named}; allowed are the integers {allowed}")

    # --- as tensors -------------------------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space, the same object at every call.

        Raises:
            BestiaError: no such agent.
        """
        return self._space("observation", agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space, the same object at every call; its random numbers are its own.

        Raises:
            BestiaError: no such agent.
        """
        return self._space("action", agent)

    def _space(self, kind: str, agent: str) -> spaces.Space[Any]:
        if (kind, agent) not in self._spaces:
            self._seat(agent)
            numbers = spaces.Box(0.0, 1.0, (self._num_numbers,), np.float32)
            mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
            both = spaces.Dict({"observation": numbers, "action_mask": mask})
            self._spaces[kind, agent] = both if kind == "observation" else spaces.Discrete(self._num_actions)
        return self._spaces[kind, agent]

    def _look(self, agent: str) -> Observation:
        """What a seat sees now, in new arrays."""
        self._state()
        self._place[0] = self._seat(agent)
        tensor = np.empty((1, self._num_numbers), np.float32)
        self._observe(self._states, self._parameters, self._row, self._place, self._scratch)
        self._encode(self._scratch, self._parameters, self._encoder, tensor)
        return {"observation": tensor[0], "action_mask": self._legal.copy()}

    def _tensors(self) -> NDArray[np.float32]:
        """(n, F) what all seats see now."""
        tensors = np.empty((len(self._every_seat), self._num_numbers), np.float32)
        self._observe(self._states, self._parameters, self._every_row, self._every_seat, self._every_view)
        self._encode(self._every_view, self._parameters, self._encoder, tensors)
        return tensors

    def state(self) -> NDArray[np.float32]:
        """(n·F,) what all seats see, one tensor after the other: for a central critic, never for a player.

        Every hand is in it, the order of the stock is not; that is in :meth:`full_state`.

        Raises:
            BestiaError: before ``reset``.
        """
        self._state()
        return self._tensors().reshape(-1)

    @property
    def state_space(self) -> spaces.Space[Any]:
        """The space of :meth:`state`."""
        numbers = len(self.possible_agents) * self._num_numbers
        return self._spaces.setdefault(("state", ""), spaces.Box(0.0, 1.0, (numbers,), np.float32))

    # --- in words ---------------------------------------------------------------------------------------------------

    def view_text(self, agent: str) -> str:
        """The View of a seat for people: the seat's own cards, nobody else's.

        Raises:
            BestiaError: before ``reset``, or no such agent.
        """
        return self._batch.family.view_text(self.rules, self.view(agent))

    def text_of(self, action: int) -> str:
        """An action as the seat to act would say it: ``knock``, ``exchange 7s 2d``, ``play Ah``.

        Raises:
            IllegalActionError: not an action of this game.
        """
        return self._batch.layout.text(action, self._exchange_cards())

    def action_of(self, text: str) -> int:
        """The action of the seat to act that reads so: the inverse of :meth:`text_of`; cards in any order.

        Raises:
            IllegalActionError: no action of this game reads so, or an exchange names a card not in hand.
        """
        try:
            return self._batch.layout.action(text, self._exchange_cards())
        except RulesError as error:
            raise IllegalActionError(f"action {text!r}: {error}") from error

    def _exchange_cards(self) -> int:
        """What the seat to act may lay off, from its own View."""
        actor = int(self._state()["actor"][0])
        if actor < 0 or "exchange_cards" not in (self._batch.family.view_dtype.names or ()):
            return 0
        return int(self._batch.view(actor)["exchange_cards"][0])

    def table_text(self) -> str:
        """What everybody at the table knows, no hands: rules, phase, money, and a column for every seat.

        Raises:
            BestiaError: before ``reset``.
        """
        # seen from seat 0, relative seats are the numbers of the agents
        told = self._batch.family.view_dict(self.rules, self.view(self.possible_agents[0]))
        n = len(self.possible_agents)
        words, rows, lines = [], [["player", *map(str, range(n))]], []
        for name, value in told.items():
            label = name.replace("_", " ")
            if name not in self._batch.family.public_keys():
                continue
            if not isinstance(value, list):
                words.append(f"{label} {_word(value)}")
            elif len(value) == n and not any(isinstance(entry, list) for entry in value):
                rows.append([label, *map(_word, value)])
            else:
                lines.append(f"{label}: {', '.join(map(_word, value)) or '-'}")
        widths = np.max([[len(cell) for cell in row] for row in rows], axis=0)
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        # a name and its value stay on one line
        short = fill(" · ".join(word.replace(" ", "\xa0") for word in words), 100).replace("\xa0", " ")
        return "\n".join([str(self.rules), short, *table, *lines])


def _word(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_word, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
