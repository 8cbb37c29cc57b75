# SPDX-License-Identifier: MIT
"""What README.md says stands: its Python runs and prints what is shown, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import qossim as qs
from qossim.scenario._describe import Description

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
BLOCKS = [(match[1], match[2]) for match in re.finditer(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)]


def described(name: str) -> bool:
    value = getattr(qs, name)
    return isinstance(value, type) and issubclass(value, Description)


def test_the_python_runs_and_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All blocks one after the other, as in a notebook; a block of text is the output of the block before it."""
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    printed, ran, compared = "", 0, 0
    for kind, text in BLOCKS:
        if kind == "python":
            exec(compile(text, f"README.md, Python block {ran + 1}", "exec"), namespace)
            printed = capsys.readouterr().out
            ran += 1
        elif kind == "text":
            assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()
            compared += 1
    plt.close("all")
    assert ran >= 1
    assert compared >= 1
    assert (tmp_path / "voice.png").stat().st_size > 0


def test_the_two_commands_come_first_and_each_makes_its_own_environment() -> None:
    commands = [text for kind, text in BLOCKS[:2] if kind == "sh"]
    assert len(commands) == 2
    assert all(text.startswith("python3 -m venv .venv\n") for text in commands)
    assert "qossim reproduce" in commands[0]
    assert "pytest" in commands[1]


def test_everything_that_can_be_described_stands_in_the_table() -> None:
    table = README[README.index("## What is modelled") : README.index("## What it means, exactly")]
    named = set(re.findall(r"`(\w+)", table))
    assert {name for name in qs.__all__ if described(name)} - named == {"Scenario"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_of_the_project(document: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / document).read_text(encoding="utf-8")):
        if "://" not in target:
            assert (ROOT / target).is_file(), target


def test_the_changelog_has_the_version() -> None:
    assert f"\n## {qs.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
