"""Tasks on a Ray cluster: many chunks at a time, on many machines."""

from nodewise.cluster.engine import RayEngine
from nodewise.evaluation.engine import ENGINES

__all__ = ["RayEngine"]

ENGINES["ray"] = RayEngine
