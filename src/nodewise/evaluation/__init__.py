"""The protocol, its scores and their statistics."""

from nodewise.evaluation.evaluate import Evaluation, evaluate, runs_at_once
from nodewise.evaluation.interval import Interval, confidence_interval
from nodewise.evaluation.result_file import write_json

__all__ = ["Evaluation", "Interval", "confidence_interval", "evaluate", "runs_at_once", "write_json"]
