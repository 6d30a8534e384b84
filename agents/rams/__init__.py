"""The Rams group as rules of thumb see it: compiled functions on one View record ``v``.

``g`` is the record of the game (:mod:`agents.rams.game`) and ``t`` that of an agent's thresholds (:mod:`agents.thumb`).
docs/agents.md says the same in words.
"""

from pathlib import Path

from bestia_env._jit import jit_for

__all__ = ["jit"]

# every file of this folder, so that an edit of any of them is never answered with old machine code
jit = jit_for("rams", *map(str, sorted(Path(__file__).parent.glob("*.py"))))
