"""Graphs from and to other libraries."""
