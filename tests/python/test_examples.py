"""The examples end well and make their pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

EXAMPLES = {
    "heat.py": ("heat.png", ()),
    "shot.py": ("shot.png", ()),
    "wave_torch.py": ("wave.png", ("torch",)),
    "grayscott_cupy.py": ("grayscott.png", ()),
    "cg_scipy.py": ("cg.png", ("scipy",)),
}


def test_all_are_listed() -> None:
    folder = ROOT / "examples" / "python"
    assert {p.name for p in folder.glob("*.py")} == {*EXAMPLES, "picture.py"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, tmp_path: Path) -> None:
    picture, needs = EXAMPLES[name]
    for module in needs:
        pytest.importorskip(module)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(str(Path(p).resolve()) for p in sys.path if p)
    told = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "python" / name)], cwd=tmp_path, capture_output=True, text=True,
        env=environment,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
