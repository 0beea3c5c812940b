"""Tables: files of rows, what their columns mean, and rows as features."""
