"""What a user installs: the wheel, its metadata, what importing it costs, and which way the imports point."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import bestia_env
from bestia_env._jit import SHARED_FILES

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

LABORATORY = {"agents", "training", "benchmarks", "tests", "docs"}
"""Top-level names of a checkout that the wheel must not bring."""

HEAVY = {"numba", "llvmlite", "torch", "pygame", "pettingzoo", "pyarrow", "scipy", "pyspiel", "open_spiel"}
"""Packages that cost more to import than a user who asks for the list of games should wait."""

FAMILIES = {"rams", "bettelmann"}
FAMILY_MAY_IMPORT = {"_bits", "_jit", "_loops", "cards", "errors", "family", "presets", "rng", "session"}
"""Modules of the library that a family folder may import, besides its own: rules and compiled code, no environment."""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        pytest.fail(f"{Path(command[0]).name} {command[1]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


# --- the wheel ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist and the wheel, as they would be published: the wheel is built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


def test_sdist_holds_the_checkout_and_nothing_else(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    allowed = LABORATORY | {"bestia_env"}
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert {"bestia_env", "tests"} <= folders <= allowed
    files = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "constraints.txt", "pyproject.toml"}
    assert files <= {name for name in names if "/" not in name} <= {*files, ".gitignore", "PKG-INFO"}
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_wheel_holds_the_library_alone(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert tops == {"bestia_env", f"bestia_env-{bestia_env.__version__}.dist-info"}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "bestia_env").rglob("*.py")}
    assert sources <= names, "modules that did not get into the wheel"
    assert "bestia_env/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".nbi", ".nbc"))]


SECTION_8_1 = '''
import importlib.util
import json
import sys

import bestia_env
from bestia_env import SessionConfig

assert "bestia" in bestia_env.variants()
low, high = bestia_env.player_range("bestia")
assert (low, high) == (3, 10)
rules = bestia_env.make_rules("bestia", num_players=5, penalty_cap=30)
assert rules.num_players == 5 and bestia_env.parse_rules(str(rules)) == rules

# the worked deal of the format, played by hand in the AEC env
deal = {
    "dealer": 0, "carry": 6, "turn_up": "5h",
    "hands": ["2c 2s 6c", "Kh 7s 2d", "4c 5c 6d", "As 3d 4h"], "stock": "5s Qc Jc",
}
actions = [
    "1 knock", "2 pass", "3 knock", "0 pass", "2 draw", "0 pass", "1 play 7s", "2 play 5s", "3 play As",
    "3 play 3d", "1 play 2d", "2 play Jc", "3 play 4h", "1 play Kh", "2 play Qc",
]
env = bestia_env.aec_env(
    "bestia", num_players=4, session=SessionConfig(num_deals=1), reward="chips", illegal_action="raise",
    render_mode=None, ante=3,
)
env.reset(seed=1, options=deal)
assert (env.pot, env.rules.num_players) == (9, 4) and env.phase is not None
paid = dict.fromkeys(env.possible_agents, 0)
for line in actions:
    seat, text = line.split(" ", 1)
    assert env.agent_selection == f"player_{seat}", (line, env.agent_selection)
    action = env.action_of(text)
    assert env.text_of(action) == text
    observation = env.last()[0]
    assert observation["action_mask"][action] == 1
    env.view(env.agent_selection), env.full_state()
    env.step(action)
    for agent, chips in env.rewards.items():
        paid[agent] += chips
assert list(paid.values()) == [-3, 3, -9, 6], paid
assert env.carry == 9

# the same deal as a record on disk
with open("deal.toml", "w", encoding="utf-8") as file:
    file.write(f"""format = 1
