# SPDX-License-Identifier: MIT
"""Chosen: which class sends next.

A scheduler is told of what happens to the class queues: ``arrive`` (a packet has joined the end of queue c), ``take``
(the front packet is handed over) and ``drop`` (the last packet is dropped); in all three the packet is in its place.
``choose`` names the class whose front packet is next, or None; asking changes nothing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

from .packet import SECOND, Packet
from .queue import DropTail

A_TIE = Fraction(1, 10**6)  # bit


class Scheduler(Protocol):
    def arrive(self, c: int, packet: Packet, now: int) -> None: ...

    def choose(self) -> int | None: ...

    def take(self, c: int, packet: Packet) -> None: ...

    def drop(self, c: int) -> None: ...


class FIFO:
    """Order of arrival over all classes."""

    def __init__(self, queues: Sequence[DropTail]) -> None:
        self.arrivals = 0
        self.order: list[deque[int]] = [deque() for _ in queues]  # of each packet in each queue

    def arrive(self, c: int, packet: Packet, now: int) -> None:
        self.order[c].append(self.arrivals)
        self.arrivals += 1

    def choose(self) -> int | None:
        waiting = [(order[0], c) for c, order in enumerate(self.order) if order]
        return min(waiting)[1] if waiting else None

    def take(self, c: int, packet: Packet) -> None:
        self.order[c].popleft()

    def drop(self, c: int) -> None:
        self.order[c].pop()


class PQ:
    """Strict priority in order of declaration."""

    def __init__(self, queues: Sequence[DropTail]) -> None:
        self.queues = queues

    def arrive(self, c: int, packet: Packet, now: int) -> None:
        pass

    def choose(self) -> int | None:
        return next((c for c, queue in enumerate(self.queues) if queue), None)

    def take(self, c: int, packet: Packet) -> None:
        pass

    def drop(self, c: int) -> None:
        pass


class Tagged:
    """What the tag schedulers share: finish tags max(last tag of the class, V) + bits / weight, smallest first.

    ``tags[c]`` are those of the waiting packets of class c, ``last[c]`` is the tag given out last, waiting or gone.
    """

    def __init__(self, weights: Sequence[Fraction], bits: Callable[[Packet], int]) -> None:
        self.weights = weights
        self.bits = bits
        self.virtual_time = Fraction(0)
        self.tags: list[deque[Fraction]] = [deque() for _ in weights]
        self.last = [Fraction(0) for _ in weights]
        self.before: list[deque[Fraction]] = [deque() for _ in weights]  # the last tag before each waiting packet

    def arrive(self, c: int, packet: Packet, now: int) -> None:
        tag = max(self.last[c], self.virtual_time) + self.bits(packet) / self.weights[c]
        self.before[c].append(self.last[c])
        self.tags[c].append(tag)
        self.last[c] = tag

    def choose(self) -> int | None:
        """The scan in order of declaration: only a tag smaller by at least 10^-6 bit replaces the best."""
        best = None
        for c, tags in enumerate(self.tags):
            if tags and (best is None or self._is_before(c, best)):
                best = c
        return best

    def _is_before(self, c: int, best: int) -> bool:
        bits = (self.tags[best][0] - self.tags[c][0]) * min(self.weights[best], self.weights[c])
        return bits >= A_TIE

    def take(self, c: int, packet: Packet) -> None:
        self.tags[c].popleft()
        self.before[c].popleft()

    def drop(self, c: int) -> None:
        self.tags[c].pop()
        self.last[c] = self.before[c].pop()


class SCFQ(Tagged):
    """Golestani: virtual time is the finish tag of the packet last handed over, and never runs backward."""

    def take(self, c: int, packet: Packet) -> None:
        self.virtual_time = max(self.virtual_time, self.tags[c][0])
        super().take(c, packet)


class WFQ(Tagged):
    """Parekh and Gallager: virtual time is that of the fluid system, which serves all its backlogged classes at once.

    A class is backlogged in the fluid system while its last tag lies ahead of virtual time; then virtual time runs at
    rate / (sum of the weights of the backlogged classes). When the fluid system is empty so are the queues, and the
    tags start again from zero.
    """

    def __init__(self, weights: Sequence[Fraction], bits: Callable[[Packet], int], rate: Fraction) -> None:
        super().__init__(weights, bits)
        self.rate = rate / SECOND  # bit per picosecond
        self.since = 0

    def arrive(self, c: int, packet: Packet, now: int) -> None:
        self.advance(now)
        super().arrive(c, packet, now)

    def advance(self, now: int) -> None:
        """Let the fluid flow up to now."""
        bits = self.rate * (now - self.since)
        self.since = now
        while True:
            backlogged = [c for c, last in enumerate(self.last) if last > self.virtual_time]
            if not backlogged:
                assert not any(self.tags), "the fluid system is never ahead of the link"
                self.virtual_time = Fraction(0)
                self.last = [Fraction(0) for _ in self.last]
                return
            weight = sum(self.weights[c] for c in backlogged)
            first_empty = min(self.last[c] for c in backlogged)
            if bits < (first_empty - self.virtual_time) * weight:
                self.virtual_time += bits / weight
                return
            bits -= (first_empty - self.virtual_time) * weight
            self.virtual_time = first_empty


class DRR:
    """Shreedhar and Varghese: ``round`` holds the classes with packets waiting, in the order of their visits.

    The visit of the front class goes on from one taking to the next (``visiting``: its quantum has been added); the
    class is moved to the end only when the next packet is looked for and does not fit.
    """

    def __init__(self, queues: Sequence[DropTail], quanta: Sequence[Fraction]) -> None:
        self.queues = queues
        self.quanta = quanta
        self.round: deque[int] = deque()
        self.deficit = [Fraction(0) for _ in quanta]
        self.visiting = False

    def arrive(self, c: int, packet: Packet, now: int) -> None:
        if c not in self.round:
            self.round.append(c)

    def choose(self) -> int | None:
        return self._next_visit()[0][0] if self.round else None

    def take(self, c: int, packet: Packet) -> None:
        self.round, self.deficit = self._next_visit()
        self.visiting = True
        self.deficit[c] -= packet.size
        self._leave_with_the_last(c)

    def drop(self, c: int) -> None:
        self._leave_with_the_last(c)

    def _leave_with_the_last(self, c: int) -> None:
        if len(self.queues[c].packets) == 1:
            if self.round[0] == c:
                self.visiting = False
            self.round.remove(c)
            self.deficit[c] = Fraction(0)

    def _next_visit(self) -> tuple[deque[int], list[Fraction]]:
        """The round and the deficits at the next visit that sends a packet, that of the class then at the front."""
        order, deficit, visiting = self.round.copy(), self.deficit.copy(), self.visiting
        need = {c: self.queues[c].packets[0].size for c in order}
        while True:
            c = order[0]
            if not visiting:
                fruitless = min(math.ceil((need[c] - deficit[c]) / self.quanta[c]) for c in order) - 1
                for other in order:  # whole rounds in which nobody can send, all at once
                    deficit[other] += max(0, fruitless) * self.quanta[other]
                deficit[c] += self.quanta[c]
            if need[c] <= deficit[c]:
                return order, deficit
            order.rotate(-1)
            visiting = False
