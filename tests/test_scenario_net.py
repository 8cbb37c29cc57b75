# SPDX-License-Identifier: MIT
"""Scenarios as objects: frozen, comparable, picklable, readable; and as the core sees them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import qossim as qs
from qossim import _core, scenario

NEVER = 2**63 - 1


def everything():
    """A scenario with at least one of all there is."""
    flows = [
        qs.Flow("voice", qs.CBR("300 kbit/s", 1000, phase="random"), dscp="EF", stop="10 min"),
        qs.Flow("thirds", qs.CBR(Fraction(10**9, 3), qs.Sizes([40, 1500], [0.7, 0.3]), phase="1 ms"), start=1.5),
        qs.Flow("noise", qs.Poisson(pps=100, size=qs.Sizes([40, 576])), dscp=13, route=["c", "a"]),
        qs.Flow("data", qs.Poisson("1 Mbit/s", 1500), dscp="AF11"),
        qs.Flow("trace", qs.Trace([0.0, 0.5], [40, 1500]), route="b"),
        qs.Flow("film", qs.CBR(interval="1/30 s", size=9000), dscp="AF41"),
    ]
    rest = qs.TrafficClass("rest", bandwidth="1000000000/3", quantum="4500.5")
    classes = [
        qs.TrafficClass(
            "EF",
            match="EF",
            bandwidth="400 kbit/s",
            quantum=1500,
            queue=qs.DropTail(10),
            police=qs.TokenBucket("400 kbit/s", 8000, counts="wire", overhead=4, when="congestion"),
        ),
        qs.TrafficClass(
            "mixed", match=["AF11", 13], flows=["film"], bandwidth=7, quantum=1, queue=qs.DropTail(bytes=0)
        ),
        qs.TrafficClass("named", flows="trace", bandwidth=0.1, quantum="1/1 B", queue=qs.DropTail(5, time="20 ms")),
        rest.replace(bandwidth=10_000),
    ]
    framings = [None, qs.AAL5("vc-mux"), qs.Ethernet(tags=2), qs.PPP(), qs.HDLC(), qs.FrameRelay(), qs.Overhead(3)]
    schedulers = [qs.FIFO(), qs.PQ(), qs.WFQ(), qs.SCFQ(), qs.DRR(), qs.SCFQ("wire"), qs.DRR()]
    rings = [
        None,
        qs.TxRing(5),
        qs.TxRing(None),
        qs.TxRing(3, particle=580, header=12, admit="strict", free="particle"),
    ]
    ports = [
        qs.Port(
            name,
            rate,
            framing=framing,
            scheduler=scheduler,
            classes=classes if scheduler != qs.FIFO() else None,
            tx_ring=rings[i % len(rings)],
            propagation=f"{i} us",
        )
        for i, (name, rate, framing, scheduler) in enumerate(
            zip(
                "abcdefg",
                ["2 Mbit/s", 1e9, "1000000000/3", 8e12, "64 kbit/s", 1, 33.6e3],
                framings,
                schedulers,
                strict=True,
            )
        )
    ]
    return qs.Scenario(flows, ports)


def parts(described):
    """A description and all that is in it."""
    yield described
    for value in described._arguments().values():
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, scenario._describe.Description):
                yield from parts(item)


PARTS = list(dict.fromkeys(parts(everything())))


def test_all_there_is_stands_in_the_example():
    kinds = {type(part) for part in PARTS}
    assert kinds == {cls for name in scenario.__all__ if not (cls := getattr(scenario, name)).__subclasses__()}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_descriptions_are_values(part):
    for twin in (part.replace(), copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert twin == part
        assert hash(twin) == hash(part)
        assert repr(twin) == repr(part)
    assert part != "something else"
    assert dataclasses.is_dataclass(part)
    assert not hasattr(part, "__dict__")
    for name in part._arguments():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(part, name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.novelty = 1


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_a_description_prints_as_the_call_that_makes_it(part):
    assert eval(repr(part), vars(qs) | {"Scenario": qs.Scenario}) == part


def test_a_pickled_trace_stays_read_only():
    trace = pickle.loads(pickle.dumps(qs.Trace([0, 1], [40, 50])))
    assert not trace.times.flags.writeable
    assert not trace.sizes.flags.writeable


def test_descriptions_of_different_kinds_are_different():
    assert qs.PPP() != qs.HDLC()
    assert len({qs.HDLC(), qs.FrameRelay(), qs.HDLC()}) == 2
    assert qs.SCFQ() != qs.SCFQ("wire")


def test_replace_checks_again():
    port = everything().ports[0]
    assert port.replace(rate="1 Gbit/s").rate == 10**9
    with pytest.raises(qs.ScenarioError, match="rate"):
        port.replace(rate=-1)
    with pytest.raises(TypeError, match="speed"):
        port.replace(speed=1)


def test_a_scenario_keeps_nothing_of_the_lists_it_was_made_from():
    flows = [qs.Flow("x", qs.CBR(1000, 100))]
    ports = [qs.Port("p", 1000)]
    made = qs.Scenario(flows, ports)
    flows.clear()
    ports.clear()
    assert (len(made.flows), len(made.ports)) == (1, 1)


def test_notebooks_get_tables_with_names_escaped():
    table = everything()._repr_html_()
    assert table.count("<table>") == table.count("</table>") == 3
    for word in ("voice", "2 Mbit/s", "DSCP EF", "DropTail(10)", "all ports", "c → a"):
        assert word in table
    nasty = qs.Flow("<script>", qs.CBR(1000, 100))._repr_html_()
    assert "<script>" not in nasty
    assert "&lt;script&gt;" in nasty
    for part in PARTS:
        assert part._repr_html_().startswith("<")


# -- lowering ----------------------------------------------------------------------------------------------------------


def test_lowering_is_done_once_and_is_no_part_of_the_value():
    made = everything()
    assert made._lower() is made._lower()
    assert made == everything()
    assert made.replace()._lowered is None
    assert pickle.loads(pickle.dumps(made))._lowered is None


def test_lowered_forms_are_what_the_core_was_promised():
    ports, flows = everything()._lower()
    name, rate, framing, scheduler, ring, propagation, classes = ports[3]
    assert (name, rate, framing, scheduler, propagation) == (
        "d",
        8 * 10**12,
        ("ppp", ()),
        ("scfq", (("lengths", "ip"),)),
        3_000_000,
    )
    assert ring == (
        "tx-ring",
        (("limit", 3), ("particle", 580), ("header", 12), ("admit", "strict"), ("free", "particle")),
    )
    police = (
        "token-bucket",
        (("rate", 400_000), ("burst", 8000), ("counts", "wire"), ("overhead", 4), ("when", "congestion")),
    )
    assert classes[0] == ("EF", 1 << 46, (), 400_000, 1500, ("drop-tail", (("packets", 10),)), police)
    assert classes[1][1:3] == (1 << 10 | 1 << 13, ("film",))
    assert classes[2][3:6] == ((0, 1, 10), 1, ("drop-tail", (("packets", 5), ("time", 20 * 10**9))))
    assert ports[0][2] is ports[0][4] is ports[2][4] is None
    assert ports[2][1] == (333333333, 1, 3)
    voice, thirds, noise, *_ = flows
    assert voice == (
        (
            "voice",
            ("cbr", (("interval", (26666666666, 2, 3)), ("random", 1), ("size", 1000))),
            46,
            tuple(range(7)),
            0,
            600 * 10**12,
        ),
        True,
    )
    assert thirds[0][4:] == (1_500_000_000_000, NEVER)
    assert noise[0][3] == (2, 0)
    assert [draws for _, draws in flows] == [True, True, True, True, False, False]


def test_drawn_sizes_are_lowered_with_cumulative_weights():
    _, settings = qs.Poisson(pps=1, size=qs.Sizes([40, 576, 1500], [7, 4, 1]))._lower()
    lowered = dict(settings)
    assert lowered["sizes"].tolist() == [40, 576, 1500]
    assert lowered["weights"].tolist() == [7, 11, 12]
    assert lowered["sizes"].dtype == lowered["weights"].dtype == np.int64


def test_a_quantum_here_and_there_counts_for_nothing():
    one = qs.TrafficClass("one", match=1, bandwidth=1, quantum=700)
    rest = qs.TrafficClass("rest", bandwidth=2)
    port = qs.Port("x", 1000, scheduler=qs.DRR(), classes=[one, rest])
    assert [c[4] for c in port._lower_port()[6]] == [None, None]


def build(made):
    """The core's simulation of a scenario, built and not run."""
    simulation = _core.Simulation(record="none", duration=1)
    ports, flows = made._lower()
    for port in ports:
        simulation.add_port(*port)
    for flow, draws in flows:
        simulation.add_flow(*flow, np.random.PCG64(1) if draws else None)
    return simulation


