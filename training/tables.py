"""One learner at tables of several sizes: their games side by side, as one vector environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from bestia_env import BestiaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bestia_env.sb3 import BestiaVecEnv

__all__ = ["ManyTables", "table_seed", "tables_of"]


class ManyTables(VecEnv):
    """The rows of several :class:`~bestia_env.sb3.BestiaVecEnv`, one after the other.

    Args:
        tables: environments whose tensors and actions are alike, as ``pad_players`` makes them.

    Raises:
        BestiaError: they are not alike.
    """

    def __init__(self, tables: Sequence[BestiaVecEnv]) -> None:
        spaces = [(table.observation_space.shape, table.action_space) for table in tables]
        if any(space != spaces[0] for space in spaces):
            raise BestiaError(f"tables of {spaces}; allowed are those of one shape, as pad_players makes them")
        self.tables, self.games = list(tables), tables[0].games
        self.render_mode: str | None = None
        self._ends = np.cumsum([table.num_envs for table in tables])
        super().__init__(int(self._ends[-1]), tables[0].observation_space, tables[0].action_space)

    def reset(self) -> NDArray[np.float32]:
        """As each of them; after :meth:`seed` with ``table_seed`` of it."""
        for place, (table, end) in enumerate(zip(self.tables, self._ends, strict=True)):
            if self._seeds[0] is not None:
                table.seed(table_seed(self._seeds[0], place))
            table.set_options(self._options[end - table.num_envs : end])
        self._reset_seeds()
        self._reset_options()
        seen = np.concatenate([table.reset() for table in self.tables])
        self.reset_infos = [info for table in self.tables for info in table.reset_infos]
        return seen

    def step_async(self, actions: NDArray[Any]) -> None:
        """Takes the actions of the next ``step_wait``."""
        for table, some in zip(self.tables, np.split(actions, self._ends[:-1]), strict=True):
            table.step_async(some)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Plays on all tables."""
        seen, paid, done, infos = zip(*(table.step_wait() for table in self.tables), strict=True)
        return (
            np.concatenate(seen),
            np.concatenate(paid),
            np.concatenate(done),
            [told for some in infos for told in some],
        )

    def observe(self) -> NDArray[np.float32]:
        """(B, F) what the learners see now."""
        return np.concatenate([table.observe() for table in self.tables])

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, A) the legal actions of the learners."""
        return np.concatenate([table.action_masks() for table in self.tables])

    def close(self) -> None:
        """There is nothing to release."""

    # --- what Stable-Baselines3 asks for ----------------------------------------------------------------------------

    def has_attr(self, attr_name: str) -> bool:
        """Whether the rows have an attribute."""
        return self.tables[0].has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of each row asked for."""
        values = [value for table in self.tables for value in table.get_attr(attr_name)]
        return [values[row] for row in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused, as there.

        Raises:
            BestiaError: always.
        """
        self.tables[0].set_attr(attr_name, value, indices)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """``action_masks`` of each row asked for."""
        values = [
            value for table in self.tables for value in table.env_method(method_name, *method_args, **method_kwargs)
        ]
        return [values[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each row asked for."""
        return [False for _ in self._get_indices(indices)]


def table_seed(seed: int, place: int) -> int:
    """The seed of one of several tables: with one seed for all, the same packs would be dealt at all of them."""
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0]) if place else seed


def tables_of(env: Any) -> list[BestiaVecEnv]:
    """The environments that a learner plays in."""
    return env.tables if isinstance(env, ManyTables) else [env]
