"""What every room may use, each of these things once; it imports nothing of ours."""

__all__ = ["device", "errors", "events", "files", "lazy", "seeds", "wording"]
