# SPDX-License-Identifier: MIT
"""Scenarios as dicts and TOML files: nothing is lost, and what is wrong in a file is named by its place."""

from __future__ import annotations

import json
import random
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import qossim as qs

BY_HAND = """
# what a person writes: units, names, only what matters

[[flows]]
name = "EF"
dscp = "EF"
source = {kind = "cbr", rate = "300 kbit/s", size = 1006, phase = "random"}

[[flows]]
name = "BE"
start = "1 s"
stop = "2.5 min"
route = ["near"]
[flows.source]
kind = "poisson"
pps = 200
size = {values = [40, 576, 1500], weights = [7, 4, 1]}

[[flows]]
name = "log"
source = {kind = "trace", times = [0, 0.001, "2 ms"], sizes = [40, 40, 1500]}

[[ports]]
name = "near"
rate = "2 Mbit/s"
framing = "aal5"
scheduler = {kind = "scfq", lengths = "wire"}
propagation = "0.691 ms"
tx_ring = {limit = 5}

[[ports.classes]]
name = "EF"
match = "EF"
bandwidth = "400 kbit/s"
queue = {packets = 10}
police = {rate = "400 kbit/s", burst = "8 kB"}

[[ports.classes]]
name = "rest"
bandwidth = 1600e3

[[ports]]
name = "far"
rate = 10_000_000
"""


def by_hand():
    return qs.Scenario(
        flows=[
            qs.Flow("EF", qs.CBR("300 kbit/s", 1006, phase="random"), dscp="EF"),
            qs.Flow(
                "BE", qs.Poisson(pps=200, size=qs.Sizes([40, 576, 1500], [7, 4, 1])), start=1, stop=150, route=["near"]
            ),
            qs.Flow("log", qs.Trace([0, 0.001, 0.002], [40, 40, 1500])),
        ],
        ports=[
            qs.Port(
                "near",
                "2 Mbit/s",
                framing=qs.AAL5(),
                scheduler=qs.SCFQ("wire"),
                propagation=0.000691,
                tx_ring=qs.TxRing(5),
                classes=[
                    qs.TrafficClass(
                        "EF",
                        match=46,
                        bandwidth=400_000,
                        queue=qs.DropTail(10),
                        police=qs.TokenBucket(400_000, 8000),
                    ),
                    qs.TrafficClass("rest", bandwidth=1_600_000),
                ],
            ),
            qs.Port("far", 10_000_000),
        ],
    )


