# SPDX-License-Identifier: MIT
"""How fast the simulator is and how much memory it takes, each measured beside something else in the same minutes.

``python -m tests.bench`` prints the table; ``__main__`` is the command, ``speed``, ``memory``, ``calls`` and ``sweeps``
hold the rows, ``scenes`` the scenarios, ``limit.c`` the straight-line loop that the seed experiment is held against,
``measure`` the stop-watch and ``table`` what a row looks like.
"""
