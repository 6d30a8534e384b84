"""``jit_for``: the one way this package compiles a function, with a cache on disk that never serves old rules.

Numba's own ``cache=True`` is not safe for an engine that is spread over several files:

* it stamps a compiled function with the bytes of the *one* file it stands in. Its machine code also holds everything
  it calls, so after an edit or an upgrade that touches only a called file, the old rules go on being played;
* it keys a closure by the pickle of its cells. The pickle of a compiled function differs from process to process, so
  loops made by a factory are compiled anew every time and leave new files behind every time;
* it writes an index before the data the index names, and numbers the data files. Two processes that start cold
  together can make the index of one point at the machine code of the other;
* it raises at import when no cache folder is writable.

So only Numba's choice of folder (``NUMBA_CACHE_DIR``, else ``__pycache__``, else the user's cache folder) and its way
to turn a compiled function into bytes are used here. Each compiled signature is one file, written under another name
and then moved into place, and its name is ``<family>-<module>.<function>-<stamp>-<key>.nbc``:

* *stamp* is the hash of every source file that can end up in the family's machine code. The family is named by the
  caller and not derived from what a function refers to, which goes wrong as soon as one closure hides another;
* *key* is the hash of what else decides the machine code: signature, processor, versions, Numba's flags, closure cells.

A file of another stamp is never read and is deleted when its function is next saved. Whatever goes wrong with the
cache costs a compilation and nothing else.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import pickle
import sys
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

SHARED = "shared"
"""The family name for the compiled functions in ``SHARED_FILES``."""

SHARED_FILES = ("_jit.py", "_bits.py", "_loops.py", "cards.py", "family.py", "rng.py", "session.py")
"""Files of this folder that compiled code may use, if only for a constant. They import no family. A test finds
imports that this list forgot."""

_PACKAGE = Path(__file__).resolve().parent

# The names in numba.config that change the machine code; one that a version does not know does no harm.
_FLAGS = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML",
    "ENABLE_PROFILING",
    "EXTEND_VARIABLE_LIFETIMES",
    "JIT_COVERAGE",
    "LLVM_REFPRUNE_FLAGS",
    "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
)


@dataclass
class _Family:
    """What this process knows of one family; ``uncached`` says why its code is not kept, if so."""

    name: str
    dispatchers: list[Any] = field(default_factory=list)
    uncached: str = ""
    announced: bool = False

    def announce(self) -> None:
        """Say on stderr, once, why the user is waiting.

        Not by ``logging`` or ``warnings``: the first is silent unless set up and the second is an error in many test
        suites, while half a minute without a word looks like a hang.
        """
        if self.announced or self.name == SHARED:
            return
        self.announced = True
        how_often = f"in every process, because {self.uncached}" if self.uncached else "once per version"
        with suppress(AttributeError, OSError, ValueError):  # no stderr, or a closed one
            sys.stderr.write(f"bestia_env: compiling the {self.name} engine, {how_often} (up to half a minute) ...\n")
            sys.stderr.flush()


# Per process, as the compiled functions are: a file's content when its code was first loaded, and the families.
_first_seen: dict[Path, str] = {}
_families: dict[str, _Family] = {}


def jit_for(family: str, *more_files: str) -> Callable[[F], F]:
    """The decorator that compiles a function of ``family``, a folder of this package or ``SHARED``.

    Call it at the top of each module that has compiled functions, after its imports: ``jit = jit_for("rams")``.
    Functions drop the GIL. With ``NUMBA_DISABLE_JIT=1`` they stay as they are.

    Args:
        family: whose sources the compiled code is made of.
        more_files: source files outside the family's folder that belong to it too (``__file__``, in an agent that
            compiles). A function from a file that is not among the sources is compiled but not cached.

    Raises:
        ValueError: there is no such family folder.
    """
    numba = importlib.import_module("numba")
    entry = _families.setdefault(family, _Family(family))
    sources = _sources(family, more_files)
    stamp = _stamp(sources)
    if not stamp:
        entry.uncached = "its source files are missing or changed under it"

    def decorate(function: F) -> F:
        if numba.config.DISABLE_JIT:
            return function
        # Without the wrapper for callers in C, a tenth less to compile. The one for Python must stay: Numba calls it
        # unchecked, and a missing one crashes the process.
        dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
        _widen_arguments(dispatcher)
        _spare_collector(dispatcher)
        entry.dispatchers.append(dispatcher)
        plain = cast(FunctionType, function)
        if _is_from(sources, plain):
            dispatcher._cache = _Cache(plain, entry, stamp, sources)
        return cast(F, dispatcher)

    return decorate


def _widen_arguments(dispatcher: Any) -> None:
    """One signature a function, wherever it is called from: constants and small integers arrive as int64.

    Numba compiles a function again for every constant and every width of integer that its callers pass; that was a
    fifth of the engine's compile time.
    """
    with suppress(ImportError, AttributeError):
        types = importlib.import_module("numba.core.types")
        template = dispatcher.get_call_template

        def widened(argument: Any) -> Any:
            plain = types.unliteral(argument)
            small = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth < 64
            return types.int64 if small else plain

        def widened_template(args: Any, kws: Any) -> Any:
            return template(tuple(map(widened, args)), {name: widened(value) for name, value in kws.items()})

        dispatcher.get_call_template = widened_template


def _spare_collector(dispatcher: Any) -> None:
    """No garbage collection while a function is compiled or loaded: it costs a sixth of the time and frees nothing."""
    compile_now = dispatcher.compile

    def compile_all(signature: Any) -> Any:
        if not gc.isenabled():
            return compile_now(signature)
        gc.disable()
        try:
            return compile_now(signature)
        finally:
            gc.enable()

    dispatcher.compile = compile_all


def cache_misses(family: str) -> int:
    """How many signatures of the family this process had to compile."""
    return sum(sum(d.stats.cache_misses.values()) for d in _families[family].dispatchers)


def cache_hits(family: str) -> int:
    """How many signatures of the family this process took from the cache."""
    return sum(sum(d.stats.cache_hits.values()) for d in _families[family].dispatchers)


def _sources(family: str, more_files: Iterable[str]) -> frozenset[Path]:
    """All source files whose code can become part of the family's machine code."""
    shared = (_PACKAGE / name for name in SHARED_FILES)
    own = _PACKAGE / family
    if family != SHARED and _PACKAGE.is_dir() and not own.is_dir():
        raise ValueError(f"family is {family!r}; allowed are {SHARED!r} and the folders of {_PACKAGE.name}")
    files = [*(path for path in shared if path.is_file()), *own.rglob("*.py"), *map(Path, more_files)]
    return frozenset(path.resolve() for path in files)


