"""The session's file and what its events mean."""
