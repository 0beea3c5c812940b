"""What was reached: scores, their statistics, tables and pictures."""
