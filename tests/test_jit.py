"""The compile cache never serves old rules: new processes run a toy package that holds the real ``_jit.py``."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bestia_env"

TOY = {
    "__init__.py": "",
    "aec.py": "UNRELATED = 1\n",
    "rng.py": """
from bestia_env._jit import jit_for
jit = jit_for("shared")

@jit
def noise(x):
    return x * 1000
""",
    "_loops.py": """
from bestia_env._jit import jit_for

def make(family, play, step):
    @jit_for(family)
    def loop(values):
        total = 0
        for value in values:
            total += play(value) * step
        return total
    return loop
""",
    "rams/__init__.py": "",
    "rams/rules.py": "BONUS = 1\n",
    "rams/helper.py": """
from bestia_env._jit import jit_for
from bestia_env.rams.rules import BONUS
from bestia_env.rng import noise
jit = jit_for("rams")

@jit
def bonus(x):
    return x + BONUS + noise(0)

@jit
def malus(x):
    return x - BONUS

@jit
def peek(values, index):
    return values[index]
""",
    "rams/loops.py": """
from bestia_env._loops import make
from bestia_env.rams.helper import bonus, malus, peek
up, down, wide = make("rams", bonus, 1), make("rams", malus, 1), make("rams", bonus, 2)
""",
    "briscola/__init__.py": "",
    "briscola/loops.py": """
from bestia_env._jit import jit_for
from bestia_env._loops import make

@jit_for("briscola")
def bonus(x):
    return -x

