"""Builds the compiled scanners where a C compiler is found; an install never fails for want of one."""

import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

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


class BuildWithSuite(build_py):
    """Puts the conformance cases, which stand at the root of the repository, into the package."""

    def run(self) -> None:
        """Build as usual, then copy the cases beside their runner."""
        super().run()
        if not self.editable_mode:
            suite = Path(self.build_lib, "judged", "conformance", "suite")
            suite.mkdir(parents=True, exist_ok=True)
            for case in Path("conformance").glob("*.json"):
                shutil.copy(case, suite)


setup(
    cmdclass={"build_py": BuildWithSuite},
    ext_modules=[extension(name) for name in ("_index", "_blocks", "_scan", "_dicts", "_rows")],
)
