# SPDX-License-Identifier: MIT
"""Every notebook runs from top to bottom, is kept without what it printed and drew, and says what its numbers are.

The last cell of each, tagged "check", holds its text to what the cells before have computed.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.bench.measure import environment

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
LIMIT = 120
"""Seconds a notebook may take: who opens one wants to see its answer."""

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks_and_each_has_a_number_of_its_own() -> None:
    numbers = [path.name.partition("_")[0] for path in NOTEBOOKS]
    assert numbers
    assert len(set(numbers)) == len(numbers)


@each
def test_a_notebook_asks_at_its_top_answers_at_its_end_and_is_licensed(path: Path) -> None:
    cells = read(path).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    codes = [cell.source for cell in cells if cell.cell_type == "code"]
    assert re.match(rf"# {path.name.partition('_')[0]}\. [^\n]+\?\n", texts[0]), "a number, and a question"
    assert [text.count("## The answer\n") for text in texts] == [0] * (len(texts) - 1) + [1]
    assert codes[0].startswith("# SPDX-License-Identifier: MIT\n")


@each
def test_the_last_cell_of_a_notebook_holds_its_text_to_its_numbers(path: Path) -> None:
    """At least every number in figures: it stands in the code too. Years, and names with a number, do not count."""
    cells = read(path).cells
    assert cells[-1].metadata.get("tags") == ["check"]
    assert cells[-1].source.count("\nassert ") >= 5
    assert all("check" not in cell.metadata.get("tags", []) for cell in cells[:-1])
    code = numbers("\n".join(cell.source for cell in cells if cell.cell_type == "code"))
    for cell in cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"(?m)^# \d|^\d\. |\btest \d|\bnotebook \d|\b(?:19|20)\d\d\b|`[^`]*`", "", cell.source)
            assert not numbers(text) - code, text


def numbers(text: str) -> set[float]:
    """Every number in it, whether thousands are parted by spaces or by underscores."""
    joined = re.sub(r"(?<=\d)[_ ](?=\d{3}\b)", "", text)
    return {float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e\d+)?", joined)}


@each
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert "execution" not in cell.metadata, "the times at which it ran"
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert "widgets" not in notebook.metadata


@each
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel, as Jupyter runs it; a cell that fails is shown with what it said."""
    own = {name: str(tmp_path / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    own["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # figures are answers, whatever is set around here
    for name, value in environment(**own).items():
        monkeypatch.setenv(name, value)
    work = tmp_path / "work"
    work.mkdir()
    notebook = read(path)
    client = NotebookClient(notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": str(work)}})
    asyncio.run(asyncio.wait_for(client.async_execute(), LIMIT))
    said = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert said, "a notebook answers something"
    warnings = [output.text for output in said if output.get("name") == "stderr" and "Warning" in output.text]
    assert not warnings
