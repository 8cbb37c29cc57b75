# SPDX-License-Identifier: MIT
"""A sweep is a table of what `qossim.run` says of each point: dimensions, labels, values, and how it was made."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.random import SeedSequence

import qossim as qs
from qossim._axes import label
from qossim.experiments import ef_wfq_vs_pq
from tests.builds import failing, link
from tests.sweeps import ROOT

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
BY_PORT = ["utilisation", "mean_ring", "largest_ring"]
BY_CLASS = ["mean_queue", "largest_queue"]
BY_FLOW = [
    *("delay_min", "delay_mean", "delay_max", "ipdv_mean_abs", "jitter", "sent", "received", "throughput"),
    *("loss_ratio", "loss_ratio_queue", "loss_ratio_policer"),
]
BY_QUANTILE = ["delay_quantile", "ipdv_quantile", "pdv_quantile"]
sweep = functools.partial(qs.sweep, progress=False)


def expected(flow: Any) -> dict[str, Any]:
    """What the table must say of a flow."""
    delay, ipdv = flow.delay_stats, flow.ipdv_stats
    exact = isinstance(delay, qs.Statistics)
    jitter = flow.jitter() if exact else []
    quantile = list(QUANTILES)
    if exact:
        sent, received, _ = flow._times()
        delays = (received - sent)[received >= 0]
        pdv = qs.Statistics(delays - delays.min(), per=10**12).quantile(quantile)
    else:
        pdv = delay.quantile(quantile) - delay.min
    return {
        "delay_min": delay.min,
        "delay_mean": delay.mean,
        "delay_max": delay.max,
        "delay_quantile": delay.quantile(quantile),
        "ipdv_mean_abs": ipdv.absolute().mean,
        "ipdv_quantile": ipdv.quantile(quantile),
        "pdv_quantile": pdv,
        "jitter": jitter[-1] if len(jitter) else math.nan,
        "sent": flow.sent,
        "received": flow.received,
        "throughput": flow.throughput,
        "loss_ratio": flow.loss_ratio,
        "loss_ratio_queue": flow.drops["queue"] / flow.sent,
        "loss_ratio_policer": flow.drops["policer"] / flow.sent,
    }


def check_run(found: xr.Dataset, result: qs.Result) -> None:
    """One point and replication of a table against the same run."""
    for name in result:
        for variable, value in expected(result[name]).items():
            np.testing.assert_array_equal(found[variable].sel(flow=name), value, f"{name}: {variable}")
    for name, port in result.ports.items():
        for variable in ("utilisation", "mean_ring", "largest_ring"):
            assert found[variable].sel(port=name) == getattr(port, variable)
        for each in port.classes.values():
            for variable in ("mean_queue", "largest_queue"):
                assert found[variable].sel({"port": name, "class": each.name}) == getattr(each, variable)


# -- what is in it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", ["packets", "summary"])
def test_every_value_is_what_run_says_of_that_point(record: Any) -> None:
    """Losses in the queue and at the policer, a flow and a class that come and go, and a warm-up."""
    axes = {"best_effort": [False, True], "ef_rate": ["300 kbit/s", "900 kbit/s"], "ef_queue_limit": [1, 10]}
    settings = {"duration": 12.0, "warmup": 1.5, "record": record}
    table = sweep(ef_wfq_vs_pq, axes, 2, seed=7, **settings)
    losses = 0.0
    for best_effort in axes["best_effort"]:
        for rate in axes["ef_rate"]:
            for limit in axes["ef_queue_limit"]:
                point = {"best_effort": best_effort, "ef_rate": rate, "ef_queue_limit": limit}
                for r in range(2):
                    seed = SeedSequence(7, spawn_key=(r,))
                    result = qs.run(ef_wfq_vs_pq(**point), seed=seed, progress=False, **settings)
                    check_run(table.sel(point).isel(replication=r), result)
                    losses += result["EF"].drops["policer"] + result["EF"].drops["queue"]
    assert losses > 0
    assert table["delay_mean"].sel(flow="BE", best_effort=False).isnull().all()
    assert table["delay_mean"].sel(flow="BE", best_effort=True).notnull().all()
    assert table["jitter"].isnull().all() == (record == "summary")


def test_a_port_without_a_ring_has_no_number_for_it() -> None:
    table = sweep(ef_wfq_vs_pq, {"tx_ring_limit": [None, 5]}, duration=2.0, seed=1)
    for name in ("mean_ring", "largest_ring"):
        assert table[name].sel(tx_ring_limit="None").isnull().all()
        assert table[name].sel(tx_ring_limit="5").notnull().all()


def test_dimensions_are_the_axes_then_replication_then_what_is_measured() -> None:
    table = sweep(ef_wfq_vs_pq, {"scheduler": ["wfq", "pq"], "tx_ring_limit": [1, 5]}, 3, duration=2.0, seed=1)
    outer = ("scheduler", "tx_ring_limit", "replication")
    assert dict(table.sizes) == dict(zip(outer, (2, 2, 3), strict=True)) | {
        "flow": 2,
        "quantile": 5,
        "port": 2,
        "class": 2,
    }
    for name in BY_FLOW:
        assert table[name].dims == (*outer, "flow")
    for name in BY_QUANTILE:
        assert table[name].dims == (*outer, "flow", "quantile")
    for name in BY_PORT:
        assert table[name].dims == (*outer, "port")
    for name in BY_CLASS:
        assert table[name].dims == (*outer, "port", "class")
    assert {each.dtype for each in table.data_vars.values()} == {np.dtype(float)}
    assert all({"units", "long_name"} == set(each.attrs) - {"references"} for each in table.data_vars.values())
    assert table["flow"].values.tolist() == ["EF", "BE"]
    assert table["quantile"].values.tolist() == list(QUANTILES)
    assert table["port"].values.tolist() == ["near", "far"]


def test_quantiles_are_those_asked_for() -> None:
    table = sweep(link, {}, duration=2.0, seed=1, quantiles=(0, Fraction(1, 3), 1))
    assert table["quantile"].values.tolist() == [0, 1 / 3, 1]
    assert table["delay_quantile"].sel(quantile=0).item() == table["delay_min"].item()
    assert table["delay_quantile"].sel(quantile=1).item() == table["delay_max"].item()
    assert sweep(link, {}, duration=2.0, seed=1, quantiles=())["delay_quantile"].sizes["quantile"] == 0


def test_points_share_random_numbers_and_replications_do_not() -> None:
    axes = {"limit": [None, 2], "scheduler": [qs.PQ(), qs.WFQ()]}
    table = sweep(functools.partial(link, extra=True, load=0.8), axes, 3, duration=5.0, seed=3)
    sent = table["sent"].sel(flow="f")
    assert (sent == sent.isel(limit=0, scheduler=0)).all()
    assert len(set(sent.isel(limit=0, scheduler=0).values.tolist())) == 3


def test_more_replications_leave_the_first_as_they_were() -> None:
    few, more = (sweep(link, {"load": [0.3, 0.6]}, n, duration=2.0, seed=1) for n in (2, 4))
    xr.testing.assert_equal(few, more.isel(replication=slice(2)))


def test_without_an_axis_there_is_one_point() -> None:
    table = sweep(link, {}, 2, duration=1.0, seed=1)
    assert table["delay_mean"].dims == ("replication", "flow")
    assert table["delay_mean"].notnull().all()


def test_a_flow_without_packets_has_counts_and_nothing_else() -> None:
    table = sweep(functools.partial(link, load=1e-9), {}, duration=1.0, seed=1).isel(replication=0, flow=0)
    assert table["sent"] == table["received"] == table["throughput"] == 0
    assert all(np.isnan(table[name]) for name in ("delay_mean", "jitter", "loss_ratio"))


def test_what_does_not_drain_is_not_received() -> None:
    table = sweep(functools.partial(link, load=3), {}, duration=1.0, seed=1, drain=False)
    assert table["received"].item() < table["sent"].item() / 2
    assert table.attrs["drain"] == 0


# -- warm-up and replications ------------------------------------------------------------------------------------------


def test_a_warm_up_found_by_mser5_is_reported_and_kept_to() -> None:
    build = functools.partial(ef_wfq_vs_pq, scheduler="wfq")
    table = sweep(build, {"tx_ring_limit": [1, 20]}, 2, duration=20.0, warmup="mser5", seed=5)
    assert table["warmup"].dims == ("tx_ring_limit", "replication")
    assert table.attrs["warmup"] == "mser5"
    for limit in (1, 20):
        for r in range(2):
            found = table.sel(tx_ring_limit=limit).isel(replication=r)
            seed, warmup = SeedSequence(5, spawn_key=(r,)), float(found["warmup"])
            whole = qs.run(build(tx_ring_limit=limit), duration=20.0, seed=seed, progress=False)
            first = [flow.sent_at[n] for flow in whole.flows.values() if (n := qs.mser5(flow.delay))]
            assert warmup == max(first, default=0.0)
            settled = qs.run(build(tx_ring_limit=limit), duration=20.0, warmup=warmup, seed=seed, progress=False)
            check_run(found, settled)
    assert (table["warmup"] > 0).any() and (table["settled"] == 1).all()


def test_a_run_whose_first_half_was_not_enough_to_settle_is_named() -> None:
    """At twice the rate of the link the queue, and so every delay, grows as long as the sources send."""
    with pytest.warns(UserWarning, match=r"MSER-5 did not see .* 1 of 2 points: load=2\.0; ") as caught:
        table = sweep(link, {"load": [0.5, 2.0]}, 2, duration=20.0, warmup="mser5", seed=5)
    assert [each.filename for each in caught] == [__file__]
    assert table["settled"].sel(load=0.5).values.tolist() == [1, 1]
    assert table["settled"].sel(load=2.0).values.tolist() == [0, 0]
    assert table["warmup"].sel(load=2.0).values == pytest.approx(10, rel=0.05)


def test_a_warning_that_is_made_an_error_bears_the_table() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="MSER-5 did not see") as caught:
            sweep(link, {"load": [2.0]}, duration=5.0, warmup="mser5", seed=5)
        with pytest.raises(UserWarning, match="was not reached with 3 replications") as missed:
            sweep(link, {"load": [0.5]}, "auto", duration=5.0, seed=5, least=2, most=3, target={"delay_mean": "1 ns"})
    for error, runs in ((caught, 1), (missed, 3)):
        assert error.value.table.attrs["complete"] == 1 and error.value.table["sent"].notnull().sum() == runs


def test_replications_go_on_until_the_target_is_reached() -> None:
    auto = functools.partial(sweep, link, {"load": [0.2, 0.6]}, "auto", duration=4.0, seed=2)
    table = auto(target={"delay_mean": "15 us"})
    count = table["delay_mean"].sel(flow="f").notnull().sum("replication")
    assert count.sel(load=0.2) == 10 < count.sel(load=0.6) == table.sizes["replication"] < 100
    assert (qs.confidence(table["delay_mean"])["half_width"] <= 15e-6).all()
    assert table.attrs["replications"] == "auto" and table.attrs["target_reached"] == 1
    assert table["target_reached"].values.tolist() == [True, True]
    fixed = sweep(link, {"load": [0.2, 0.6]}, int(count.max()), duration=4.0, seed=2)
    assert (fixed["delay_mean"].sel(load=0.6) == table["delay_mean"].sel(load=0.6)).all()
    assert auto(target={"delay_mean": "15 us"}, workers=1).identical(table)


def test_a_target_that_is_not_reached_is_told() -> None:
    auto = functools.partial(sweep, link, {"load": [0.2, 0.9]}, "auto", duration=1.0, seed=2, least=3, most=7)
    with pytest.warns(
        UserWarning,
        match=r"not reached with 7 replications at 1 of 2 points: load=0\.9; at the first, delay_mean of f is 0\.0046",
    ):
        table = auto(target={"delay_mean": "0.2 ms", "loss_ratio": 0.01})
    assert table["target_reached"].values.tolist() == [True, False]
    assert table.attrs["target_reached"] == 0 and table.attrs["complete"] == 1
    assert json.loads(table.attrs["target"]) == {"delay_mean": "0.2 ms", "loss_ratio": 0.01}
    assert table["delay_mean"].sel(load=0.9).notnull().sum() == table.sizes["replication"] == 7


def test_a_target_that_nothing_reaches_takes_as_many_replications_as_there_may_be() -> None:
    with pytest.warns(UserWarning, match="not reached with 5 replications"):
        table = sweep(link, {}, "auto", duration=0.2, seed=2, least=2, most=5, target={"delay_mean": 1e-160})
    assert table.sizes["replication"] == 5


def test_a_target_is_not_reached_where_nothing_was_measured() -> None:
    auto = functools.partial(sweep, axes={}, replications="auto", duration=0.5, seed=2, least=3, most=8)
    late = qs.Flow("late", qs.Poisson(pps=100, size=100), start=2)
    scenario = link()
    with_late = qs.Scenario([*scenario.flows, late], scenario.ports)
    for target in ({"delay_mean": 1.0}, {"mean_ring": 1.0}):
        with pytest.warns(UserWarning, match=r"was not reached with 8 replications at 1 of 1 points"):
            table = auto(lambda: with_late, target=target)
        assert table.attrs["target_reached"] == 0 and not table["target_reached"]
        assert table.sizes["replication"] == 8
    ring = qs.Port("ring", 1e6, tx_ring=qs.TxRing(2))
    mixed = qs.Scenario(scenario.flows, [*scenario.ports, ring])
    assert auto(lambda: mixed, target={"mean_ring": 1.0}).attrs["target_reached"] == 1


@pytest.mark.parametrize("half_width", [dt.timedelta(milliseconds=10), np.timedelta64(10, "ms"), Decimal("0.01")])
def test_a_target_may_be_a_length_of_time(half_width: Any) -> None:
    table = sweep(
        link, {}, "auto", duration=1.0, seed=2, target={"delay_mean": half_width, "loss_ratio": "10 %"}, most=10
    )
    assert json.loads(table.attrs["target"]) == {"delay_mean": 0.01, "loss_ratio": "10 %"}


def test_a_target_may_be_a_share_of_the_mean_and_of_any_variable() -> None:
    target = {"delay_quantile": "30 %", "throughput": "100 kbit/s", "utilisation": 0.5, "largest_queue": 10}
    table = sweep(link, {}, "auto", duration=3.0, seed=2, target=target)
    interval = qs.confidence(table["delay_quantile"])
    assert (interval["half_width"] <= 0.3 / 1.3 * interval["mean"]).all()
    assert table.attrs["target_reached"] == 1


# -- axes --------------------------------------------------------------------------------------------------------------


def labels(values: Any) -> Any:
    """The coordinate of an axis, and what `build` was given."""
    given: list[Any] = []

    def build(it: Any) -> qs.Scenario:
        given.append(it)
        return link()

    table = sweep(build, {"it": values}, duration=0.1, seed=1, workers=1)
    return table["it"].values, given


@pytest.mark.parametrize(
    ("values", "coordinate"),
    [
        ([1, 3], np.array([1, 3])),
        (range(2), np.array([0, 1])),
        ([1, 2.5], np.array([1, 2.5])),
        ([Fraction(1, 2), Decimal("0.7")], np.array([0.5, 0.7])),
        ([2**70, 1], np.array([2.0**70, 1.0])),
        ([False, True], np.array([False, True])),
        (["b", "a"], np.array(["b", "a"])),
        ([None, 5], np.array(["None", "5"])),
        (["a", 1, True], np.array(["a", "1", "True"])),
        ([qs.PQ(), qs.WFQ()], np.array(["PQ", "WFQ"])),
        ([qs.DropTail(5), None], np.array(["DropTail(5)", "None"])),
        ([link, failing], np.array(["link", "failing"])),
        ([link, lambda: 0], np.array(["link", "<lambda>"])),
        ([qs.Port("near", 1e6), qs.Port("far", 1e6)], np.array(["near", "far"])),
        ({"as in the report": qs.SCFQ(), "exact": qs.WFQ()}, np.array(["as in the report", "exact"])),
        ({1: object(), 2: object()}, np.array(["1", "2"])),
        (np.array([1.5, 2.5]), np.array([1.5, 2.5])),
        (xr.DataArray([1, 2]), np.array([1, 2])),
        ((x for x in "ab"), np.array(["a", "b"])),
        ([[1, 2], [3]], np.array(["[1, 2]", "[3]"])),
    ],
)
def test_values_are_their_own_labels_or_labelled_by_name(values: Any, coordinate: np.ndarray[Any, Any]) -> None:
    found, given = labels(values)
    assert found.dtype.kind == coordinate.dtype.kind
    assert found.tolist() == coordinate.tolist()
    if isinstance(values, list):
        assert given == values
    assert not any(isinstance(value, np.generic) for value in given)


def test_a_timedelta_of_numpy_keeps_its_unit() -> None:
    for unit, name in (("ms", "milliseconds"), ("s", "seconds"), ("ns", "nanoseconds")):
        found, given = labels(np.array([1, 2], dtype=f"m8[{unit}]"))
        assert found.tolist() == [f"1 {name}", f"2 {name}"]
        assert given == [np.timedelta64(1, unit), np.timedelta64(2, unit)]
        assert labels([np.timedelta64(3, unit), None])[0].tolist() == [f"3 {name}", "None"]
    found, given = labels(xr.DataArray(np.array([1, 2], dtype="m8[ns]")))  # the unit that every xarray keeps
    assert given == [np.timedelta64(1, "ns"), np.timedelta64(2, "ns")] and found.tolist()[0] == "1 nanoseconds"


SETS = [frozenset("fedcba"), ({"b", "a"}, [{"c": {"e", "d", "f"}}]), set(), frozenset({"x"}), (1,)]


def test_sets_have_one_label_in_every_process() -> None:
    """The order of their elements, of strings at least, is another in each."""
    code = """
        from qossim._axes import label, name_of
        from tests.test_sweep import SETS
        import functools
        print(*(label("it", value) for value in SETS), name_of(functools.partial(max, {"b", "a", "c"})), sep="; ")
    """
    found = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    ]
    sets = "frozenset({'a', 'b', 'c', 'd', 'e', 'f'}); ({'a', 'b'}, [{'c': {'d', 'e', 'f'}}]); set; frozenset({'x'})"
    assert found == [f"{sets}; (1,); builtins.max({{'a', 'b', 'c'}})\n"] * 3
    within: list[Any] = []
    within.append(within)
    assert label("it", within) == "[[...]]"


def test_a_decorator_may_give_an_argument_itself() -> None:
    def build(load: float, scheduler: Any) -> qs.Scenario:
        return link(load=load, scheduler=scheduler)

    @functools.wraps(build)
    def with_pq(**given: Any) -> qs.Scenario:
        return build(scheduler=qs.PQ(), **given)

    assert sweep(with_pq, {"load": [0.2]}, duration=0.5, seed=1)["delay_mean"].notnull().all()
    with pytest.raises(qs.ScenarioError, match="no scheduler"):
        sweep(build, {"load": [0.2]}, duration=0.5, seed=1)


class Untold:
    """A value that does not tell its name."""

    @property
    def name(self) -> str:
        raise ZeroDivisionError("no name")


class Unprintable:
    def __repr__(self) -> str:
        raise ZeroDivisionError("no text")


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"it": []}, "axis it must be a list of at least one value, got []"),
        ({"it": {}}, "axis it must be a list of at least one value, got {}"),
        ({"it": "pq"}, 'axis it must be a list of at least one value, got "pq"'),
        ({"it": 5}, "axis it must be a list of at least one value, got 5"),
        ({"it": {1, 2}}, "axis it must be a list of at least one value"),
        ({"it": np.zeros((2, 2))}, "in one dimension"),
        ({"it": [1, 2, 1.0]}, "both are labelled 1.0; a dict gives labels of your own"),
        ({"it": ["a", "a"]}, 'both are labelled "a"'),
        ({"it": [None, "None"]}, 'both are labelled "None"'),
        ({"it": {1: 5, "1": 6}}, 'got [5, 6] (both are labelled "1"; their keys print alike)'),
        (
            {"it": np.ma.array([1, 2], mask=[0, 1])},
            'axis it must be a list of at least one value, got "a masked array"',
        ),
        ({"it": [1, np.ma.masked]}, 'axis it must be a list of at least one value, got "a masked value"'),
        ({"it": [10**400]}, "axis it must be of numbers up to 1.8e308"),
        ({"it": [1, 10**5000]}, "axis it must be of numbers up to 1.8e308"),
        ({"it": [Fraction(10**400)]}, "axis it must be of numbers up to 1.8e308"),
        ({"it": [lambda: 1, lambda: 2]}, 'both are labelled "<lambda>"'),
        ({"it": [qs.DropTail(5), qs.DropTail(5)]}, "both are labelled"),
        ({"it": [1.0, math.nan]}, "NaN is equal to nothing"),
        ({"it": [object()]}, "axis it must be of values with a name, got <object object at"),
        ({"it": [Untold()]}, 'ZeroDivisionError: no name; give labels: {"a name": Untold...}'),
        ({"it": [Unprintable()]}, "got a Unprintable that cannot be printed (ZeroDivisionError: no text; give labels"),
        ({"it": [10**5000, "x"]}, "axis it must be of values with a name, got a int that cannot be printed"),
        ({"flow": [1]}, 'of names that the table does not use itself, got "flow"'),
        ({"delay_mean": [1]}, "of names that the table does not use itself"),
        ({"settled": [1]}, 'of names that the table does not use itself, got "settled"'),
        ({"a b": [1]}, "axes must be named as parameters of build are"),
        ({1: [1]}, "axes must be named as parameters of build are"),
        ({"it": itertools.count()}, "axis it must be a list of at most 10000000 values, got count(10000001)"),
        (
            {f"it{i}": range(10**3) for i in range(4)},
            "axes must be of at most 10000000 runs, points times replications",
        ),
        ([("it", [1])], "axes must be a dict of names and values, or zipped(...)"),
        ({"a": [1], "b": qs.zipped(a=[1])}, '"a" comes twice'),
        ({"a": [1], "c": qs.zipped(b=[1]), "b": qs.zipped(d=[1])}, '"b" is a parameter elsewhere'),
    ],
)
def test_axes_that_make_no_table_are_refused(axes: Any, message: str) -> None:
    with pytest.raises(qs.ScenarioError) as caught:
        sweep(link, axes, duration=1.0, seed=1)
    assert message in str(caught.value)


def test_zipped_parameters_change_together() -> None:
    axes = {"case": qs.zipped(scheduler=["wfq", "pq"], tx_ring_limit=[3, 1]), "best_effort": [True, False]}
    table = sweep(ef_wfq_vs_pq, axes, duration=3.0, seed=1)
    assert table["delay_mean"].dims == ("case", "best_effort", "replication", "flow")
    assert table["scheduler"].dims == table["tx_ring_limit"].dims == ("case",)
    assert table["scheduler"].values.tolist() == ["wfq", "pq"]
    product = sweep(ef_wfq_vs_pq, {"scheduler": ["wfq", "pq"], "tx_ring_limit": [3, 1]}, duration=3.0, seed=1)
    for i, (scheduler, ring) in enumerate([("wfq", 3), ("pq", 1)]):
        one = table["delay_mean"].isel(case=i).sel(best_effort=True)
        assert (one == product["delay_mean"].sel(scheduler=scheduler, tx_ring_limit=ring)).all()


def test_a_zipped_axis_may_have_the_name_of_a_parameter_or_none() -> None:
    named = sweep(link, {"load": qs.zipped(load=[0.1, 0.2], limit=[5, None])}, duration=1.0, seed=1)
    assert named["delay_mean"].sel(load=0.2).notnull().all()
    alone = sweep(link, qs.zipped(load=[0.1, 0.2], limit=[5, None]), duration=1.0, seed=1)
    assert alone["delay_mean"].dims[0] == "case"
    assert (alone["delay_mean"].values == named["delay_mean"].values).all()


def test_a_value_of_a_zipped_parameter_may_come_again_with_another_of_the_next() -> None:
    pairs = [("pq", 5), ("wfq", 1), ("pq", 1), ("wfq", 5)]
    table = sweep(
        ef_wfq_vs_pq,
        qs.zipped(scheduler=[a for a, _ in pairs], tx_ring_limit=[b for _, b in pairs]),
        duration=3.0,
        seed=1,
    )
    assert list(zip(table["scheduler"].values.tolist(), table["tx_ring_limit"].values.tolist(), strict=True)) == pairs
    product = sweep(ef_wfq_vs_pq, {"scheduler": ["pq", "wfq"], "tx_ring_limit": [1, 5]}, duration=3.0, seed=1)
    for case, (scheduler, ring) in enumerate(pairs):
        one = table["delay_mean"].isel(case=case)
        assert (one == product["delay_mean"].sel(scheduler=scheduler, tx_ring_limit=ring)).all()
    drops = qs.zipped(scheduler=[qs.PQ(), qs.PQ(), qs.WFQ()], load=[0.1, 0.2, 0.1])
    assert sweep(link, drops, duration=1.0)["scheduler"].values.tolist() == ["PQ", "PQ", "WFQ"]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (
            qs.zipped(a=[1, 2, 1], b=["x", "y", "x"]),
            """axis case must be of points that differ, got "a=1, b='x' twice""",
        ),
        ({"a": qs.zipped(a=[1, 1], b=[1, 2])}, "axis a: a must be of values that can be told apart, got [1, 1]"),
        (qs.zipped(a=[lambda: 1, lambda: 2], b=[1, 2]), 'both are labelled "<lambda>"'),
        (qs.zipped(a=[np.ones, np.ones, np.array([1, 2]), np.array([1, 2])], b=[1, 2, 3, 4]), "both are labelled"),
    ],
)
def test_zipped_points_are_told_apart(axes: Any, message: str) -> None:
    with pytest.raises(qs.ScenarioError) as caught:
        sweep(link, axes, duration=1.0)
    assert message in str(caught.value)


