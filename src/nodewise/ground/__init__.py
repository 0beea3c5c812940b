"""What every room may use: errors, events, seeds, devices, files, wording. It imports nothing of ours."""
