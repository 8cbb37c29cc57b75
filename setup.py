# SPDX-License-Identifier: MIT
"""Builds the extension qossim._core: the C core and its binding. All else about the package is in pyproject.toml."""

import re
from pathlib import Path

import numpy
from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
STATIONS = ("engine", "source", "meter", "queue", "sched", "port", "net", "record", "stats")


def files(pattern: str) -> list[str]:
    """Paths below this folder, as setuptools wants them: relative, with slashes, and in the same order everywhere."""
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


version = re.search(r'#define QS_VERSION "(.+)"', (ROOT / "csrc/include/qossim/engine.h").read_text())
assert version is not None, "engine.h has no QS_VERSION"

core = Extension(
    "qossim._core",
    sources=[source for station in (*STATIONS, "binding") for source in files(f"csrc/{station}/*.c")],
    depends=files("csrc/**/*.h"),
    include_dirs=["csrc/include", numpy.get_include()],
    extra_compile_args=[
        "-std=c11",
        "-O3",
        "-fno-tree-slp-vectorize",  # it joins neighbouring counters into vectors that then wait for their halves: -7 %
        "-ffp-contract=off",  # the same bits on machines that can fuse a multiplication and an addition
        "-fno-math-errno",
        "-fvisibility=hidden",
    ],
)

setup(version=version[1], ext_modules=[core])
