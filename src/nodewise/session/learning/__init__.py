"""What is learned from the labels, and how good it is."""
