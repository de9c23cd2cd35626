"""Builds the compiled `align` where a C compiler is found; an install never fails for want of one."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "judged.kernels._align",
            ["src/judged/kernels/_align.pyx"],
            optional=True,
            extra_compile_args=["-O3"],
        )
    ]
)
