"""OpenSpiel's playthroughs of our games: ``python -m tests.playthroughs`` writes them, ``--check`` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from open_spiel.python.algorithms.generate_playthrough import playthrough

import bestia_env.openspiel  # noqa: F401  # registers the games

FOLDER = Path(__file__).parent / "playthroughs"
GAMES = {
    "mini_bestia_draw": ("python_bestia(variant=mini_bestia_draw)", 5),
    "bestia": ("python_bestia(variant=bestia,players=3,carry=6)", 1),
}


def text(name: str) -> str:
    game, seed = GAMES[name]
    return playthrough(game, [], seed=seed)


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def main(arguments: list[str]) -> int:
    changed = [name for name in GAMES if not path_of(name).exists() or path_of(name).read_text("utf-8") != text(name)]
    for name in changed:
        print(f"{'differs' if '--check' in arguments else 'written'}: {path_of(name).name}")
        if "--check" not in arguments:
            FOLDER.mkdir(exist_ok=True)
            path_of(name).write_text(text(name), encoding="utf-8")
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