rules = {json.dumps(str(env.rules))}
dealer = 0
carry = 6
turn_up = "5h"
hands = {json.dumps(deal["hands"])}
stock = "5s Qc Jc"
actions = {json.dumps(actions)}
[result]
winners = [3, 3, 1]
net = [-3, 3, -9, 6]
carry_after = 9
""")
result = bestia_env.load_record("deal.toml").replay()
assert [list(map(int, result.winners)), list(map(int, result.net))] == [[3, 3, 1], [-3, 3, -9, 6]]
assert int(result.carry_after) == 9

# many games at once
batch = bestia_env.GameBatch("bestia", num_games=64, num_players=5, seed=7)
batch.reset(rows=None, deals=None)
ended = 0
for _ in range(60):
    views = batch.view(seats=None)
    assert batch.legal().shape[0] == len(views) == len(batch.encode(views)) == 64
    batch.step(batch.random_actions())
    over = batch.done | batch.truncated
    ended += int(over.sum())
    assert batch.rewards.shape == batch.scores.shape == (64, 5)
assert ended > 0
assert batch.clone([0, 1], 3).states.shape[0] == 6

# one learner among policies
import gymnasium

one = gymnasium.make("bestia_env:bestia/tippen-v0", num_players=4, opponents=["random"] * 3)
observation, info = one.reset(seed=1)
assert set(observation) == {"observation", "action_mask"} and info["action_mask"].any()
many = gymnasium.make_vec("bestia_env:bestia/tippen-v0", num_envs=8, opponents="random")
observations, infos = many.reset(seed=1)
many.step(observations["action_mask"].argmax(axis=1))

# a folder without code is somebody else's: TorchRL's wheel leaves one called benchmarks
found = [importlib.util.find_spec(name) for name in ("agents", "training", "benchmarks")]
assert not [spec for spec in found if spec is not None and spec.origin is not None], found
print(json.dumps({"version": bestia_env.__version__, "file": bestia_env.__file__}))
'''


def test_installed_wheel_plays(wheel: Path, tmp_path: Path) -> None:
    """Section 8.1 of the design, from a wheel in an environment that has the dependencies and no checkout."""
    home = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=tmp_path)
    (python,) = [p for p in (home / "bin/python", home / "Scripts/python.exe") if p.exists()]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel), cwd=tmp_path)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=tmp_path).strip()
    # The dependencies of this environment, without what its own .pth files add: those lead back to the checkout.
    paths = sysconfig.get_paths()
    Path(site, "dependencies.pth").write_text(f"{paths['purelib']}\n{paths['platlib']}\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    said = json.loads(run(python, "-I", "-c", SECTION_8_1, cwd=elsewhere).splitlines()[-1])
    assert said["version"] == bestia_env.__version__
    assert Path(said["file"]).is_relative_to(Path(site).resolve())


# --- metadata -------------------------------------------------------------------------------------------------------


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_every_requirement_is_pinned_inside_its_range() -> None:
    wanted = [*PROJECT["dependencies"], *(r for extra in PROJECT["optional-dependencies"].values() for r in extra)]
    pinned = pins()
    for text in wanted:
        requirement = Requirement(text)
        if requirement.name != PROJECT["name"]:
            assert requirement.name in pinned, f"{requirement.name} is missing in constraints.txt"
            assert pinned[requirement.name] in requirement.specifier, f"{text}: {pinned[requirement.name]} is pinned"


def test_versions_in_the_readme_are_those_of_the_constraints() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([0-9.]+) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert len(rows) > 3
    assert {name: version for name, version in rows if pins().get(name) != version} == {}


def test_one_version_everywhere() -> None:
    assert f"\nversion: {bestia_env.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{bestia_env.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


# --- imports --------------------------------------------------------------------------------------------------------


def test_importing_the_library_is_light() -> None:
    code = "import sys, bestia_env; bestia_env.__version__; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = set(run(sys.executable, "-c", code, cwd=ROOT).split())
    assert "bestia_env" in loaded
    assert loaded & (HEAVY | LABORATORY) == set()


def imported(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Absolute dotted names that a source file imports by statement, wherever in it, for type checking included.

    What it loads by name at run time, as the library does with ``agents`` when it is there, is no dependency.
    """
    here = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            # `from bestia_env import rng` names a module, `from bestia_env.rng import mix` a function: both are told
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def imports_of(package: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        for name in imported(path.read_text(encoding="utf-8"), module, is_package=is_package):
            yield module, name


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import agents.medium", ["agents.medium"]),
        ("def f():\n    from agents import medium", ["agents.medium"]),
        ("from . import state", ["bestia_env.rams.state"]),
        ("from .state import STATE", ["bestia_env.rams.state.STATE"]),
        ("from ..batch import GameBatch", ["bestia_env.batch.GameBatch"]),
        ("from bestia_env import aec", ["bestia_env.aec"]),
    ],
)
def test_the_walk_sees_each_way_to_import(source: str, names: list[str]) -> None:
    assert list(imported(source, "bestia_env.rams.engine", is_package=False)) == names


def test_families_import_rules_and_compiled_code_only() -> None:
    wrong, seen = [], set()
    for family in FAMILIES:
        for module, name in imports_of(f"bestia_env/{family}"):
            seen.add(family)
            top, *rest = name.split(".")
            inside = top == "bestia_env" and bool(rest) and rest[0] in FAMILY_MAY_IMPORT | {family}
            if not (inside or top in sys.stdlib_module_names or top in {"numpy", "numba"}):
                wrong.append(f"{module} imports {name}")
    assert seen == FAMILIES
    assert wrong == []


def test_compiled_modules_take_constants_from_files_of_their_stamp() -> None:
    """A constant from any other file would stay in the cached machine code after that file was edited."""
    stamped = {file.removesuffix(".py") for file in SHARED_FILES}
    wrong, seen = [], set()
    for module, name in imports_of("bestia_env"):
        source = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        if not source.exists() or not re.search(r"^jit = jit_for\(", source.read_text(encoding="utf-8"), re.MULTILINE):
            continue
        seen.add(module)
        top, *rest = name.split(".")
        # plain functions and classes cannot get into machine code; a whole module can, by its constants
        if top == "bestia_env" and (len(rest) == 1 or rest[-1].isupper()) and rest[0] not in {*stamped, *FAMILIES}:
            wrong.append(f"{module} imports {name}")
    assert "bestia_env.rng" in seen
    assert wrong == []


def test_openspiel_is_imported_in_one_folder() -> None:
    found = {module for module, name in imports_of("bestia_env") if name.split(".")[0] in {"pyspiel", "open_spiel"}}
    assert {module.split(".")[1] for module in found} == {"openspiel"}


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("bestia_env", LABORATORY),
        ("agents", LABORATORY - {"agents"}),
        ("benchmarks", {"training", "tests", "docs"}),
        ("tests/reference", {"bestia_env", "agents", "benchmarks", "training"}),  # the second implementation is its own
    ],
)
def test_dependencies_point_one_way(package: str, forbidden: set[str]) -> None:
    found = list(imports_of(package))
    assert found
    assert [f"{module} imports {name}" for module, name in found if name.split(".")[0] in forbidden] == []
