"""Making a session, keeping its graph, exporting."""
