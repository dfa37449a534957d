"""The user interface: fit, predict, complete, map_estimate, load."""
