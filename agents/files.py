"""Agents that live in files: an SB3 model's ``.zip``, or a folder with a card. docs/agents.md describes the card.

**Loading executes code**: a model of Stable-Baselines3 holds pickled Python objects, and a card may name a Python file.
Play only what you would also run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.net import NetPolicy
from bestia_env import BestiaError

if TYPE_CHECKING:
    from bestia_env import Policy

__all__ = ["CARD", "content_hash", "file_version", "is_file_agent", "load_agent", "write_card"]

CARD = "card.toml"
KINDS = ("net", "python", "sb3")
_KEYS = {"format", "name", "version", "kind", "file", "attribute", "rules", "about"}
_TABLES = {"training", "bench_v1", "behaviour"}  # what a card tells people


def is_file_agent(spec: str) -> bool:
    """Whether a text names an agent in a file: it ends in ``.zip``, or is a path to a folder."""
    return spec.endswith(".zip") or "/" in spec or "\\" in spec or (Path(spec) / CARD).is_file()


def load_agent(spec: str) -> Policy:
    """The agent of a file, not yet bound to rules.

    Raises:
        BestiaError: no such file, or a card that cannot be read.
    """
    path = Path(spec)
    if spec.endswith(".zip"):
        if not path.is_file():
            raise BestiaError(f"agent {spec!r}; no such file")
        return _sb3(path)
    card = _card(path)
    file = path / card["file"]
    if card["kind"] == "sb3":
        return _sb3(file)
    if card["kind"] == "net":
        return NetPolicy.load(file)
    return _python(file, card["attribute"], path)


def file_version(spec: str) -> str:
    """The version its card states, and a hash of the model, or of all files in the folder.

    Raises:
        BestiaError: see :func:`load_agent`.
    """
    path = Path(spec)
    if path.is_file():
        return f"not stated, content {content_hash([path])}"
    stated = _card(path)["version"]
    files = sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return f"{stated}, content {content_hash(files)}"


def write_card(folder: Path, **told: str) -> None:
    """Writes the card of a folder: name, version, kind, file, and what else a card may hold."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in told.items()]
    (folder / CARD).write_text("".join(["format = 1\n", *lines]), encoding="utf-8")


def content_hash(files: list[Path]) -> str:
    """A hash of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _card(folder: Path) -> dict[str, Any]:
    """A card as a dict, checked."""
    file = folder / CARD
    if not file.is_file():
        raise BestiaError(f"agent {str(folder)!r}; allowed is a folder with a {CARD}, or a .zip")
    try:
        card = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BestiaError(f"{file}: {error}") from error
    if unknown := sorted(set(card) - _KEYS - _TABLES):
        raise BestiaError(f"{file}: key {unknown[0]!r}; allowed are {', '.join(sorted(_KEYS))}")
    needed = ["name", "version", "kind", "file", *(["attribute"] if card.get("kind") == "python" else [])]
    for key in needed:
        if not isinstance(card.get(key), str) or not card[key]:
            raise BestiaError(f"{file}: {key}={card.get(key)!r}; allowed is a text")
    if card["kind"] not in KINDS:
        raise BestiaError(f"{file}: kind={card['kind']!r}; allowed are {', '.join(KINDS)}")
    if card.get("format", 1) != 1:
        raise BestiaError(f"{file}: format={card['format']!r}; allowed is 1")
    named = folder / card["file"]
    if not named.is_file() or folder.resolve() not in named.resolve().parents:
        raise BestiaError(f"{file}: file={card['file']!r}; allowed is a file in the folder")
    return card


def _python(file: Path, attribute: str, folder: Path) -> Policy:
    """``attribute`` of a Python file, called with the folder it stands in."""
    name = f"bestia_agent_{content_hash([file])}"
    specification = importlib.util.spec_from_file_location(name, file)
    if specification is None or specification.loader is None:
        raise BestiaError(f"{file}; allowed is a Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if not hasattr(module, attribute):
        raise BestiaError(f"{file} has no {attribute!r}; allowed is a class or function of that file")
    policy: Policy = getattr(module, attribute)(folder)
    return policy


def _sb3(file: Path) -> Policy:
    try:
        from agents.sb3 import SB3Policy
    except ImportError as error:
        raise BestiaError(
            f"agent {str(file)!r} needs Stable-Baselines3 ({error}); get it with the extra train"
        ) from error
    return SB3Policy(file)
