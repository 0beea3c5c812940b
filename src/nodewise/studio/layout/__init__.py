"""Where nodes are drawn."""
