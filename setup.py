"""Builds the compiled scanners where a C compiler is found; an install never fails for want of one."""

import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SCAN = "src/judged/kernels/scan"


def extension(name: str) -> Extension:
    """One compiled module of the kernels, left out with a warning where it cannot be built."""
    return Extension(
        f"judged.kernels.scan.{name}",
        [f"{SCAN}/{name}.pyx"],
        depends=[
            f"{SCAN}/_bytes.h",
            f"{SCAN}/_bytes.pxd",
            f"{SCAN}/_folding.h",
            f"{SCAN}/_index.pxd",
            f"{SCAN}/_blocks.pxd",
        ],
        include_dirs=[SCAN],
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
