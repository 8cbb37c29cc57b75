# SPDX-License-Identifier: MIT
"""Net: flows and ports together, which is a scenario."""

from __future__ import annotations

import itertools
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from qossim import units
from qossim.errors import ScenarioError
from qossim.scenario._describe import Description, checked_instances, checked_list, description, first_duplicate
from qossim.scenario.port import Port
from qossim.scenario.source import Flow

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = ["Scenario"]

MOST_PORTS = 2**15 - 1
"""As many as the column that says where a packet died can tell apart."""


RING = 4
"""Where a lowered port has its ring, or None."""


class Lowered(NamedTuple):
    """A scenario in the core's terms."""

    ports: tuple[tuple[Any, ...], ...]
    """Arguments of ``Simulation.add_port``."""
    flows: tuple[tuple[tuple[Any, ...], bool], ...]
    """Arguments of ``Simulation.add_flow`` but for the stream, and whether it needs one."""


@description
class Scenario(Description):
    """What to simulate: flows, and the ports they pass.

    Parameters
    ----------
    flows : sequence of Flow
        At least one, of different names. Their order decides ties between arrivals of one instant.
    ports : sequence of Port
        At least one, of different names.

    Attributes
    ----------
    flows : tuple of Flow
    ports : tuple of Port
    """

    flows: tuple[Flow, ...]
    ports: tuple[Port, ...]
    _lowered: Lowered | None = field(init=False)

    kind: ClassVar[str] = "scenario"

    def __init__(self, flows: Sequence[Flow], ports: Sequence[Port]) -> None:
        self._set(
            flows=_checked_members(flows, "flows", Flow),
            ports=_checked_members(ports, "ports", Port),
            _lowered=None,
        )
        if len(self.ports) > MOST_PORTS:
            raise units.refusal("Scenario: ports", f"1 to {MOST_PORTS} ports", len(self.ports))
        self._check_references()

    def _check_references(self) -> None:
        ports = {port.name for port in self.ports}
        flows = {flow.name for flow in self.flows}
        for flow in self.flows:
            for name in flow.route or ():
                if name not in ports:
                    raise _unknown(f'Scenario: flow "{flow.name}": route', "port", name, self.ports)
        for port in self.ports:
            for c in port.classes:
                for name in c.flows or ():
                    if name not in flows:
                        raise _unknown(
                            f'Scenario: port "{port.name}": class "{c.name}": flows', "flow", name, self.flows
                        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, strings and numbers, without loss.

        Returns
        -------
        dict
            Made of what JSON and TOML know. Rates are bit/s and times seconds; what is no short decimal is a string,
            ``"1000000000/3"``.
        """
        from qossim.scenario._serialise import to_plain

        return to_plain(self)

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Scenario:
        """The scenario that a dict describes.

        Parameters
        ----------
        d : dict
            As `to_dict` makes it, or by hand; quantities may be strings with a unit.

        Raises
        ------
        ScenarioError
            Something in it is unknown, missing or out of bounds; the message says where.
        """
        from qossim.scenario._serialise import from_plain

        return from_plain(d)

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file, without loss.

        Parameters
        ----------
        path : str or path
            Traces of 100 packets and more are written beside it, into ``<stem>.<flow>.times.npy`` and
            ``<stem>.<flow>.sizes.npy``.
        """
        from pathlib import Path

        from qossim.scenario._serialise import to_toml

        to_toml(self, Path(path))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from a TOML file.

        Parameters
        ----------
        path : str or path
            Of a file that `to_toml` or a person wrote; quantities may be strings with a unit. Files it names are looked
            for beside it.

        Raises
        ------
        ScenarioError
            Something in it is unknown, missing or out of bounds; the message says where.
        OSError
            It cannot be read.
        """
        from pathlib import Path

        from qossim.scenario._serialise import from_toml

        return from_toml(Path(path))

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the flows and each port along their routes: classifier, queues, scheduler, ring, wire.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure of fitting size by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from qossim.scenario._draw import draw

        return draw(self, ax)

    def _lower(self) -> Lowered:  # type: ignore[override]
        """The core's form, made once."""
        if self._lowered is None:
            index = {port.name: i for i, port in enumerate(self.ports)}
            everywhere = tuple(index.values())
            self._set(
                _lowered=Lowered(
                    ports=_lower_ports(self.ports),
                    flows=tuple([_lower_flow(flow, index, everywhere) for flow in self.flows]),
                )
            )
        assert self._lowered is not None
        return self._lowered


def _lower_ports(ports: tuple[Port, ...]) -> tuple[tuple[Any, ...], ...]:
    lowered = [ports[0]._lower_port()]
    for before, port in itertools.pairwise(ports):
        lowered.append(port._lower_port(before, lowered[-1]))
    return tuple(lowered)


def _lower_flow(flow: Flow, index: Mapping[str, int], everywhere: tuple[int, ...]) -> tuple[tuple[Any, ...], bool]:
    source, draws, start, stop = flow._lower_source()
    route = everywhere if flow.route is None else tuple([index[name] for name in flow.route])
    return (flow.name, source, flow.dscp, route, start, stop), draws


def _checked_members(value: object, what: str, cls: type[Any]) -> tuple[Any, ...]:
    name, bounds = f"Scenario: {what}", f"a list of at least one {cls.__name__}"
    if isinstance(value, cls):
        raise units.refusal(name, bounds, value)
    members = checked_instances(checked_list(value, name, bounds), name, cls)
    if not members:
        raise units.refusal(name, bounds, value)
    names = [member.name for member in members]
    twice = first_duplicate(names)
    if twice is not None:
        raise units.refusal(name, "of different names", names, f'"{twice}" comes twice')
    return members


def _unknown(name: str, what: str, value: str, known: Sequence[Flow | Port]) -> ScenarioError:
    listed = ", ".join(f'"{member.name}"' for member in known[:10]) + (", ..." if len(known) > 10 else "")
    return units.refusal(name, f"{what}s of the scenario ({listed})", value)
