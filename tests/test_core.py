# SPDX-License-Identifier: MIT
"""The extension by itself: what it takes and refuses, and what it gives away."""

from __future__ import annotations

import array
import gc
import importlib.metadata
import inspect
import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import qossim as qs
from qossim import _core
from qossim._core import Simulation
from tests.bare import (
    ASK,
    CUMULATIVE,
    MIXED,
    NEVER,
    SECOND,
    SIZES,
    add_flow,
    add_port,
    cbr,
    class_of,
    endless,
    finished,
    poisson,
    simulation,
)

CHANGE: dict[str, Callable[[Simulation], object]] = {"add_port": add_port, "add_flow": add_flow, "run": Simulation.run}


# -- what it takes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "changes", "message"),
    [
        (add_port, {"name": 3}, "name must be a string, not int"),
        (add_port, {"rate": 1e6}, "rate must be an int or (whole, part, per), not float"),
        (add_port, {"rate": (1, 0)}, "rate must be an int or (whole, part, per), got 2 items"),
        (add_port, {"rate": (1, 0.0, 1)}, "rate must be an int, not float"),
        (add_port, {"framing": "ppp"}, "framing must be (kind, settings), not str"),
        (add_port, {"framing": ["ppp", ()]}, "framing must be (kind, settings), not list"),
        (add_port, {"framing": (b"ppp", ())}, "framing must be a string, not bytes"),
        (add_port, {"framing": ("ppp", [])}, "framing must be a tuple, not list"),
        (add_port, {"ring": ("tx-ring", ("limit",))}, "a setting must be (name, value), not str"),
        (add_port, {"ring": ("tx-ring", (("limit", 1, 2),))}, "a setting must be (name, value), got 3 items"),
        (add_port, {"ring": ("tx-ring", ((1, 2),))}, "a setting's name must be a string, not int"),
        (add_port, {"ring": ("tx-ring", (("limit", 5.0),))}, "limit must be an int, (whole, part, per), a string or"),
        (add_port, {"ring": ("tx-ring", (("limit", None),))}, "limit must be an int, (whole, part, per), a string or"),
        (add_port, {"propagation": "0"}, "propagation must be an int, not str"),
        (add_port, {"classes": None}, "classes must be a tuple, not NoneType"),
        (add_port, {"classes": ((),)}, "a class must be (name, match, flows, bandwidth, quantum, queue, policer), got"),
        (add_port, {"classes": (("a", "EF", (), None, None, None, None),)}, "match must be an int, not str"),
        (add_port, {"classes": (("a", 1, "EF", None, None, None, None),)}, "flows must be a tuple, not str"),
        (add_port, {"classes": (("a", 1, (2,), None, None, None, None),)}, "flows must be a string, not int"),
        (add_port, {"classes": (("a", 1, (), 0.5, None, None, None),)}, "bandwidth must be an int or (whole, part,"),
        (add_flow, {"source": None}, "source must be (kind, settings), not NoneType"),
        (add_flow, {"dscp": "EF"}, "dscp must be an int, not str"),
        (add_flow, {"route": [0]}, "route must be a tuple, not list"),
        (add_flow, {"route": ("link",)}, "route must be an int, not str"),
        (add_flow, {"start": 0.5}, "start must be an int, not float"),
        (add_flow, {"bitgen": np.random.default_rng(1)}, "bitgen must be a NumPy BitGenerator or None, not"),
        (add_flow, {"bitgen": 1}, "bitgen must be a NumPy BitGenerator or None, not int"),
        (add_flow, {"source": ("trace", (("times", np.zeros(2)),))}, "times must be a contiguous array of int64"),
        (add_flow, {"source": ("trace", (("times", np.zeros(2, np.int32)),))}, "in one dimension, got format 'i' in 1"),
        (add_flow, {"source": ("trace", (("times", np.zeros(2, np.uint64)),))}, "times must be a contiguous array of"),
        (
            add_flow,
            {"source": ("trace", (("times", np.zeros(2, ">i8")),))},
            "times must be a contiguous array of int64",
        ),
        (add_flow, {"source": ("trace", (("times", np.zeros((2, 2), np.int64)),))}, "in one dimension, got format 'l'"),
        (add_flow, {"source": ("trace", (("times", np.zeros(4, np.int64)[::2]),))}, "times must be a contiguous array"),
        (add_flow, {"source": ("trace", (("times", b"12345678"),))}, "times must be a contiguous array of int64"),
    ],
)
def test_an_argument_of_another_type_is_a_type_error(add: Callable[..., None], changes: Any, message: str) -> None:
    made = Simulation(record="none", duration=SECOND)
    if add is add_flow:
        add_port(made)
    with pytest.raises(TypeError) as caught:
        add(made, **changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("add", "changes", "message"),
    [
        (add_port, {"rate": -1}, "rate must be 0 to 9223372036854775807, got -1"),
        (add_port, {"rate": 2**63}, "rate must be 0 to 9223372036854775807, got 9223372036854775808"),
        (add_port, {"rate": 10**30}, "got 1000000000000000000000000000000"),
        (add_port, {"rate": (1, 1, 0)}, "rate must be 1 to 9223372036854775807, got 0"),
        (add_port, {"rate": (1, 3, 3)}, "rate must be 0 to 2, got 3"),
        (add_port, {"rate": 0}, "rate"),
        (add_port, {"rate": 8 * 10**12 + 1}, "rate"),
        (add_port, {"name": "a\0b"}, "name must not contain a null character, got 'a\\x00b'"),
        (add_port, {"propagation": -1}, "propagation must be 0 to 9223372036854775806, got -1"),
        (add_port, {"classes": (class_of("a", 2**64),)}, "match must be 0 to 18446744073709551615"),
        (add_port, {"classes": (class_of("a", 1),)}, "class"),
        (add_port, {"classes": (class_of("a", 1), class_of("a"))}, '"a"'),
        (add_port, {"framing": ("pigeon", ())}, "pigeon"),
        (add_port, {"scheduler": ("chance", ())}, "chance"),
        (add_port, {"ring": ("tx-ring", ())}, "limit is missing"),
        (add_port, {"ring": ("tx-ring", (("limit", 0),))}, "limit must be 1 to"),
        (add_port, {"ring": ("tx-ring", (("limit", (2, 1, 2)),))}, "limit must be a whole number, got 2.5"),
        (add_port, {"ring": ("tx-ring", (("limit", 1), ("free", "never")))}, "free must be one of start|end|particle"),
        (add_port, {"ring": ("tx-ring", (("limit", 1), ("limit", 1)))}, "limit is given twice"),
        (add_port, {"ring": ("tx-ring", (("width", 1),))}, "width"),
        (add_flow, {"dscp": 64}, "dscp must be 0 to 63, got 64"),
        (add_flow, {"route": ()}, "route"),
        (add_flow, {"route": (1,)}, "port 1"),
        (add_flow, {"route": (-1,)}, "route must be 0 to 4294967295, got -1"),
        (add_flow, {"route": (0, 0)}, "twice"),
        (add_flow, {"start": NEVER}, "start must be 0 to 9223372036854775806, got 9223372036854775807"),
        (add_flow, {"stop": -1}, "stop must be 0 to 9223372036854775807, got -1"),
        (add_flow, {"source": ("rain", ())}, "rain"),
        (add_flow, {"source": cbr(0)}, "interval must be 1 to"),
        (add_flow, {"source": cbr(SECOND, ("size", 65536))}, "size must be 1 to 65535, got 65536"),
        (add_flow, {"source": cbr(SECOND, ("sizes", SIZES))}, "weights"),
        (add_flow, {"source": poisson()}, "random"),
        (add_flow, {"source": ("trace", (("times", np.array([2, 1])), ("sizes", np.array([9, 9]))))}, "times"),
        (add_flow, {"source": ("trace", (("times", np.array([1, 2])), ("sizes", np.array([9]))))}, "sizes"),
    ],
)
def test_what_is_out_of_bounds_is_a_scenario_error(add: Callable[..., None], changes: Any, message: str) -> None:
    made = Simulation(record="none", duration=SECOND)
    if add is add_flow:
        add_port(made)
    with pytest.raises(qs.ScenarioError) as caught:
        add(made, **changes)
    assert message in str(caught.value).replace(" byte", "").replace(" ps", "")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, TypeError),
        ({"record": "none"}, TypeError),
        ({"duration": 1}, TypeError),
        ({"record": "all", "duration": 1}, ValueError),
        ({"record": None, "duration": 1}, ValueError),
        ({"record": "none", "duration": 1.0}, TypeError),
        ({"record": "none", "duration": 0}, qs.ScenarioError),
        ({"record": "none", "duration": NEVER}, qs.ScenarioError),
        ({"record": "none", "duration": 1, "warmup": -1}, qs.ScenarioError),
        ({"record": "none", "duration": 1, "colour": "red"}, TypeError),
    ],
)
def test_a_simulation_needs_what_its_signature_says(options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Simulation(**options)
    with pytest.raises(TypeError):
        Simulation("none", 1)  # type: ignore[call-arg]


def test_a_refused_part_leaves_a_simulation_that_can_be_built_on() -> None:
    made = Simulation(record="packets", duration=SECOND)
    with pytest.raises(qs.ScenarioError):
        add_port(made, rate=0)
    add_port(made)
    with pytest.raises(qs.ScenarioError):
        add_flow(made, source=("trace", (("times", np.array([2, 1])), ("sizes", np.array([9, 9])))))
    add_flow(made)
    with pytest.raises(qs.ScenarioError, match="flow"):
        add_flow(made)
    made.run()
    assert made.packets()["sent"].tolist() == list(range(0, SECOND, SECOND // 1000))


def test_a_long_name_is_cut_in_the_message_and_nowhere_else() -> None:
    made = Simulation(record="none", duration=SECOND)
    with pytest.raises(qs.ScenarioError, match="ü"):
        add_port(made, name="ü" * 1000, rate=0)
    add_port(made, name="ü" * 1000)
    with pytest.raises(qs.ScenarioError, match="ü"):
        add_port(made, name="ü" * 1000)
    with pytest.raises(UnicodeEncodeError):
        add_port(made, name="\ud800")


def test_a_port_of_any_number_of_classes_is_read_whole() -> None:
    made = Simulation(record="none", duration=SECOND)
    names = [f"class {i}" for i in range(500)]
    add_port(made, classes=tuple(class_of(name, bool(i), 10 + i) for i, name in enumerate(names)))
    add_flow(made)
    made.run()
    (port,) = made.ports()
    assert [counts["sent"] for counts in port["classes"]] == [0, 1000, *[0] * 498]


def test_an_empty_array_is_a_source_that_sends_nothing() -> None:
    none = np.array([], np.int64)
    made = finished(source=("trace", (("times", none), ("sizes", none))))
    columns = made.packets() | made.hop(0)
    assert len(columns) == 11
    assert all(column.shape == (0,) for column in columns.values())
    with pytest.raises(RuntimeError):
        made.packets()


# -- phases and callers ------------------------------------------------------------------------------------------------


def test_ports_come_before_flows() -> None:
    made = simulation()
    with pytest.raises(RuntimeError, match="ports must be added before flows"):
        add_port(made, name="late")


@pytest.mark.parametrize("ask", ASK)
def test_nothing_can_be_asked_before_the_run(ask: str) -> None:
    with pytest.raises(RuntimeError, match="has not run yet"):
        ASK[ask](simulation())


@pytest.mark.parametrize("change", CHANGE)
def test_nothing_can_be_changed_after_the_run(change: str) -> None:
    with pytest.raises(RuntimeError, match="has run already"):
        CHANGE[change](finished())


@pytest.mark.parametrize("call", ASK | CHANGE)
def test_a_run_that_was_broken_off_has_no_results(call: str) -> None:
    def fail(fraction: float) -> None:
        raise ZeroDivisionError(fraction)

    made = endless()
    with pytest.raises(ZeroDivisionError):
        made.run(fail)
    with pytest.raises(RuntimeError, match="did not come to its end"):
        (ASK | CHANGE)[call](made)


@pytest.mark.parametrize("call", ASK | CHANGE)
def test_a_running_simulation_refuses_every_other_call(call: str) -> None:
    """From its own callback, and from another thread."""
    made = endless()
    refusals: list[str] = []

    def refused() -> None:
        with pytest.raises(RuntimeError) as caught:
            (ASK | CHANGE)[call](made)
        refusals.append(str(caught.value))

    def progress(fraction: float) -> None:
        refused()
        other = threading.Thread(target=refused)
        other.start()
        other.join()
        raise StopIteration

    with pytest.raises(StopIteration):
        made.run(progress)
    assert len(refusals) == 2
    assert all("in use" in text for text in refusals)


def test_code_that_runs_while_arguments_are_read_cannot_use_the_simulation() -> None:
    made = Simulation(record="none", duration=SECOND)
    add_port(made)

    class Intruder:
        @property
        def capsule(self) -> object:
            add_flow(made, name="second")
            return None

    with pytest.raises(RuntimeError, match="in use"):
        add_flow(made, bitgen=Intruder())
    add_flow(made)
    made.run()
    assert len(made.flows()) == 1


def test_columns_need_a_record_of_packets_and_statistics_a_summary() -> None:
    for record in ("summary", "none"):
        made = finished(record)
        for ask in (made.packets, lambda made=made: made.hop(0), lambda made=made: made.digest(())):
            with pytest.raises(RuntimeError, match='record="packets"'):
                ask()
    for record in ("packets", "none"):
        with pytest.raises(RuntimeError, match='record="summary"'):
            finished(record).statistics(0)


def test_an_index_out_of_range_is_an_index_error() -> None:
    packets, summary = finished(), finished("summary")
    for index in (1, -1, 2**70):
        with pytest.raises(IndexError):
            packets.hop(index)
        with pytest.raises(IndexError):
            summary.statistics(index)
    with pytest.raises(TypeError):
        packets.hop(0.0)  # type: ignore[arg-type]
    assert len(packets.hop(0)) == 4


# -- columns -----------------------------------------------------------------------------------------------------------


def test_columns_have_their_names_types_and_one_length() -> None:
    made = finished()
    packets, hop = made.packets(), made.hop(0)
    assert {name: str(column.dtype) for name, column in packets.items()} == {
        "flow": "int32",
        "seq": "int32",
        "size": "int32",
        "fate": "int8",
        "where": "int16",
        "sent": "int64",
        "received": "int64",
    }
    assert {name: str(column.dtype) for name, column in hop.items()} == dict.fromkeys(
        ("queued", "ring", "start", "end"), "int64"
    )
    assert {column.shape for column in (packets | hop).values()} == {(1000,)}
    assert packets["seq"].tolist() == list(range(1000))
    assert (packets["received"] - packets["sent"] == 125 * 8 * SECOND // 10**7).all()


def test_columns_are_given_away_once() -> None:
    made = finished()
    made.packets()
    with pytest.raises(RuntimeError, match="given away"):
        made.packets()
    made.hop(0)
    with pytest.raises(RuntimeError, match="given away"):
        made.hop(0)


def test_a_column_owns_its_memory_through_a_capsule_and_outlives_the_simulation() -> None:
    made = finished()
    columns = made.packets() | made.hop(0)
    sent = columns["sent"]
    expected = sent.copy()
    for column in columns.values():
        assert type(column.base).__name__ == "PyCapsule"
        assert '"qossim.column"' in repr(column.base)
        assert column.flags.c_contiguous
        assert column.flags.aligned
        assert column.flags.writeable
        assert not column.flags.owndata
    part = sent[500:]
    del made, columns, sent, column
    gc.collect()
    assert (part == expected[500:]).all()
    part[:] = -1


def test_columns_that_nobody_asks_for_go_with_the_simulation() -> None:
    made = finished()
    fate = made.packets()["fate"]
    del made
    gc.collect()
    assert (fate == 1).all()


# -- generators --------------------------------------------------------------------------------------------------------


def draws(generator: np.random.BitGenerator, count: int) -> list[int]:
    """What the generator's next_uint64 gives, by way of NumPy's own code."""
    return [int(raw) for raw in np.random.Generator(generator).integers(0, 2**64, size=count, dtype=np.uint64)]


@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_numpy_bit_generators_feed_the_core_and_go_on_where_it_stopped(kind: str) -> None:
    make = getattr(np.random, kind)
    used, twin = make(12345), make(12345)
    made = finished(source=cbr(SECOND // 1000, *MIXED), bitgen=used)
    sizes = made.packets()["size"]
    # one draw ahead: the size of the packet that would have left at the very end
    expected = [SIZES[np.searchsorted(CUMULATIVE, raw * 12 >> 64, side="right")] for raw in draws(twin, 1001)]
    assert sizes.tolist() == expected[:1000]
    assert draws(used, 3) == draws(twin, 3)


def test_a_generator_lives_as_long_as_the_simulation_needs_it() -> None:
    made = simulation(source=poisson(), bitgen=np.random.PCG64(5))
    gc.collect()
    scratch = [np.random.PCG64(i) for i in range(100)]
    made.run()
    again = finished(source=poisson(), bitgen=np.random.PCG64(5))
    assert made.packets()["sent"].tolist() == again.packets()["sent"].tolist()
    assert len(scratch) == 100


def test_arrays_are_held_as_long_as_the_simulation_and_no_longer() -> None:
    times, sizes = array.array("q", range(1000)), array.array("q", [125]) * 1000
    made = simulation(source=("trace", (("times", times), ("sizes", sizes))))
    with pytest.raises(BufferError):  # they are lent: they cannot move
        times.append(1000)
    made.run()
    assert made.packets()["sent"].tolist() == times.tolist()
    del made
    times.append(1000)


# -- statistics --------------------------------------------------------------------------------------------------------


def test_a_summary_says_of_the_packets_what_their_rows_say() -> None:
    def ran(record: Literal["packets", "summary"]) -> Simulation:
        made = Simulation(record=record, duration=50 * SECOND, warmup=SECOND)
        add_port(made, name="near", rate=(12 * 10**5, 1, 3), propagation=7)
        add_port(made, name="far", rate=10**6, ring=("tx-ring", (("limit", 2), ("particle", 500))))
        add_flow(made, source=poisson(), route=(1, 0), bitgen=np.random.Philox(9))
        made.run()
        return made

    rows, summary = ran("packets"), ran("summary").statistics(0)
    packets, hops = rows.packets(), [rows.hop(0), rows.hop(1)]
    counted = (packets["sent"] >= SECOND) & (packets["fate"] == 1)
    delay = (packets["received"] - packets["sent"])[counted]
    ipdv = np.diff(delay)
    for said, values in ((summary["delay"], delay), (summary["ipdv"], ipdv)):
        assert said["count"] == len(values)
        assert (said["min"], said["max"], said["sum"]) == (values.min(), values.max(), values.sum())
        assert said["m2"] == pytest.approx(np.var(values) * len(values), rel=1e-9)
        low, high, counts = said["low"], said["high"], said["counts"]
        assert (low <= high).all()
        assert (low[1:] > high[:-1]).all()
        assert np.histogram(values, np.append(low, high[-1] + 1))[0].tolist() == counts.tolist()
        assert (high - low <= np.abs(low + high) / 2 * 0.02).all()
    assert (ipdv < 0).any()
    assert [stage[0] for stage in summary["stages"]] == [1, 0]
    for port, *sums in summary["stages"]:
        hop = {name: column[counted] for name, column in hops[port].items()}
        steps = [hop["ring"] - hop["queued"], hop["start"] - hop["ring"], hop["end"] - hop["start"]]
        assert sums == [*(int(step.sum()) for step in steps), len(delay) * (0, 7)[port == 0]]
    assert sum(sum(stage[1:]) for stage in summary["stages"]) == delay.sum()


def test_sums_that_need_more_than_64_bits_are_exact() -> None:
    """A thousand packets before a link that sends one in 64 seconds."""
    made = Simulation(record="summary", duration=SECOND)
    add_port(made, rate=(0, 1, 8))
    add_flow(made, source=cbr(SECOND // 1000, ("size", 1)))
    made.run()
    said = made.statistics(0)["delay"]
    each = 64 * SECOND
    assert said["count"] == 1000
    assert said["sum"] == sum(each * (k + 1) - k * (SECOND // 1000) for k in range(1000)) > 2**64


def test_without_packets_every_number_is_zero_and_every_histogram_empty() -> None:
    made = finished("summary", start=5 * SECOND)
    said = made.statistics(0)
    for values in (said["delay"], said["ipdv"]):
        assert [values[name] for name in ("count", "min", "max", "sum", "m2")] == [0, 0, 0, 0, 0.0]
        assert [values[name].shape for name in ("low", "high", "counts")] == [(0,)] * 3
    assert said["stages"] == [(0, 0, 0, 0, 0)]


def test_counts_are_plain_dicts_of_ints() -> None:
    made = finished("none", warmup=SECOND // 2)
    (flow,), (port,) = made.flows(), made.ports()
    assert flow == {
        "sent": 500,
        "received": 500,
        "inside": 0,
        "dropped_queue": 0,
        "dropped_policer": 0,
        "sent_bytes": 62500,
        "received_bytes": 62500,
        "delivered_bytes": 62500,
        "loss_periods": 0,
        "longest_loss": 0,
    }
    (only,) = port["classes"]
    assert {**port, "classes": 1} == {
        "classes": 1,
        "busy": 500 * 10**8,
        "sent": 500,
        "sent_bytes": 62500,
        "wire_bits": 500000,
        "ring_area": 0,
        "largest_ring": 0,
    }
    assert only == {
        "offered": 500,
        "offered_bytes": 62500,
        "sent": 500,
        "sent_bytes": 62500,
        "dropped_queue": 0,
        "dropped_policer": 0,
        "inside": 0,
        "largest_queue": 0,
        "largest_queue_bytes": 0,
        "queue_area": 0,
    }
    assert made.now == SECOND - SECOND // 1000 + 10**8


# -- the surface -------------------------------------------------------------------------------------------------------


def test_every_call_documents_its_signature() -> None:
    calls = [getattr(Simulation, name) for name in CHANGE | ASK if name != "now"] + [_core.parameters]
    for call in calls:
        assert call.__doc__
        assert str(inspect.signature(call)).startswith("(")
    assert str(inspect.signature(Simulation)) == "(*, record, duration, warmup=0, drain=True)"
    assert list(inspect.signature(Simulation.run).parameters) == ["self", "progress"]
    assert Simulation.now.__doc__


def test_the_type_is_sealed() -> None:
    with pytest.raises(TypeError):
        type("Mine", (Simulation,), {})
    with pytest.raises(TypeError):
        Simulation.run = None  # type: ignore[assignment, method-assign]
    with pytest.raises(AttributeError):
        simulation().colour = 1  # type: ignore[attr-defined]


def test_versions_agree() -> None:
    assert _core.__version__ == qs.__version__ == importlib.metadata.version("qossim")
