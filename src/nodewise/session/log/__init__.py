"""The session's file."""