def draw(seed: int) -> qs.Scenario:
    """A scenario out of everything, drawn at random."""
    r = random.Random(seed)

    def number() -> Fraction:
        return r.choice(
            [Fraction(r.randint(1, 10**6), r.randint(1, 999)), Fraction(repr(1 + r.random())), Fraction(2000)]
        )

    def size():
        weights = [1, Fraction(r.randint(1, 99), 7), 0.5]
        return r.choice([r.randint(1, 65535), qs.Sizes([r.randint(1, 1500) for _ in range(3)], weights)])

    def source():
        n = r.choice([0, 3, 150])
        return r.choice(
            [
                qs.CBR(number(), size(), phase=r.choice(["random", 0, Fraction(r.randint(1, 10**15), 10**12)])),
                qs.CBR(pps=number(), size=size()),
                qs.CBR(interval=number(), size=size()),
                qs.Poisson(number(), size()),
                qs.Poisson(pps=number(), size=size()),
                qs.Trace(np.sort(np.array([r.randint(0, 9 * 10**18) for _ in range(n)], "m8[ps]")), r.randint(1, 9)),
            ]
        )

    names = ["EF", "AF, or so", 'a "quoted" \\ name', "größer/…/名", "x" * 200, "b.d", "c"]
    flows = [
        qs.Flow(name, source(), dscp=r.randint(0, 63), start=r.choice([0, number()]), stop=r.choice([None, 10**6]))
        for name in r.sample(names, 4)
    ]

    def classes():
        fits = r.choice([{"match": r.sample(range(64), 3)}, {"match": "EF"}, {"flows": [f.name for f in flows[:2]]}])
        police = r.choice([None, qs.TokenBucket(r.randint(1, 10**6), 10, counts="wire", when="congestion")])
        queue = r.choice([qs.DropTail(), qs.DropTail(0), qs.DropTail(bytes=7, time=Fraction(1, 8))])
        share = {"bandwidth": Fraction(r.randint(10**5, 10**6), 7), "quantum": Fraction(r.randint(10, 10**4), 3)}
        return [qs.TrafficClass("a", **fits, **share, queue=queue), qs.TrafficClass("z", **share, police=police)]

    ports = [
        qs.Port(
            name,
            number() + 1,
            scheduler=r.choice([qs.FIFO(), qs.PQ(), qs.WFQ(), qs.SCFQ(), qs.SCFQ("wire"), qs.DRR()]),
            classes=r.choice([None, classes()]),
            framing=r.choice(
                [None, qs.AAL5("vc-mux"), qs.Ethernet(tags=3, preamble_and_gap=False), qs.PPP(), qs.Overhead(5)]
            ),
            tx_ring=r.choice([None, qs.TxRing(None), qs.TxRing(9, particle=100, header=8, admit="strict", free="end")]),
            propagation=r.choice([0, Fraction(r.randint(1, 10**12), 10**12)]),
        )
        for name in r.sample(names, 2)
    ]
    flows[0] = flows[0].replace(route=[ports[1].name, ports[0].name])
    return qs.Scenario(flows, ports)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_lost_on_the_way_through_dict_json_and_toml(seed, tmp_path):
    made = draw(seed)
    plain = made.to_dict()
    assert qs.Scenario.from_dict(plain) == made
    assert qs.Scenario.from_dict(json.loads(json.dumps(plain))) == made
    assert qs.Scenario.from_dict(plain).to_dict() == plain
    path = tmp_path / "some file.toml"
    made.to_toml(path)
    read = qs.Scenario.from_toml(str(path))
    assert read == made
    assert repr(read) == repr(made)
    assert read._lower().flows[0][0][0] == made.flows[0].name


def test_a_file_by_hand_means_what_it_says(tmp_path):
    path = tmp_path / "by-hand.toml"
    path.write_text(BY_HAND, encoding="utf-8")
    assert qs.Scenario.from_toml(path) == by_hand()
    assert qs.Scenario.from_dict(tomllib.loads(BY_HAND)) == by_hand()


def test_files_are_written_as_people_would(tmp_path):
    path = tmp_path / "x.toml"
    by_hand().to_toml(path)
    text = path.read_text(encoding="utf-8")
    for line in (
        'source = {kind = "cbr", rate = "300 kbit/s", size = 1006, phase = "random"}',
        'dscp = "EF"',
        'rate = "2 Mbit/s"',
        'stop = "150 s"',
        'framing = {kind = "aal5", encapsulation = "llc-snap"}',
        'tx_ring = {limit = 5, particle = 512, admit = "overshoot", free = "start"}',
        'scheduler = "fifo"',
        "queue = {packets = 10}",
    ):
        assert line in text.splitlines()
    assert max(map(len, text.splitlines())) < 130
    assert [p.name for p in tmp_path.iterdir()] == ["x.toml"]


def test_numbers_that_are_no_decimals_are_written_as_ratios():
    made = qs.Scenario([qs.Flow("x", qs.CBR(Fraction(10**9, 3), 100))], [qs.Port("p", "1000000000000000/999")])
    plain = made.to_dict()
    assert plain["flows"][0]["source"]["rate"] == "1000000000/3"
    assert plain["ports"][0]["rate"] == "1000000000000000/999"
    assert qs.Scenario.from_dict(plain) == made