def _stamp(sources: frozenset[Path]) -> str:
    """Hash of the sources, or "" when this process may have loaded other code than the files now hold."""
    if not sources:
        return ""
    lines = []
    for path in sorted(sources):
        try:
            content = _hash(path.read_bytes())
        except OSError:
            return ""
        if _first_seen.setdefault(path, content) != content:
            return ""
        lines.append(f"{path.parent.name}/{path.name} {content}")
    return _hash("\n".join(lines).encode())


def _is_from(sources: frozenset[Path], function: FunctionType) -> bool:
    return Path(function.__code__.co_filename).resolve() in sources


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class _Cache:
    """The cache of one function, in the shape that Numba's dispatcher expects."""

    cache_path: str | None = None

    def __init__(self, function: FunctionType, family: _Family, stamp: str, sources: frozenset[Path]) -> None:
        self._function, self._family, self._stamp, self._sources = function, family, stamp, sources
        name = f"{family.name}-{function.__module__}.{function.__qualname__}-"
        self._name = name.replace("<", "").replace(">", "")  # of "<locals>": not allowed in names on Windows
        self._pruned = False
        if not stamp:
            return
        try:
            caching = importlib.import_module("numba.core.caching")
            impl = caching.CompileResultCacheImpl(function)
            self._reduce, self._rebuild, self._cachable = impl.reduce, impl.rebuild, impl.check_cachable
            self._dumps = caching.dumps
            self.cache_path = impl.locator.get_cache_path()
        except (ImportError, AttributeError, TypeError):
            family.uncached = "this version of Numba is not known"
        except RuntimeError:
            family.uncached = "no cache folder is writable (NUMBA_CACHE_DIR can name one)"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled function, or None for a miss: Numba then compiles and calls ``save_overload``."""
        result = None
        if self.cache_path is not None:
            target.refresh()
            with suppress(Exception):  # no file, half a file, a file of another build: compile
                key = self._key(signature, target.codegen())
                found, data = pickle.loads(self._path(key).read_bytes())
                result = self._rebuild(target, data) if found == key else None
        if result is None:
            self._family.announce()
        return result

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled function, delete those of other stamps."""
        if self.cache_path is None or not self._cachable(compiled):
            return
        with suppress(Exception):  # a full disk, a folder that went away, another process that prunes
            key = self._key(signature, compiled.codegen)
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{uuid.uuid4().hex[:8]}.tmp")
            try:
                part.write_bytes(self._dumps((key, self._reduce(compiled))))
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
            if not self._pruned:
                self._pruned = True
                self._delete(lambda stamp_and_key: not stamp_and_key.startswith(self._stamp))

    def flush(self) -> None:
        """Forget the saved functions (``Dispatcher.recompile`` asks for it)."""
        if self.cache_path is not None:
            self._delete(lambda stamp_and_key: True)

    def _delete(self, doomed: Callable[[str], bool]) -> None:
        """Delete files of this function and no other (names of modules and functions hold no "-")."""
        for path in Path(str(self.cache_path)).iterdir():
            if path.name.startswith(self._name) and doomed(path.name.removeprefix(self._name)):
                with suppress(OSError):  # another process was faster, or still has it open
                    path.unlink()

    def _path(self, key: tuple[Any, ...]) -> Path:
        return Path(str(self.cache_path)) / f"{self._name}{self._stamp}-{_hash(repr(key).encode())}.nbc"

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        numba, numpy = importlib.import_module("numba"), importlib.import_module("numpy")
        flags = tuple(f"{name}={getattr(numba.config, name, None)}" for name in _FLAGS)
        build = (sys.implementation.cache_tag, sys.flags.optimize, numba.__version__, numpy.__version__)
        return (signature, codegen.magic_tuple(), build, flags, self._describe(self._function, ()))

    def _describe(self, value: Any, outer: tuple[Any, ...]) -> str:
        """A text for a value in a closure that is the same in every process. Functions are told by their name."""
        if isinstance(value, tuple):
            return f"({','.join(self._describe(item, outer) for item in value)})"
        function = getattr(value, "py_func", value)
        if not isinstance(function, FunctionType):
            return _hash(self._dumps(value))
        if not _is_from(self._sources, function):  # then its name says nothing about its code
            raise ValueError(f"{function.__qualname__} is from a file outside the stamp")
        code = function.__code__
        cells = () if function in outer else function.__closure__ or ()
        inside = [self._describe(cell.cell_contents, (*outer, function)) for cell in cells]
        return f"{function.__module__}.{function.__qualname__}:{code.co_firstlineno}:{_hash(code.co_code)}{inside}"
