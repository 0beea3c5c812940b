"""One reader and writer for each form of a graph."""
