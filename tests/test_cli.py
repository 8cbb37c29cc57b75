# SPDX-License-Identifier: MIT
"""The command line, as a person and as a script use it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import qossim as qs
from qossim.cli import main
from qossim.experiments import ef_wfq_vs_pq, ef_wfq_vs_pq_cases

FLOW = '[[flows]]\nname = "x"\nsource = {kind = "cbr", pps = 1, size = 100}\n'
OUTPUT = "qossim-reproduce"
FIGURES = ["delay.png", "delay.svg", "ipdv.png", "ipdv.svg"]


@pytest.fixture(autouse=True)
def of_eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenarios") / "seed.toml"
    ef_wfq_vs_pq().to_toml(path)
    return str(path)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """What ``qossim reproduce`` prints and writes, once for all tests."""
    folder = tmp_path_factory.mktemp("reproduced")
    command = [sys.executable, "-m", "qossim", "reproduce", "--csv", "runs.csv", "--json", "runs.json"]
    environment = {**os.environ, "COLUMNS": "80"}
    source = str(Path(qs.__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [source, environment.get("PYTHONPATH")]))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def refusal(capsys, *arguments):
    """The one line on standard error of a command that is refused."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("qossim: ")
    assert err.count("\n") == 1
    return err


# -- reproduce ---------------------------------------------------------------------------------------------------------


def test_reproduce_prints_the_four_runs_beside_what_was_measured(reproduced):
    lines = reproduced[1].splitlines()
    rows = {label: next(line for line in lines if line.startswith(label)).split() for label in ef_labels()}
    assert rows["WFQ, no best effort"][4:] == ["10.710", "10.71", "10.710", "10.710", "0.000", "0.000", "0.0", "%", "0"]
    assert rows["PQ, no best effort"][4:] == rows["WFQ, no best effort"][4:]
    assert rows["PQ, best effort"][3:] == ["20.040", "20.4", "22.369", "24.701", "1.157", "3.987", "14.5", "%", "0"]
    assert rows["WFQ, best effort"][3:] == ["34.032", "-", "36.361", "38.693", "1.157", "3.987", "14.5", "%", "0"]


def ef_labels():
    return list(ef_wfq_vs_pq_cases(duration=0.1, warmup=0, seed=1))


def test_reproduce_says_what_holds_and_what_does_not(reproduced):
    out = reproduced[1]
    verdicts = [line.split()[-1] for line in out.splitlines() if line[:1].isdigit() and line.endswith(("yes", "NO"))]
    assert verdicts == ["yes"] * 7 + ["NO", "yes"]
    assert "8 of 9 statements hold in the model. Not reproduced: 8, ipdv peaks are less\nfrequent with PQ." in out


