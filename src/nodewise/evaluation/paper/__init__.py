"""The paper's tables and figures: its numbers as data, every experiment, and the policies that they need."""
