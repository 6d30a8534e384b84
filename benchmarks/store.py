"""What a run leaves on disk: a manifest, the block table and a summary; and how a run that was killed goes on.

A folder holds one run. Blocks are kept in parts as they are finished and put together at the end; every file is
written under another name and then moved into place, so a kill at any moment loses at most the part being played.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from bestia_env import BestiaError

if TYPE_CHECKING:
    from bestia_env import SessionConfig

__all__ = [
    "BLOCKS",
    "BLOCK_TABLE",
    "MANIFEST",
    "SUMMARY",
    "RunFolder",
    "code_hash",
    "git_revision",
    "session_values",
    "source_hash",
]

MANIFEST = "manifest.json"
BLOCKS = "blocks"
"""The kind of table that every part of a run has."""

BLOCK_TABLE = f"{BLOCKS}.parquet"
SUMMARY = "summary.json"
PARTS = "parts"

_ROOT = Path(__file__).resolve().parents[1]
_DECIDING = ("bestia_env", "agents", "benchmarks")
"""The folders whose sources decide the numbers of a run; whole, so that no file can be forgotten."""

_PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


def code_hash() -> str:
    """A hash of the sources that decide the numbers of a run."""
    digest = hashlib.sha256()
    for name in _DECIDING:
        for file in sorted((_ROOT / name).rglob("*")):
            if file.suffix in (".py", ".json"):
                digest.update(f"{file.relative_to(_ROOT).as_posix()}\n".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def source_hash(modules: Iterable[str]) -> str:
    """A hash of the files that modules stand in. What these files import or read in turn is not part of it."""
    digest = hashlib.sha256()
    for name in modules:
        file = getattr(import_module(name), "__file__", None)
        digest.update(f"{name}\n".encode())
        if file is not None and Path(file).is_file():
            digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return digest.hexdigest()[:16]


def git_revision() -> str:
    """The checkout's revision, ``+changes`` if files differ from it, ``unknown`` outside a checkout."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(_ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()

    try:
        revision = git("rev-parse", "HEAD")
        return f"{revision}+changes" if git("status", "--porcelain") else revision
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def session_values(session: SessionConfig) -> dict[str, Any]:
    """A session as JSON-able values."""
    values = asdict(session)
    carry = values["carry"]
    if isinstance(carry, range):
        values["carry"] = {"range": [carry.start, carry.stop, carry.step]}
    return values


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


class RunFolder:
    """The folder of one run.

    Args:
        path: the folder; it is made when the run begins.
        identity: what decides the numbers of the run; a folder that holds another run is refused.

    Raises:
        BestiaError: the folder holds another run, or files that are none. Nothing has been written then.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.identity = json.loads(json.dumps(identity))
        self._manifest = self._read_manifest()

    def _read_manifest(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise BestiaError(f"out={str(self.path)!r} is a file; allowed is a folder, new or with this run")
        file = self.path / MANIFEST
        if not file.exists():
            leftovers = [entry.name for entry in self.path.iterdir() if not entry.name.endswith(".tmp")]
            if leftovers:
                raise BestiaError(
                    f"out={str(self.path)!r} holds {leftovers[0]!r} and no {MANIFEST}; "
                    "allowed is a folder that is new, empty, or holds this run"
                )
            return None
        try:
            manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            found = dict(manifest["identity"])
        except (ValueError, KeyError, TypeError) as error:
            raise BestiaError(
                f"out={str(self.path)!r}: {MANIFEST} cannot be read ({error}); name another folder"
            ) from error
        for key in sorted({*found, *self.identity}):
            if found.get(key) != self.identity.get(key):
                raise BestiaError(
                    f"out={str(self.path)!r} holds another run: its {key} is {found.get(key)!r}, "
                    f"here it is {self.identity.get(key)!r}; name another folder, or remove this one to run anew"
                )
        return manifest

    # --- a run from beginning to end --------------------------------------------------------------------------------

    def begin(self, command: str) -> None:
        """Makes the folder and its manifest, unless the run has begun already."""
        if self._manifest is None:
            self._manifest = {
                "identity": self.identity,
                "command": command,
                "revision": git_revision(),
                "packages": _versions(),
                "time": {"begun": _now(), "finished": None},
            }
            self.path.mkdir(parents=True, exist_ok=True)
            self._write_json(MANIFEST, self._manifest)  # first, so that a folder with parts always says whose they are
        if not self.finished:
            (self.path / PARTS).mkdir(exist_ok=True)

    @property
    def manifest(self) -> dict[str, Any] | None:
        """The manifest, None before the run has begun."""
        return self._manifest

    @property
    def finished(self) -> bool:
        """Whether the whole block table is there."""
        return (self.path / BLOCK_TABLE).exists()

    def has_part(self, name: str, kind: str = BLOCKS) -> bool:
        """Whether a part was finished, judged by its last table; a file that a full disk cut off does not count."""
        try:
            pq.read_metadata(self._part(name, kind))
        except (OSError, pa.ArrowInvalid):
            return False
        return True

    def write_part(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Keeps the tables of one part by kind, in the order given: the last one says that the part is whole."""
        for kind, table in tables.items():
            self._write_table(self._part(name, kind), table)

    def read_parts(self, names: Iterable[str], kind: str = BLOCKS) -> list[pa.Table]:
        """The tables of one kind in some parts, in the order given; parts without that kind have none."""
        files = [self._part(name, kind) for name in names]
        return [pq.read_table(file) for file in files if file.exists()]

    def keep_part(self, name: str, kind: str) -> None:
        """Moves a table of a part to a folder of its kind, where it stays; nothing to do if there is none."""
        source = self._part(name, kind)
        if source.exists():
            (self.path / kind).mkdir(exist_ok=True)
            os.replace(source, self.path / kind / f"{name}.parquet")

    def write_text(self, name: str, text: str) -> None:
        """Writes a text file of the run, folders included."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.tmp")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)

    def finish(self, tables: Mapping[str, pa.Table]) -> None:
        """Writes the whole tables by kind, the blocks last, and removes the parts."""
        for kind in sorted(tables, key=lambda kind: kind == BLOCKS):
            self._write_table(self.path / f"{kind}.parquet", tables[kind].combine_chunks())
        if self._manifest is not None and self._manifest["time"]["finished"] is None:
            self._manifest["time"]["finished"] = _now()
            self._write_json(MANIFEST, self._manifest)
        shutil.rmtree(self.path / PARTS, ignore_errors=True)

    def table(self, kind: str = BLOCKS) -> pa.Table | None:
        """A table of a finished run; None if it has none of that kind."""
        file = self.path / f"{kind}.parquet"
        return pq.read_table(file) if file.exists() else None

    def summary(self) -> dict[str, Any] | None:
        """The summary on disk; None before there is one."""
        try:
            summary: dict[str, Any] = json.loads((self.path / SUMMARY).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return summary

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Keeps the means and intervals."""
        self._write_json(SUMMARY, summary)

    # --- files ------------------------------------------------------------------------------------------------------

    def _part(self, name: str, kind: str) -> Path:
        return self.path / PARTS / f"{name}.{kind}.parquet"

    def _write_json(self, name: str, value: Mapping[str, Any]) -> None:
        self.write_text(name, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def _write_table(self, path: Path, table: pa.Table) -> None:
        beside = path.with_name(f"{path.name}.tmp")
        pq.write_table(table, beside, compression="zstd")
        os.replace(beside, path)