def test_reproduce_writes_two_figures_each_as_png_and_svg_and_names_them(reproduced):
    folder, out = reproduced
    assert sorted(path.name for path in (folder / OUTPUT).iterdir()) == FIGURES
    names = out[out.index("Wrote ") :].replace("\n", " ")
    for name in FIGURES:
        assert os.path.join(OUTPUT, name) in names
    assert "runs.csv" in names
    assert "runs.json" in names
    assert (folder / OUTPUT / "delay.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / OUTPUT / "ipdv.svg").read_text()


def test_reproduce_writes_the_same_bytes_again(reproduced, tmp_path, capsys):
    assert main(["reproduce", "--output", str(tmp_path)]) == 0
    capsys.readouterr()
    for name in FIGURES:
        assert (tmp_path / name).read_bytes() == (reproduced[0] / OUTPUT / name).read_bytes()


def test_reproduce_writes_tables_in_si_units(reproduced):
    table = pd.read_csv(reproduced[0] / "runs.csv", index_col="case")
    expected = ef_wfq_vs_pq_cases(seed=1).summary()
    assert list(table.index) == list(expected.index)
    assert table.to_numpy() == pytest.approx(expected.to_numpy(dtype=float), rel=1e-12)
    whole = json.loads((reproduced[0] / "runs.json").read_text())
    assert (whole["duration"], whole["warmup"], whole["seed"], whole["phases"]) == (60, 5, 1, "random")
    assert whole["versions"]["qossim"] == qs.__version__
    assert whole["cases"]["PQ, best effort"]["delay_min"] == expected.loc["PQ, best effort", "delay_min"]
    assert [finding["holds"] for finding in whole["findings"]] == [True] * 7 + [False, True]


def test_reproduce_takes_duration_warmup_seed_and_phases(tmp_path, capsys):
    options = ["--duration", "10s", "--warmup", "500ms", "--seed", "3", "--phases", "fixed", "--json", "-"]
    assert main(["reproduce", "--output", str(tmp_path), *options]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["duration"], whole["warmup"], whole["seed"], whole["phases"]) == (10, 0.5, 3, "fixed")
    assert len(list(tmp_path.iterdir())) == 4


# -- run ---------------------------------------------------------------------------------------------------------------


def test_run_prints_what_became_of_each_flow_and_port(file, capsys):
    assert main(["run", file, "--warmup", "5"]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["EF", "2015", "2015", "0", "20.040", "22.369", "24.656", "24.701", "3.987"] in rows
    assert ["near", "EF", "2015", "2015", "0", "0", "0.09", "1", "100.0", "%"] in rows
    assert "60 s after 5 s of warm-up, seed 1." in " ".join(out.split())


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_run_prints_what_was_recorded(file, capsys, record):
    assert main(["run", file, "--duration", "5", "--record", record]) == 0
    ef = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("EF "))
    assert ("-" in ef.split()) == (record == "none")
    assert ef.split()[1:4] == ["183", "183", "0"]


def test_run_is_the_run_of_the_library(file, capsys, tmp_path):
    arguments = ["--duration", "5", "--warmup", "1", "--seed", "9", "--record", "summary"]
    assert main(["run", file, *arguments, "--csv", str(tmp_path / "a.csv"), "--json", str(tmp_path / "a.json")]) == 0
    assert "a.csv" in capsys.readouterr().out
    result = qs.run(qs.Scenario.from_toml(file), duration=5, warmup=1, seed=9, record="summary")
    assert (tmp_path / "a.csv").read_text() == result.summary().to_csv()
    whole = json.loads((tmp_path / "a.json").read_text())
    assert whole["record"] == "summary"
    assert whole["flows"]["BE"]["delay_mean"] == result["BE"].delay_stats.mean
    assert whole["ports"]["near"]["utilisation"] == result.port("near").utilisation
    assert whole["ports"]["near"]["mean_ring"] == result.port("near").mean_ring
    assert whole["ports"]["near"]["classes"]["BE"]["dropped_queue"] == result["BE"].lost
    assert whole["ports"]["near"]["classes"]["BE"]["mean_queue"] == result.port("near").classes["BE"].mean_queue
    assert whole["flows"]["BE"]["loss_periods"]["number"] == result["BE"].loss_periods.number > 0


@pytest.mark.parametrize("table", ["--csv", "--json"])
def test_run_writes_a_table_alone_to_standard_output(file, capsys, table):
    assert main(["run", file, "--duration", "1", table, "-"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("flow,sent" if table == "--csv" else "{")
    if table == "--json":
        assert json.loads(out)["flows"]["EF"]["sent"] == 37


def test_what_was_not_recorded_is_null_in_json(file, capsys):
    assert main(["run", file, "--duration", "1", "--record", "none", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"]["EF"]["delay_mean"] is None


def test_everything_printed_fits_eighty_columns(reproduced, file, capsys, tmp_path):
    name = "a flow that bears the longest name that anybody ever gave to a flow"
    flows = [qs.Flow(name, qs.CBR(pps=90_000_000, size=1500)), qs.Flow("short", qs.CBR(pps=1, size=40))]
    ports = [qs.Port("a port with quite a long name too, at the far end", "1 Tbit/s")]
    qs.Scenario(flows, ports).to_toml(tmp_path / "long.toml")
    main(["run", file])
    main(["run", str(tmp_path / "long.toml"), "--duration", "0.01", "--record", "summary"])
    for arguments in ([], ["--help"], ["run", "--help"], ["reproduce", "--help"]):
        if not arguments:
            main(arguments)
        else:
            with pytest.raises(SystemExit) as stopped:
                main(arguments)
            assert stopped.value.code == 0
    out, err = capsys.readouterr()
    lines = [line for line in (reproduced[1] + out + err).splitlines() if str(tmp_path) not in line]
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert any("a flow that bears" in line and "…" in line for line in lines)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--duration", "-1"], ["duration", "-1"]),
        (["--duration", "1 fort"], ["duration", "1 fort"]),
        (["--duration", "nan"], ["duration", "nan"]),
        (["--duration", "107 d"], ["duration", "106 days"]),
        (["--warmup", "60"], ["warmup", "60"]),
        (["--seed", "-4"], ["seed", "-4"]),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_status_2(file, capsys, arguments, words):
    for command in (["run", file], ["reproduce"]):
        err = refusal(capsys, *command, *arguments)
        assert all(word in err for word in words), err


def test_a_run_too_short_to_compare_is_one_line_and_exit_status_2(capsys):
    assert "duration" in refusal(capsys, "reproduce", "--duration", "5.01", "--warmup", "5")


def test_a_missing_file_is_one_line_and_exit_status_2(capsys, tmp_path):
    assert refusal(capsys, "run", "nowhere.toml") == "qossim: nowhere.toml: No such file or directory\n"
    assert "directory" in refusal(capsys, "run", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flows = [", ["TOML"]),
        ("", ["flows"]),
        (FLOW + '[[ports]]\nname = "a"\nrate = "2 kfoo"', ["kfoo"]),
        (FLOW + 'route = ["b"]\n[[ports]]\nname = "a"\nrate = 1e6', ["route", "b"]),
        ('sheduler = "pq"', ["sheduler"]),
    ],
    ids=["no-toml", "empty", "unit", "port", "key"],
)
def test_a_wrong_scenario_is_one_line_and_exit_status_2(capsys, tmp_path, text, words):
    (tmp_path / "wrong.toml").write_text(text)
    err = refusal(capsys, "run", str(tmp_path / "wrong.toml"))
    assert all(word in err for word in words), err


def test_a_file_that_cannot_be_written_is_one_line_and_exit_status_2(file, capsys, tmp_path):
    for option in ("--csv", "--json"):
        assert main(["run", file, "--duration", "1", option, str(tmp_path / "no" / "table")]) == 2
        err = capsys.readouterr().err
        assert err == f"qossim: {tmp_path / 'no' / 'table'}: No such file or directory\n"


def test_running_out_of_memory_is_one_line_and_exit_status_2(file, capsys, monkeypatch):
    def hungry(*_, **__):
        raise MemoryError

    monkeypatch.setattr(sys.modules["qossim.run"], "run", hungry)
    assert refusal(capsys, "run", file) == "qossim: out of memory\n"


def test_ctrl_c_is_exit_status_130(file, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["qossim.run"], "run", interrupted)
    assert main(["run", file]) == 130
    assert capsys.readouterr().err == "qossim: interrupted\n"


def test_without_a_command_it_says_how_to_use_it(capsys):
    assert main([]) == 2
    assert "usage: qossim" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"qossim {qs.__version__}\n"
