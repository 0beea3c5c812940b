"""What the log means: labels, classes, rules, and what may be changed."""
