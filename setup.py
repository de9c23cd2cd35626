"""Builds the compiled scanners where a C compiler is found; an install never fails without one.

A wheel for others must have them: with JUDGED_REQUIRE_COMPILED=1 the build fails where they cannot be built.
"""

import os

from setuptools import Extension, setup

SCAN = "src/judged/kernels/scan"


def extension(name: str) -> Extension:
    """Describe a compiled module of the kernels, left out with a warning where it cannot be built, unless it is required."""
    return Extension(
        f"judged.kernels.scan.{name}",
        [f"{SCAN}/{name}.pyx"],
        depends=[
            f"{SCAN}/_bytes.h",
            f"{SCAN}/_bytes.pxd",
            f"{SCAN}/_folding.h",
            f"{SCAN}/_index.pxd",
            f"{SCAN}/_blocks.pxd",
            f"{SCAN}/_dicts.pxd",
        ],
        include_dirs=[SCAN],
        extra_compile_args=[] if os.name == "nt" else ["-O3", "-g0"],
        optional=os.environ.get("JUDGED_REQUIRE_COMPILED") != "1",
    )


setup(ext_modules=[extension(name) for name in ("_index", "_blocks", "_scan", "_dicts", "_folds", "_rows")])
