"""The paper's classifier."""