def test_the_core_takes_all_there_is():
    build(everything()).run()


EXTREMES = [
    qs.Port("x", "8 Tbit/s"),
    qs.Port("x", "0.2 bit/s", framing=qs.AAL5()),
    qs.Port("x", Fraction(2**63 - 1, 2**21 + 1), scheduler=qs.WFQ()),
    qs.Port("x", Fraction(1, 2**50 + 1) + 1, scheduler=qs.SCFQ()),
    qs.Port("x", 1000, propagation="9200000 s", framing=qs.Overhead(65535, minimum=65535)),
    qs.Port("x", 1000, tx_ring=qs.TxRing(2**62, particle=10**6, header=65535)),
    qs.Port("x", 1000, tx_ring=qs.TxRing(1, particle=1), framing=qs.Ethernet(tags=16)),
    *(
        qs.Port(
            "x",
            "8 Tbit/s",
            scheduler=scheduler,
            classes=[
                qs.TrafficClass("a", match=63, bandwidth="8 kbit/s", quantum=1, queue=qs.DropTail(2**62, bytes=2**62)),
                qs.TrafficClass("b", match=0, bandwidth=Fraction(10**9, 3), quantum=Fraction(10**9 * 7 - 1, 7)),
                qs.TrafficClass("c", bandwidth="8 Tbit/s", quantum=10**9, queue=qs.DropTail(time=0)),
            ],
        )
        for scheduler in (qs.PQ(), qs.WFQ(), qs.SCFQ(), qs.DRR())
    ),
    *(
        qs.Port("x", 1000, classes=[qs.TrafficClass("a", police=qs.TokenBucket(rate, burst, overhead=65535))])
        for rate, burst in [("8 Tbit/s", 10**12), (Fraction(1, 2**40 + 1), 2**17), (1e-6, 10**12), (1, 0)]
    ),
]


