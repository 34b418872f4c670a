"""Every block of docs/python.md runs as it stands, one after the other; and README's."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


def blocks(page: str) -> list[tuple[int, str, str]]:
    """(line, what it needs, code) of each Python block."""
    text = (ROOT / page).read_text()
    found = re.finditer(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", text, re.DOTALL)
    return [(text[: m.start()].count("\n") + 1, m.group(1) or "", m.group(2)) for m in found]


@pytest.mark.parametrize("page,least", [("docs/python.md", 5), ("README.md", 1)])
def test_blocks_run(page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks(page)
    assert len(found) >= least
    names: dict[str, Any] = {}
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n2 2 3.0\n")
    monkeypatch.chdir(tmp_path)
    for line, needs, code in found:
        if needs:
            pytest.importorskip(needs)
        exec(compile("\n" * line + code, page, "exec"), names)


def test_arguments_of_build_are_in_the_page() -> None:
    import inspect

    import stencilgen as sg

    text = (ROOT / "docs" / "python.md").read_text()
    for name in inspect.signature(sg.build).parameters:
        assert f"`{name}`" in text, name
    for name in sorted(os.listdir(ROOT / "examples" / "python")):
        if name.endswith(".py"):
            assert f"`{name}`" in text, name