def test_zipped_parameters_are_of_one_length() -> None:
    with pytest.raises(qs.ScenarioError, match=r"of one length, got \{'a': 1, 'b': 2\}"):
        qs.zipped(a=[1], b=[1, 2])
    with pytest.raises(qs.ScenarioError, match="at least one parameter"):
        qs.zipped()
    assert len(qs.zipped(a=["", "y"], b={"p": 1, "q": 2})) == 2
    assert repr(qs.zipped(a=[1], b={"p": 2})) == "zipped(a=[1], b={'p': 2})"


# -- how it was made ---------------------------------------------------------------------------------------------------


def test_attributes_say_how_the_table_was_made_and_do_not_differ_between_equal_calls() -> None:
    build = functools.partial(link, extra=True)
    axes = {"scheduler": [qs.PQ(), qs.WFQ()], "both": qs.zipped(load=[0.1, 0.2], limit=[1, None])}
    one, other = (sweep(build, axes, 2, duration="1 s", warmup="100 ms", seed=12) for _ in range(2))
    assert one.identical(other) and one.attrs == other.attrs
    assert one.attrs == {
        "build": "tests.builds.link(extra=True)",
        "parameters": json.dumps(
            {
                "scheduler": {"scheduler": ["PQ", "WFQ"]},
                "both": {"load": [0.1, 0.2], "limit": ["1", "None"]},
            }
        ),
        "replications": 2,
        "duration": 1.0,
        "warmup": 0.1,
        "seed": 12,
        "record": "packets",
        "drain": 1,
        "bit_generator": "PCG64",
        "qossim": qs.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "complete": 1,
    }


