"""Examples with other trainer libraries: the light one runs, of the others pins and documentation are held together."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bestia_env import IllegalActionError
from training.interop import common

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "training" / "interop"
LIBRARIES = re.search(r"^INTEROP \?= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1].split()
DISTRIBUTIONS = {"rllib": "ray"}  # where PyPI has another name for it
CLASHES = {("agilerl", "pettingzoo")}  # told in docs/trainers.md


def pins(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def first_move(_: np.ndarray, mask: np.ndarray) -> int:
    return int(np.flatnonzero(mask)[0])


def test_every_library_has_an_example_and_exact_pins() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(LIBRARIES)
    for library in LIBRARIES:
        assert DISTRIBUTIONS.get(library, library) in pins(FOLDER / f"{library}.txt")
        tree = ast.parse((FOLDER / f"{library}.py").read_text(encoding="utf-8"))
        assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("library", LIBRARIES)
def test_pins_suit_this_library(library: str) -> None:
    pinned = pins(FOLDER / f"{library}.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in map(Requirement, project["dependencies"]):
        fits = pinned[requirement.name] in requirement.specifier
        assert fits != ((library, requirement.name) in CLASHES), f"{requirement}: {pinned[requirement.name]}"


def test_the_example_that_the_tests_run_has_the_pins_of_the_tests() -> None:
    ours = pins(ROOT / "constraints.txt")
    assert {name: pin for name, pin in pins(FOLDER / "torchrl.txt").items() if ours.get(name) != pin} == {}


def test_documentation_names_the_versions_that_are_pinned() -> None:
    page = (ROOT / "docs" / "trainers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[[^]]+\]\(\.\./training/interop/(\w+)\.py\) \| ([\w.]+) \|", page, re.MULTILINE)
    assert rows == [(name, pins(FOLDER / f"{name}.txt")[DISTRIBUTIONS.get(name, name)]) for name in LIBRARIES]


def test_torchrl_trains_and_is_measured() -> None:
    command = [sys.executable, "-m", "training.interop.torchrl", "--steps", "1024", "--deals", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^torchrl [\d.]+, sampled: [+-]\d\.\d{3} ± \d\.\d{3} pots a deal; \d+ decisions, all legal$", done.stdout, re.M
    )


def test_evaluation_plays_the_same_deals_in_every_seat() -> None:
    config = common.Config(deals=3)
    scores, decisions = common.evaluate(first_move, config)
    assert scores.shape == (3, common.SEATS)
    assert decisions >= scores.size
    again, _ = common.evaluate(first_move, config)
    assert scores.tolist() == again.tolist()
    other, _ = common.evaluate(first_move, common.Config(deals=3, seed=8))
    assert scores.tolist() != other.tolist()


def test_an_illegal_action_ends_the_evaluation() -> None:
    with pytest.raises(IllegalActionError):
        common.evaluate(lambda _, mask: int(np.flatnonzero(mask == 0)[0]), common.Config(deals=1))


def test_interval_speaks_of_deals_not_of_seats() -> None:
    same = np.repeat([[0.0], [1.0], [2.0], [3.0]], common.SEATS, axis=1)
    assert common.interval(same) == f"+1.500 ± {1.96 * np.std([0, 1, 2, 3], ddof=1) / 2:.3f}"
