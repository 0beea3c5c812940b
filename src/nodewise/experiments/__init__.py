"""Whole experiments: the paper's, and our own."""
