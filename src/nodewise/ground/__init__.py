"""What every room may use, each of these things once; it imports nothing of ours."""

__all__ = ["compute", "errors", "events", "files", "lazy", "locks", "plugins"]
