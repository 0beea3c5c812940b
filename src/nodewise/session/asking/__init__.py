"""Whom to ask what, and why."""