@pytest.mark.parametrize(
    "seed", [1, 2**31, 2**100, SeedSequence(5, spawn_key=(1, 2)), SeedSequence([1, 2**40]), None], ids=str
)
def test_the_seed_in_the_attributes_repeats_the_sweep(seed: Any) -> None:
    table = sweep(link, {}, duration=1.0, seed=seed)
    told = table.attrs["seed"]
    assert isinstance(told, int | str)
    assert sweep(link, {}, duration=1.0, seed=told).identical(table)
    if not isinstance(seed, SeedSequence):
        assert sweep(link, {}, duration=1.0, seed=int(told)).identical(table)
    else:
        plain = json.loads(told)
        again = SeedSequence(plain["entropy"], spawn_key=plain["spawn_key"], pool_size=plain["pool_size"])
        assert sweep(link, {}, duration=1.0, seed=again).identical(table)


@pytest.mark.filterwarnings("ignore:numpy.ndarray size changed:RuntimeWarning")  # netCDF4 1.7.2 when it is imported
@pytest.mark.parametrize("seed", [3, 2**90])
def test_a_table_goes_to_netcdf_and_comes_back(seed: int, tmp_path: Path) -> None:
    axes = {
        "scheduler": [qs.PQ(), qs.WFQ()],
        "extra": [False, True],
        "load": [0.2, 0.5],
        "limit": {"three": 3, "none": None},
        "size": [1, 2**31, 2**63 - 1],
    }

    def build(size: int, **given: Any) -> qs.Scenario:
        return link(**given)

    table = sweep(build, axes, "auto", duration=0.5, seed=seed, target={"delay_mean": 10.0}, least=2)
    table.to_netcdf(tmp_path / "table.nc")
    with xr.open_dataset(tmp_path / "table.nc") as read:
        xr.testing.assert_equal(read.load(), table)
        assert {name: value if isinstance(value, str) else float(value) for name, value in read.attrs.items()} == {
            name: value if isinstance(value, str) else float(value) for name, value in table.attrs.items()
        }


