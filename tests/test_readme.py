# SPDX-License-Identifier: MIT
"""What README.md says stands: its Python runs and prints what is shown, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import nbformat
import pytest

import qossim as qs
from qossim.experiments import ef_wfq_vs_pq, ef_wfq_vs_pq_cases
from qossim.scenario._describe import Description

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
SAID = " ".join(README.split())
VOICE = qs.Flow("voice", qs.CBR(pps=50, size=200, phase="random"), dscp="EF")
BLOCKS = [(match[1], match[2]) for match in re.finditer(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)]


def described(name: str) -> bool:
    value = getattr(qs, name)
    return isinstance(value, type) and issubclass(value, Description)


@pytest.mark.usefixtures("no_window")
def test_the_python_runs_and_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All blocks one after the other, as in a notebook; a block of text is the output of the block before it.

    A block of the console is what the test before it shows.
    """
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
        elif kind == "console":
            check: Any = namespace["test_voice_under_load"]
            with pytest.raises(AssertionError) as broken:
                check(qs.run, 40)
            assert [line.rstrip() for line in str(broken.value).splitlines()] == text.splitlines()
            compared += 1
    plt.close("all")
    assert ran >= 1
    assert compared == len([kind for kind, _ in BLOCKS if kind in ("text", "console")])
    assert (tmp_path / "voice.png").stat().st_size > 0
    quanta_are_told_as_they_are(namespace)


def quanta_are_told_as_they_are(example: dict[str, Any]) -> None:
    port = example["uplink"](qs.DRR())

    def text(quanta: list[float]) -> str:
        classes = [each.replace(quantum=quantum) for each, quantum in zip(port.classes, quanta, strict=True)]
        scenario = qs.Scenario(flows=[VOICE, example["bulk"]], ports=[port.replace(classes=classes)])
        delay = qs.run(scenario, duration="10 min", warmup=5, seed=1)["voice"].delay_stats
        return f"mean {1e3 * delay.mean:6.3f} ms   99.9 % {1e3 * delay.quantile(0.999):6.3f} ms"

    assert "1500 bytes of voice and then 13 500 of the rest" in SAID
    assert f"drr   {text([1500, 13_500])}" in README
    assert "with `quantum=200` for voice and `quantum=1800` for the rest the mean is 13.0 ms" in SAID
    assert text([200, 1800]).startswith("mean 13.0")


def test_the_two_commands_come_first_and_each_makes_its_own_environment() -> None:
    commands = [text for kind, text in BLOCKS[:2] if kind == "sh"]
    assert len(commands) == 2
    assert all(text.startswith("python3 -m venv .venv\n") for text in commands)
    assert "qossim reproduce" in commands[0]
    assert "pytest" in commands[1]


def test_the_notebooks_stand_under_their_questions() -> None:
    folder = ROOT / "notebooks"
    titles = {path.name: nbformat.read(path, 4).cells[0].source.splitlines()[0] for path in folder.glob("*.ipynb")}
    listed = re.findall(r"^(\d\. )\[(.+)\]\(notebooks/(.+)\)$", README, re.MULTILINE)
    assert [(f"# {number}{question}", name) for number, question, name in listed] == [
        (title, name) for name, title in sorted(titles.items())
    ]
    third = next(path for path in folder.glob("3_*.ipynb"))
    assert "of an irregular one it takes up to 87 %" in SAID
    assert "by 46 to 87 % for irregular EF under overload" in nbformat.read(third, 4).cells[-2].source


def test_what_wfq_means_is_told_where_it_is_used() -> None:
    assert 'Here `"wfq"` is what the experiment\'s router calls so, which is self-clocked: `SCFQ`' in SAID
    assert ef_wfq_vs_pq(scheduler="wfq").ports[0].scheduler == qs.SCFQ()
    assert "`wfq` is packet-by-packet GPS, `scfq` its self-clocked form" in SAID
    assert (qs.WFQ().kind, qs.SCFQ().kind) == ("wfq", "scfq")


def test_the_level_of_a_percentiles_interval_is_the_one_that_is_told() -> None:
    result = qs.run(ef_wfq_vs_pq(tx_ring_limit=40), duration="1 min", warmup=1, seed=1)
    finding, *_ = qs.SLA("voice", delay_p99="30 ms").evaluate(result["EF"]).findings
    assert "near the 95 % that are wanted, not exactly that: the table in the file gives it, here 96.1 %" in SAID
    assert f"{100 * finding.level:.1f}" == "96.1"


def test_what_holds_and_what_does_not_are_told_as_they_are() -> None:
    cases = ef_wfq_vs_pq_cases(duration=60, warmup=5, seed=1)
    findings = cases.findings()
    broken = [finding for finding in findings if not finding.holds]
    assert "checks nine statements of the report. Eight hold." in SAID
    assert (len(findings), len(broken)) == (9, 1)
    assert "In the model they are as frequent as with WFQ, 14.5 % of the packets, packet by packet the same" in SAID
    assert broken[0].model == "14.5, 14.5 %"
    least = next(finding.model for finding in findings if "increase with PQ" in finding.statement)
    assert "about 9.7 ms, where the model has 9.33" in SAID and least == "9.330 ms"
    assert "0.37 ms are not explained" in SAID


@pytest.mark.parametrize(("ratio", "passed"), [(3.06, 2), (3.07, 3), (4.08, 3), (4.09, 4)])
def test_the_gain_asks_for_the_weights_that_are_told(ratio: float, passed: int) -> None:
    """Between 3 and 4 times 1028 to 1006 bytes."""
    assert "the gain asks for a ratio of weights from 3.07 to 4.08" in SAID

    def mean(scheduler: Any) -> float:
        scenario = ef_wfq_vs_pq(scheduler=scheduler, be_bandwidth=round(ratio * 400_000))
        return qs.run(scenario, duration=30, warmup=5, seed=1)["EF"].delay_stats.mean

    assert mean("wfq") - mean("pq") == pytest.approx(passed * 4.664e-3, abs=1e-6)


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
