"""Where GPU kernels can run: on a CUDA device, or slowly in Triton's interpreter when ``TRITON_INTERPRET=1`` is set."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None

_ONLY_THEN = pytest.mark.skipif(not INTERPRETED, reason="runs kernels on the CPU only with TRITON_INTERPRET=1")
_ITS_OWN = pytest.mark.filterwarnings(
    "ignore:Conversion of an array:DeprecationWarning", "ignore:invalid value:RuntimeWarning"
)

KERNEL_DEVICES = [pytest.param("cuda", marks=pytest.mark.gpu), pytest.param("cpu", marks=[_ONLY_THEN, _ITS_OWN])]