def test_a_table_survives_pickle_and_plain_dicts() -> None:
    table = sweep(link, {"load": [0.2]}, duration=0.5, seed=1)
    assert pickle.loads(pickle.dumps(table)).identical(table)
    assert xr.Dataset.from_dict(table.to_dict()).equals(table)


# -- what is refused ---------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"build": link, "axes": {}, "replications": 1, "duration": 1.0, "seed": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"build": link()}, "build must be a function that returns a Scenario"),
        ({"replications": 0}, "replications must be a whole number from 1 to"),
        ({"replications": True}, "replications must be a whole number of at least 1, got True"),
        ({"replications": "many"}, 'replications must be "auto" or a whole number of at least 1, got "many"'),
        (
            {"replications": 10**7 + 1},
            "axes must be of at most 10000000 runs, points times replications, got 10000001",
        ),
        ({"quantiles": [Fraction(333333333333333333, 10**18), Fraction(1, 3)]}, "two are one as floats"),
        ({"level": "rubbish"}, "level must be a number above 0 and below 1"),
        ({"most": -5}, "most must be a whole number from 10 to"),
        ({"save": "x" * 300}, "save must be the path of a file, got"),
        ({"workers": 10**6}, "workers must be a whole number from 1 to 1000, got 1000000"),
        ({"replications": "auto"}, """target must be given with replications="auto", as {"delay_mean": "0.1 ms"}"""),
        ({"target": {"delay_mean": 1}}, 'target must be given with replications="auto" only'),
        ({"duration": 0}, "duration must be"),
        ({"warmup": 1.0}, "warmup must be a time from 0 to less than the duration"),
        ({"warmup": "mser5", "record": "summary"}, 'record must be "packets" with warmup="mser5"'),
        ({"seed": -1}, "seed must be"),
        *[({"seed": text}, 'or None, got "' + text) for text in ("-1", "", "x", "1.5", "[1]", "null", "{}")],
        ({"seed": '{"entropy": 1.5, "spawn_key": [], "pool_size": 4}'}, 'a SeedSequence, attrs["seed"] of a table or'),
        ({"record": "none"}, 'record must be one of "packets", "summary", got "none"'),
        ({"quantiles": 0.5}, "quantiles must be numbers from 0 to 1, ascending, got 0.5"),
        ({"quantiles": np.array(0.5)}, "quantiles must be numbers from 0 to 1, ascending, got array(0.5)"),
        (
            {"replications": np.array([1, 2])},
            "replications must be a whole number from 1 to 2147483647, got array(",
        ),
        ({"record": np.array(["packets"])}, 'record must be one of "packets", "summary", got array'),
        ({"axes": {"load": pd.DataFrame({"a": [1]})}}, "axis load must be a list of at least one value, in one dim"),
        ({"quantiles": (0.9, 0.5)}, "quantiles must be numbers from 0 to 1, ascending"),
        ({"quantiles": (0.5, 0.50)}, "quantiles must be numbers from 0 to 1, ascending"),
        ({"quantiles": (99,)}, "quantiles must be numbers from 0 to 1, ascending"),
        ({"quantiles": (math.nan,)}, "quantiles must be numbers from 0 to 1, ascending"),
        ({"quantiles": "p99"}, "quantiles must be numbers from 0 to 1, ascending"),
        ({"executor": 2}, "executor must be an executor of concurrent.futures, or None, got 2"),
        ({"workers": 0}, "workers must be a whole number from 1 to"),
        ({"progress": 1.5}, "progress must be True, False, None or a function of the share done"),
        ({"drain": 2}, "drain must be True or False"),
        ({"bit_generator": "RANDU"}, "bit_generator must be one of PCG64"),
        ({"save": "a", "resume": "b"}, 'save must be the file to resume, b, or left out, got "a"'),
    ],
)
def test_an_argument_out_of_bounds_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(qs.ScenarioError) as caught:
        qs.sweep(**{"progress": False, **GOOD, **change})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("target", "limits", "message"),
    [
        ({}, {}, "target must be given"),
        ({"delay": 1}, {}, "target must be for variables of the table (delay_min, delay_mean,"),
        ({"delay_mean": 0}, {}, "target: delay_mean must be above 0"),
        ({"delay_mean": "5 bit/s"}, {}, 'unknown unit "bit/s"'),
        ({"delay_mean": "100 %"}, {}, "target: delay_mean must be above 0, or above 0 % and below 100 %"),
        ({"throughput": "5 ms"}, {}, 'unknown unit "ms"'),
        ({"loss_ratio": "1 s"}, {}, "it has no unit"),
        *[({"sent": beyond}, {}, "target: sent must be above 0") for beyond in (10**400, f"1/{10**400}", "1e400 %")],
        ({"jitter": 1}, {"record": "summary"}, 'record must be "packets" with a target for jitter'),
        ({"delay_mean": 1}, {"least": 1}, "least must be a whole number from 2 to"),
        ({"delay_mean": 1}, {"least": 5, "most": 4}, "most must be a whole number from 5 to"),
        ({"delay_mean": 1}, {"level": 95}, "level must be a number above 0 and below 1"),
    ],
)
def test_a_target_out_of_bounds_is_refused_by_name(target: Any, limits: dict[str, Any], message: str) -> None:
    with pytest.raises(qs.ScenarioError) as caught:
        qs.sweep(**{"progress": False, **GOOD, "replications": "auto", "target": target, **limits})
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["sweep", "zipped"])
def test_examples_run_as_they_stand(name: str) -> None:
    import doctest

    module = sys.modules["qossim.sweep"]
    [test] = doctest.DocTestFinder(recurse=False).find(getattr(module, name), name, module, vars(module))
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_what_the_table_needs_is_imported_before_anything_runs() -> None:
    import subprocess

    code = """if True:
        import sys, qossim as qs
        from tests.builds import link
        def build():
            assert "xarray" in sys.modules
            return link()
        qs.sweep(build, {}, duration=0.1, progress=False)
        print(1)
    """
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_the_package_exports_it_without_importing_xarray() -> None:
    import subprocess

    code = "import sys, qossim as qs; qs.sweep; qs.zipped; qs.SweepError; assert 'xarray' not in sys.modules; print(1)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
