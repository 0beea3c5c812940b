"""What the studio does with a session."""
