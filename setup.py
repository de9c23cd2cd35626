"""Builds the compiled scanners where a C compiler is found; an install never fails for want of one."""

from setuptools import Extension, setup


def extension(name: str) -> Extension:
    """One compiled module of the kernels, left out with a warning where it cannot be built."""
    return Extension(
        f"judged.kernels.{name}", [f"src/judged/kernels/{name}.pyx"], depends=["src/judged/kernels/_bytes.h"], optional=True
    )


setup(ext_modules=[extension("_scan"), extension("_dicts")])