def test_long_arrays_stand_beside_the_file(tmp_path):
    times = np.arange(1000, dtype="m8[us]") * 7
    flows = [qs.Flow(name, qs.Trace(times, 40)) for name in ("a/b", "a-b", "a:b", "plain")]
    made = qs.Scenario(flows, [qs.Port("p", 1000)])
    made.to_toml(tmp_path / "long.toml")
    assert len(list(tmp_path.glob("long.*.npy"))) == 8
    assert (tmp_path / "long.plain.times.npy").exists()
    assert (tmp_path / "long.toml").stat().st_size < 2000
    assert qs.Scenario.from_toml(tmp_path / "long.toml") == made
    assert np.load(tmp_path / "long.plain.times.npy").dtype == "m8[ps]"


def test_a_file_can_name_arrays_of_one_s_own(tmp_path):
    np.save(tmp_path / "seconds.npy", np.array([0.0, 0.25]))
    text = '[[flows]]\nname="x"\nsource={kind="trace", times="seconds.npy", sizes=40}\n[[ports]]\nname="p"\nrate=1000\n'
    (tmp_path / "x.toml").write_text(text)
    assert qs.Scenario.from_toml(tmp_path / "x.toml").flows[0].source == qs.Trace([0, 0.25], 40)


def without(table, *path):
    *way, last = path
    for step in way:
        table = table[step]
    del table[last]


