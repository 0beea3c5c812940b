"""Graphs of nearest neighbours: from tables, texts, pictures and embeddings."""
