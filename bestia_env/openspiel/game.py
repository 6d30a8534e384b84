"""The games, states and observers that OpenSpiel sees; positions are those of :mod:`bestia_env.openspiel.tree`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from bestia_env.openspiel.cards import cards_for
from bestia_env.openspiel.parameters import DEFAULTS, setup_of
from bestia_env.openspiel.resample import resampled
from bestia_env.openspiel.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bestia_env.openspiel.parameters import Setup

__all__ = ["GAME_TYPE", "BestiaGame", "BestiaState"]

SHORT_NAME = "python_bestia"


def _game_type(setup: Setup | None) -> pyspiel.GameType:
    """What OpenSpiel asks of a game before it is loaded (None), or of one with its parameters."""
    kinds, zero_sum = pyspiel.GameType, setup is None or _zero_sum(setup)
    seats = (2, 10) if setup is None else (setup.rules.num_players,) * 2
    return kinds(
        short_name=SHORT_NAME,
        long_name="Bestia and its cousins",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        min_num_players=seats[0],
        max_num_players=seats[1],
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=DEFAULTS,
    )


def _zero_sum(setup: Setup) -> bool:
    """The equity score is, without a rake; chips leave and enter the pot. Bettelmann has no pot."""
    if not hasattr(setup.rules, "rake_bp"):
        return True
    return setup.reward == "score" and setup.rules.rake_bp == 0


GAME_TYPE = _game_type(None)


class BestiaGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """One deal of any rules as an OpenSpiel game.

    Args:
        params: ``variant``, ``players``, ``changes``, ``dealer``, ``carry``, ``forced``, ``reward``; see
            docs/openspiel.md.

    Attributes:
        rules: the rules of the game.
        tree: its positions.

    Raises:
        BestiaError: parameters that no rules fit.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        setup = setup_of(params or {})
        self._wire(setup)
        cards = self.tree.cards
        least, most = cards.bounds(self.tree.pot)[setup.reward]
        n, pack = setup.rules.num_players, setup.rules.cards  # type: ignore[attr-defined]  # every family's rules do
        info = pyspiel.GameInfo(
            num_distinct_actions=self.tree.layout.num_actions,
            max_chance_outcomes=max(pack.num_cards, n),
            num_players=n,
            min_utility=least,
            max_utility=most,
            utility_sum=0.0 if _zero_sum(setup) else None,
            max_game_length=cards.max_decisions(),
        )
        super().__init__(_game_type(setup), info, setup.parameters)

    def _wire(self, setup: Setup) -> None:
        self.rules = setup.rules
        self.reward = setup.reward
        self.tree = Tree(setup.rules, setup.session, cards_for(setup.rules, setup.session))
        self.root = self.tree.root()

    def __getattr__(self, name: str) -> Any:
        """An unpickled game is OpenSpiel's part of it alone, whose parameters tell the rest."""
        if name not in ("rules", "reward", "tree", "root"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self._wire(setup_of(self.get_parameters()))
        return self.__dict__[name]

    def new_initial_state(self) -> BestiaState:
        """The state before the deal."""
        return BestiaState(self)

    def max_chance_nodes_in_history(self) -> int:
        """A bound: the pack is dealt once, and every decision may draw a hand."""
        n, hand = self.rules.num_players, getattr(self.rules, "hand_size", 0)
        pack: int = self.tree.layout.pack.num_cards if self.tree.layout.pack else self.max_chance_outcomes()
        return 1 + pack + (self.rules.max_log * (hand + 1) if hand else 0) + n  # type: ignore[attr-defined]  # has hands, so a log

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """What looks at states for OpenSpiel.

        Raises:
            ValueError: observation parameters, of which there are none.
        """
        if params:
            raise ValueError(f"params={params!r}; observers of {SHORT_NAME} take none")
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class BestiaState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A position of a deal. Everything in it is a :class:`~bestia_env.openspiel.tree.Node`, which never changes."""

    def __init__(self, game: BestiaGame) -> None:
        super().__init__(game)
        self.node = game.root

    @property
    def tree(self) -> Tree:
        """The positions of the game."""
        tree: Tree = self.get_game().tree
        return tree

    def current_player(self) -> int:
        """The seat to decide, or OpenSpiel's numbers for chance and the end."""
        if self.node.is_chance:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.node.over else self.node.actor

    def is_terminal(self) -> bool:
        """Whether the deal has ended."""
        return self.node.over

    def _legal_actions(self, player: int) -> list[int]:
        return self.tree.legal(self.node) if player == self.node.actor else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Cards (or seats, where the dealer is drawn) with their probabilities."""
        return self.tree.outcomes(self.node)

    def _apply_action(self, action: int) -> None:
        self.node = self.tree.child(self.node, action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.tree.text(self.node, player, action)

    def returns(self) -> list[float]:
        """By seat; zeros until the deal has ended."""
        if not self.node.over:
            return [0.0] * self.num_players()
        return self.tree.returns(self.node, self.get_game().reward)

    def resample_from_infostate(self, player: int, probability_sampler: Callable[[], float]) -> BestiaState:
        """A state that ``player`` cannot tell from this one, its history included.

        Args:
            player: who looks.
            probability_sampler: gives uniform numbers in [0, 1).
        """
        state: BestiaState = self.get_game().new_initial_state()
        for action in resampled(self.tree, self.get_game().root, self.node, player, probability_sampler):
            state.apply_action(action)
        return state

    def __str__(self) -> str:
        return self.tree.node_text(self.node)


class Observer:
    """Shows states to OpenSpiel: the View of a seat as the library's tensor and as one line of text.

    The tensor is there for what a seat knows; the public and the private part of it alone are texts.

    Attributes:
        tensor: (F,) float32, or None.
        dict: the named slices of the tensor, shaped.
    """

    def __init__(self, game: BestiaGame, kind: Any) -> None:
        self._tree = game.tree
        self._public = bool(kind.public_info)
        self._private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._recall = bool(kind.perfect_recall)
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        if self._public and self._private:
            layout = game.tree.batch.tensor_layout
            self.tensor = np.zeros(layout.size, np.float32)
            self.dict = {
                name: self.tensor[part].reshape(layout.shapes[name])
                for name, part in layout.slices.items()
                if part.stop > part.start
            }

    def set_from(self, state: BestiaState, player: int) -> None:
        """Writes the tensor: zeros before the cards are dealt."""
        if self.tensor is not None:
            self._tree.encode(state.node, player, self.tensor)

    def string_from(self, state: BestiaState, player: int) -> str:
        """The text of what a seat knows, or of the public or private part of it."""
        return self._tree.told(state.node, player, public=self._public, private=self._private, recall=self._recall)


pyspiel.register_game(GAME_TYPE, BestiaGame)
