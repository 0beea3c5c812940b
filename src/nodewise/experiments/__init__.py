"""Whole experiments: the paper's tables and figures, and our own."""

__all__ = ["benchmark", "gpa"]
