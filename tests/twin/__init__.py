# SPDX-License-Identifier: MIT
"""The twin: the simulator again, slow and plain, to be held against the fast one packet by packet.

It is written from the meaning alone, in integers and fractions, with one module per station of a packet's path
(``source``, ``meter``, ``queue``, ``sched``, ``port``, ``net``). Nothing in it is tuned; what is not obvious is wrong.
"""

from .net import simulate
from .packet import DROPPED_POLICER, DROPPED_QUEUE, FATES, INSIDE, RECEIVED, Hop, Row

__all__ = ["DROPPED_POLICER", "DROPPED_QUEUE", "FATES", "INSIDE", "RECEIVED", "Hop", "Row", "simulate"]
