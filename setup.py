"""Builds the compiled scanners where a C compiler is found; an install never fails for want of one."""

import os

from setuptools import Extension, setup

KERNELS = "src/judged/kernels"


def extension(name: str) -> Extension:
    """One compiled module of the kernels, left out with a warning where it cannot be built."""
    return Extension(
        f"judged.kernels.{name}",
        [f"{KERNELS}/{name}.pyx"],
        depends=[
            f"{KERNELS}/_bytes.h",
            f"{KERNELS}/_bytes.pxd",
            f"{KERNELS}/_folding.h",
            f"{KERNELS}/_index.pxd",
            f"{KERNELS}/_blocks.pxd",
        ],
        include_dirs=[KERNELS],
        extra_compile_args=[] if os.name == "nt" else ["-O3"],
        optional=True,
    )


setup(ext_modules=[extension(name) for name in ("_index", "_blocks", "_scan", "_dicts", "_rows")])
