"""A run: its folder, data, held-out cells, resolved model, seeds, provenance, draws and checkpoints."""