def put(value, *path):
    def change(table):
        *way, last = path
        for step in way:
            table = table[step]
        table[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(1, "colour"), r'^Scenario: keys must be out of flows, ports, got "colour" \(it has none of that name\)'),
        (put(1, "flows", 0, "nmae"), r'^flows\[0\]: Flow: keys must .* got "nmae" \(did you mean "name"\?\)'),
        (put(1, "flows", 0, "source", "rat"), r'^flows\[0\]\.source: CBR: keys .* got "rat" \(did you mean "rate"\?\)'),
        (put(1, "ports", 0, "classes", 1, "q"), r'^ports\[0\]\.classes\[1\]: TrafficClass: keys must be .* got "q"'),
        (put(1, "ports", 0, "tx_ring", "size"), r"^ports\[0\]\.tx_ring: TxRing: keys must be .* got \"size\""),
        (put(-1, "ports", 0, "tx_ring", "limit"), r"^ports\[0\]\.tx_ring: TxRing: limit must be .*, got -1"),
        (put("2 Mfoo", "ports", 1, "rate"), r'^ports\[1\]: Port "far": rate must be .*, got "2 Mfoo"'),
        (
            put("best", "ports", 0, "scheduler"),
            r'^ports\[0\]\.scheduler: kind must be "fifo" or "pq" or .*, got "best"',
        ),
        (put({}, "flows", 0, "source"), r'^flows\[0\]\.source: kind must be "cbr" or "poisson" or "trace", got None'),
        (put({"kind": "red"}, "ports", 0, "classes", 0, "queue"), r'queue: kind must be "drop-tail", got "red"'),
        (put(5, "flows"), r"^flows must be a list of tables, got 5"),
        (put([5], "flows"), r"^flows\[0\] must be a table with names for keys, got 5"),
        (put(7, "ports", 0, "framing"), r"^ports\[0\]\.framing must be a table .*, got 7"),
        (put(2, "format"), r"^scenario: format must be a whole number from 1 to 1, got 2"),
        (put("x.npy", "flows", 2, "source", "sizes"), r'sizes must be a list of numbers, got "x.npy"'),
        (put([0.5], "flows", 2, "source", "picoseconds"), r"picoseconds must be whole numbers .*, got \[0.5\]"),
        (put([0, -1, 2], "flows", 2, "source", "picoseconds"), r"times\[1\] must be .* got "),
        (put([0, 1, 2**70], "flows", 2, "source", "picoseconds"), r"picoseconds must be whole numbers"),
        (put([1.5, 2, 3], "flows", 2, "source", "sizes"), r"Trace: sizes must be .* got \[1.5, 2, 3\]"),
        (
            put("nowhere", "flows", 1, "route"),
            r'^Scenario: flow "BE": route must be ports of the scenario .* "nowhere"',
        ),
        (lambda table: without(table, "flows", 0, "name"), r"^flows\[0\]: Flow: name must be given, got none"),
        (lambda table: without(table, "ports"), r"^Scenario: ports must be given, got none"),
        (lambda table: without(table, "flows", 2, "source", "sizes"), r"Trace: sizes must be given, got none"),
        (lambda table: without(table, "flows", 2, "source", "picoseconds"), r"exactly one of times and picoseconds"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_place(change, message, tmp_path):
    plain = by_hand().to_dict()
    change(plain)
    with pytest.raises(qs.ScenarioError, match=message):
        qs.Scenario.from_dict(plain)


@pytest.mark.parametrize("bad", [None, 5, [], "text", {1: 2}])
def test_what_is_no_table_is_no_scenario(bad):
    with pytest.raises(qs.ScenarioError, match="scenario must be a table with names for keys, got"):
        qs.Scenario.from_dict(bad)


def test_mistakes_in_a_file_name_the_file(tmp_path):
    path = tmp_path / "bad.toml"
    for content, message in [
        (b"[[flows]\n", "bad.toml must be a TOML file, got a mistake: "),
        (b"\xff\xfe", "bad.toml must be a TOML file, got a mistake: "),
        (BY_HAND.replace("2 Mbit/s", "2 Mfoo").encode(), r'bad.toml: ports\[0\]: Port "near": rate .*"2 Mfoo"'),
        (BY_HAND.replace("rate = 10_000_000", "rate = nan").encode(), 'Port "far": rate .* got .*NaN'),
        (BY_HAND.replace("limit = 5", "limit = true").encode(), "TxRing: limit must .* got True"),
        (BY_HAND.replace("times = [0,", "times = ['x',").encode(), r'times\[0\] must be a time .* got "x"'),
        (
            BY_HAND.replace('times = [0, 0.001, "2 ms"]', "times = 'gone.npy'").encode(),
            r'times must be a .npy file .*"gone.npy"',
        ),
    ]:
        path.write_bytes(content)
        with pytest.raises(qs.ScenarioError, match=message):
            qs.Scenario.from_toml(path)
    with pytest.raises(FileNotFoundError):
        qs.Scenario.from_toml(tmp_path / "nowhere.toml")


def test_arrays_beside_a_file_are_never_unpickled(tmp_path):
    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "not.npy").write_bytes(b"nothing of the kind")
    for name in ("evil.npy", "not.npy"):
        text = f'[[flows]]\nname="x"\nsource={{kind="trace", times="{name}", sizes=40}}\n[[ports]]\nname="p"\nrate=1\n'
        (tmp_path / "x.toml").write_text(text)
        with pytest.raises(qs.ScenarioError, match=f'Trace: times must be a .npy file beside .* got "{name}"'):
            qs.Scenario.from_toml(tmp_path / "x.toml")


def test_the_dict_is_one_s_own():
    made = by_hand()
    plain = made.to_dict()
    before = json.dumps(plain)
    qs.Scenario.from_dict(plain)
    assert json.dumps(plain) == before
    plain["flows"].clear()
    assert made.to_dict() == json.loads(before)


def test_paths_are_strings_or_paths(tmp_path):
    by_hand().to_toml(str(tmp_path / "x.toml"))
    assert qs.Scenario.from_toml(Path(tmp_path / "x.toml")) == by_hand()


@pytest.mark.parametrize("text", ["a=" + "[" * 2000 + "]" * 2000, "a=" + "9" * 10000, "a=\xff"])
def test_a_file_that_the_reader_cannot_take_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wild.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(qs.ScenarioError, match=r"wild\.toml must be a TOML file"):
        qs.Scenario.from_toml(path)
