"""Every Python block of README.md and docs/ runs as it stands, and the README lists the games that there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import bestia_env

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

BLOCK = re.compile(
    r"(?:^<!-- not run:(?P<reason>[^\n]*)-->\n\n?)?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One ```python block: its code, the line of the page it starts in, and why it is not run, if it is not."""

    code: str
    line: int
    reason: str | None


def blocks(text: str) -> list[Block]:
    return [
        Block(m["code"], text.count("\n", 0, m.start("code")) + 1, None if m["reason"] is None else m["reason"].strip())
        for m in BLOCK.finditer(text)
    ]


def run_page(path: Path, text: str) -> int:
    """Run a page's blocks in order in one namespace, as a reader would; returns how many ran.

    Blocks that are not run must have a reason and be Python all the same. The file name and line of a traceback are
    those of the page.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(text):
        code = compile("\n" * (block.line - 1) + block.code, str(path), "exec")
        if block.reason is None:
            exec(code, namespace)
            ran += 1
        else:
            assert block.reason, f"{path}:{block.line}: say why this block is not run"
    return ran


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples may write files
    text = page.read_text(encoding="utf-8")
    assert len(blocks(text)) == len(re.findall(r"^\s*```py", text, re.MULTILINE)), "a block that is not ```python"
    run_page(page, text)


def test_readme_shows_code_that_runs() -> None:
    assert any(block.reason is None for block in blocks(PAGES[0].read_text(encoding="utf-8")))


def test_blocks_share_a_namespace_and_errors_name_the_line() -> None:
    skipped = "<!-- not run: needs a GPU -->\n```python\na = 2\n```\n\n"
    page = f"# t\n\n```python\na = 1\n```\n\n{skipped}```python\nb = 1 / (a - 1)\n```\n"
    assert [(block.line, block.reason) for block in blocks(page)] == [(4, None), (9, "needs a GPU"), (13, None)]
    with pytest.raises(ZeroDivisionError) as error:
        run_page(Path("page.md"), page)
    assert error.traceback[-1].lineno + 1 == 13


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ("<!-- not run: -->\n```python\na = 1\n```\n", AssertionError),
        ("<!-- not run: it is broken -->\n```python\na = = 1\n```\n", SyntaxError),
    ],
)
def test_blocks_that_are_not_run_have_a_reason_and_are_python(page: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run_page(Path("page.md"), page)


def test_readme_lists_the_games() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+)(?:–(\d+))? \|", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (int(low), int(high or low)) for name, low, high in rows}
    assert listed == {name: tuple(bestia_env.player_range(name)) for name in bestia_env.variants()}


def test_links_in_the_pages_lead_somewhere() -> None:
    dead = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert dead == []