up = make("briscola", bonus, 1)
""",
}

PLAY = """
import numpy as np
from bestia_env.rams.loops import down, peek, up, wide
values = np.array([10, 20, 30], dtype=np.int64)
answer = [int(f(values)) for f in (up, down, wide)]
"""
COLD_ANSWER = [63, 57, 126]
NOTICE = "bestia_env: compiling the rams engine"

REPORT = """
import json, sys
from bestia_env import _jit
known = sorted(_jit._families)
counts = {f: [_jit.cache_hits(f), _jit.cache_misses(f)] for f in known}
print(json.dumps({"answer": answer, "counts": counts, "file": _jit.__file__}))
"""


@dataclass
class Run:
    """What one process printed."""

    answer: Any
    hits: int
    misses: int
    stderr: str


@dataclass
class Toy:
    """A small package named like the real one, in a folder of its own."""

    root: Path

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / "bestia_env" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def start(self, code: str, **env: str) -> subprocess.Popen[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PYTHON", "XDG_"))}
        # No .pyc files: Python tells them apart by whole seconds and size, and these edits are faster than that.
        clean |= {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(self.root / "home")} | env
        command = [sys.executable, "-W", "error", "-c", code + REPORT]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.root, env=clean, stdout=pipe, stderr=pipe, text=True)

    def finish(self, process: subprocess.Popen[str]) -> Run:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        report = json.loads(out)
        assert Path(report["file"]).is_relative_to(self.root)
        hits, misses = (sum(pair[i] for pair in report["counts"].values()) for i in (0, 1))
        return Run(report["answer"], hits, misses, err)

    def run(self, code: str = PLAY, **env: str) -> Run:
        return self.finish(self.start(code, **env))

    def cache_files(self) -> list[Path]:
        return sorted(self.root.rglob("*.nbc"))


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    package = tmp_path / "bestia_env"
    for name, text in TOY.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(PACKAGE / "_jit.py", package)
    return Toy(tmp_path)


def test_warm_process_compiles_nothing_and_says_nothing(toy: Toy) -> None:
    cold, warm = toy.run(), toy.run()
    # Three loops, two rules of the game, one shared function: each a signature, each closure told from its sisters.
    assert (cold.answer, cold.hits, cold.misses) == (COLD_ANSWER, 0, 6)
    assert cold.stderr.count("\n") == 1
    assert cold.stderr.startswith(f"{NOTICE}, once per version")
    # A loop's machine code holds what it calls, so the three loops are all there is to load.
    assert (warm.answer, warm.hits, warm.misses, warm.stderr) == (COLD_ANSWER, 3, 0, "")


def test_edits_are_seen_and_old_files_pruned(toy: Toy) -> None:
    toy.run()
    files = len(toy.cache_files())
    toy.edit("rams/rules.py", "BONUS = 1", "BONUS = 2")
    assert toy.run().answer == [66, 54, 132], "a constant in another file"
    toy.edit("rams/helper.py", "return x - BONUS", "return x - 2 * BONUS")
    assert toy.run().answer == [66, 48, 132], "a called function in another file"
    toy.edit("rng.py", "x * 1000", "x + 1000")
    assert toy.run().answer == [3066, 48, 6132], "a shared function two calls deep"
    assert len(toy.cache_files()) == files

    toy.edit("rng.py", "x + 1000", "x * 1000")
    toy.edit("rams/helper.py", "return x - 2 * BONUS", "return x - BONUS")
    toy.edit("rams/rules.py", "BONUS = 2", "BONUS = 1")
    back = toy.run()
    assert (back.answer, back.misses) == (COLD_ANSWER, 6)
    toy.edit("aec.py", "UNRELATED = 1", "UNRELATED = 2")
    toy.edit("briscola/loops.py", "return -x", "return -2 * x")
    assert toy.run().misses == 0, "files outside the family do not count"
    assert len(toy.cache_files()) == files


def test_edit_under_a_running_process_is_not_saved_as_the_new_version(toy: Toy) -> None:
    loaded_before = "import bestia_env.rams.helper\n"
    write = "from pathlib import Path; p = Path('bestia_env/rams/rules.py'); p.write_text('BONUS = 2')\n"
    changed = toy.run(loaded_before + write + PLAY)
    assert changed.answer == COLD_ANSWER, "the rules it loaded"
    assert "in every process, because its source files are missing or changed" in changed.stderr
    assert toy.run().answer == [66, 54, 132], "the rules on disk"


def test_families_do_not_share_the_files_of_a_factory(toy: Toy) -> None:
    both = PLAY + "from bestia_env.briscola.loops import up\nanswer.append(int(up(values)))\n"
    assert toy.run(both).answer == [*COLD_ANSWER, -60]
    warm = toy.run(both)
    assert (warm.answer, warm.misses) == ([*COLD_ANSWER, -60], 0)
    loops = {path.name.split("-")[0] for path in toy.cache_files() if "make.locals.loop" in path.name}
    assert loops == {"rams", "briscola"}


def test_no_writable_folder_compiles_uncached(toy: Toy) -> None:
    # A regular file where a folder should be stops root as well, whom permission bits do not.
    blocked = toy.root / "file"
    blocked.touch()
    for folder in ("bestia_env", "bestia_env/rams"):
        (toy.root / folder / "__pycache__").touch()
    below = str(blocked / "cache")
    run = toy.run(HOME=below, XDG_CACHE_HOME=below, LOCALAPPDATA=below, NUMBA_CACHE_DIR=below)
    assert (run.answer, run.misses) == (COLD_ANSWER, 6)
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith(f"{NOTICE}, in every process, because no cache folder is writable")
    assert not toy.cache_files()


def test_read_only_package_uses_the_folder_of_the_user_or_the_named_one(toy: Toy) -> None:
    for folder in ("bestia_env", "bestia_env/rams"):
        (toy.root / folder / "__pycache__").touch()
    assert toy.run().misses == 6
    assert toy.run().misses == 0
    files = toy.cache_files()
    assert all(path.is_relative_to(toy.root / "home") for path in files)
    toy.run(NUMBA_CACHE_DIR=str(toy.root / "named"))
    assert len(list((toy.root / "named").rglob("*.nbc"))) == len(files)


def test_unknown_numba_compiles_uncached(toy: Toy) -> None:
    run = toy.run("import numba.core.caching as c; del c.CompileResultCacheImpl\n" + PLAY)
    assert run.answer == COLD_ANSWER
    assert "this version of Numba is not known" in run.stderr
    assert not toy.cache_files()


def test_broken_cache_files_cost_a_compilation_only(toy: Toy) -> None:
    toy.run()
    for path in toy.cache_files():
        path.write_bytes(path.read_bytes()[:100])
    run = toy.run()
    assert (run.answer, run.misses) == (COLD_ANSWER, 6)
    assert all(path.stat().st_size > 100 for path in toy.cache_files()), "and are replaced"


def test_no_jit_mode_gives_the_same_result(toy: Toy) -> None:
    plain = "import types\nassert isinstance(up, types.FunctionType)\n"
    run = toy.run(PLAY + plain, NUMBA_DISABLE_JIT="1")
    assert (run.answer, run.stderr) == (COLD_ANSWER, "")


def test_bounds_checks_never_run_the_other_modes_code(toy: Toy) -> None:
    beyond = """
