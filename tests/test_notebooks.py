# SPDX-License-Identifier: MIT
"""Every notebook runs from top to bottom, and is kept without what it printed and drew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.measure import environment

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, object]]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    for cell in cells(path):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    """As one program, without Jupyter; no notebook has anything but Python in its cells."""
    program = "\n".join("".join(cell["source"]) + "\n" for cell in cells(path))  # type: ignore[arg-type]
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error::FutureWarning", "-"],
        input=program,
        env=environment(MPLBACKEND="Agg", PYTHONUTF8="1"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