@pytest.mark.parametrize("port", EXTREMES, ids=repr)
def test_what_a_port_accepts_the_core_accepts(port):
    build(qs.Scenario([qs.Flow("f", qs.CBR(1000, 100))], [port])).run()


@pytest.mark.parametrize(
    "source",
    [
        qs.CBR(interval="1 ps", size=65535),
        qs.CBR(interval="9200000 s", size=1, phase="9200000 s"),
        qs.CBR(interval=Fraction(2**63 + 1, 2**62 + 1) / 10**12, size=1, phase="random"),
        qs.Poisson(pps=10**12, size=qs.Sizes([1, 65535], [2**62, 2**62 - 1])),
        qs.Poisson(pps=Fraction(1, 9_200_000), size=1),
        qs.Trace(np.array([0, 9_200_000 * 10**12], dtype="m8[ps]"), [1, 65535]),
        qs.Trace([], []),
    ],
    ids=repr,
)
def test_what_a_source_accepts_the_core_accepts(source):
    for start in (0, "9200000 s"):
        build(qs.Scenario([qs.Flow("f", source, start=start, stop="9200000 s")], [qs.Port("x", 10**12)])).run()


STATIONS = {
    "source": [
        qs.CBR(1000, 100),
        qs.CBR(1000, qs.Sizes([1, 2]), phase="random"),
        qs.Poisson(1000, 100),
        qs.Trace([], []),
    ],
    "meter": [qs.TokenBucket(1000, 8000)],
    "queue": [qs.DropTail(1, bytes=1, time=1)],
    "sched": [qs.FIFO(), qs.PQ(), qs.WFQ(), qs.SCFQ(), qs.DRR()],
    "port": [qs.AAL5(), qs.Ethernet(), qs.PPP(), qs.HDLC(), qs.FrameRelay(), qs.Overhead(1), qs.TxRing(1)],
}


def test_descriptions_and_the_core_name_the_same_kinds():
    assert {station: {described.kind for described in descriptions} for station, descriptions in STATIONS.items()} == {
        station: set(kinds) for station, kinds in _core.parameters().items()
    }


@pytest.mark.parametrize(
    ("station", "described"), [(station, d) for station, ds in STATIONS.items() for d in ds], ids=repr
)
def test_descriptions_spell_out_the_core_s_parameters_and_defaults(station, described):
    table = {name: (unit, default) for name, unit, _, _, default, _ in _core.parameters()[station][described.kind]}
    kind, settings = described._lower()
    assert kind == described.kind
    said = dict(settings)
    assert set(said) <= set(table)
    if station != "source":
        assert set(said) == set(table)
        defaults = {name: default for name, (_, default) in table.items() if default not in (None, ...)}
        assert {name: said[name] for name in defaults} == defaults
    for name, (unit, _) in table.items():
        if "|" in unit:
            field = "gap" if name == "gap" else name
            for word in unit.split("|"):
                assert described.replace(**{field: word})
            with pytest.raises(qs.ScenarioError, match=field):
                described.replace(**{field: "other"})


# -- the package -------------------------------------------------------------------------------------------------------


def test_importing_the_package_imports_nothing_but_itself():
    code = (
        "import sys; import qossim; print('numpy' in sys.modules, [n for n in sys.modules if n.startswith('qossim.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False ['qossim.errors']"


def test_describing_imports_numpy_alone():
    code = (
        "import sys, dataclasses, numpy; before = set(sys.modules); import qossim; qossim.Scenario\n"
        "heavy = {'pandas', 'matplotlib', 'tqdm', 'xarray', 'scipy', 'pyarrow', 'numpy.random', 'inspect'} - before\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_dataclasses_can_replace_what_is_given_to_the_constructor():
    for one in (qs.TrafficClass("a"), qs.Flow("a", qs.CBR(pps=1, size=100))):
        one._lower_class(False) if isinstance(one, qs.TrafficClass) else one._lower_source()
        assert dataclasses.replace(one, name="b") == one.replace(name="b") != one


def test_run_is_the_function_whatever_was_imported_first():
    code = "import qossim.run; from qossim.run import run; import qossim as qs; print(qs.run is run and callable(run))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_every_name_promised_is_there():
    for name in qs.__all__:
        assert getattr(qs, name) is not None
        assert name in dir(qs)
    with pytest.raises(AttributeError, match="novelty"):
        qs.novelty  # noqa: B018