import numpy as np
from bestia_env.rams.helper import peek
try:
    answer = int(peek(np.arange(8)[:4], 5))  # past the end of the slice, within the memory of its base
except IndexError:
    answer = "IndexError"
"""
    runs = [toy.run(beyond, **env) for env in ({}, {"NUMBA_BOUNDSCHECK": "1"}) * 2]
    assert [run.answer for run in runs] == [5, "IndexError"] * 2
    assert [run.misses for run in runs] == [1, 1, 0, 0], "the modes keep their files side by side"


def test_two_cold_processes_at_once(toy: Toy) -> None:
    together = [toy.start(PLAY) for _ in range(2)]
    assert [toy.finish(process).answer for process in together] == [COLD_ANSWER] * 2
    warm = toy.run()
    assert (warm.answer, warm.misses) == (COLD_ANSWER, 0)


def test_foreign_functions_are_compiled_but_not_cached_unless_named(toy: Toy) -> None:
    agent = """
from bestia_env._jit import jit_for
from bestia_env._loops import make
from bestia_env.rams.helper import bonus

@jit_for("rams"ALSO)
def twice(x):
    return 2 * bonus(x)
"""
    use = "from agent import make, twice\nimport numpy as np\n"
    call = "answer = [int(twice(10)), int(make('rams', twice, 1)(np.array([10, 20])))]\n"
    (toy.root / "agent.py").write_text(agent.replace("ALSO", ", __file__"))
    assert toy.run(use + call).answer == [22, 64]
    named = toy.run(use + call)
    assert (named.answer, named.misses) == ([22, 64], 1), "twice is cached; the loop is not: its stamp lacks agent.py"
    files = toy.cache_files()
    assert not [path for path in files if "loop" in path.name]

    (toy.root / "agent.py").write_text(agent.replace("ALSO", ""))
    foreign = toy.run(use + "answer = int(twice(10))\n")
    assert (foreign.answer, foreign.hits, foreign.misses) == (22, 1, 1)
    assert foreign.stderr == "", "the engine itself was not compiled"
    assert toy.cache_files() == files


def test_import_is_free_of_numba_and_a_wrong_family_is_an_error(toy: Toy) -> None:
    code = """
import sys
from bestia_env._jit import jit_for
answer = ["numba" in sys.modules]
try:
    jit_for("rmas")
except ValueError as error:
    answer.append(str(error))
"""
    answer = toy.run(code).answer
    assert answer[0] is False
    assert "'rmas'" in answer[1]


def test_compiled_modules_import_only_what_their_stamp_covers() -> None:
    """A file of the package that a family compiles in, but the stamp does not cover, would bring old rules back."""
    shared = _shared_files()
    compiled = [path for path in PACKAGE.rglob("*.py") if "jit_for(" in path.read_text() and path.name != "_jit.py"]
    assert compiled
    for path in compiled:
        family = path.parent.name if path.parent != PACKAGE else None
        assert family or path.name in shared, f"{path.name} has compiled functions, so SHARED_FILES must name it"
        for module in _package_imports(path):
            head, _, _ = module.partition(".")
            assert head == family or f"{head}.py" in shared, f"{path} imports {module}"


def _shared_files() -> tuple[str, ...]:
    tree = ast.parse((PACKAGE / "_jit.py").read_text())
    values = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "SHARED_FILES"]
    names: tuple[str, ...] = ast.literal_eval(values[0])
    return names


def _package_imports(path: Path) -> list[str]:
    """The modules of this package that a file imports, as written after ``bestia_env.``."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = str(node.module)
            found += [f"{module}.{alias.name}" for alias in node.names] if module == "bestia_env" else [module]
    return [name.removeprefix("bestia_env.") for name in found if name.startswith("bestia_env.")]
