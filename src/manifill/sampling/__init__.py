"""How the unknowns move: NUTS on a manifold, the samplers made of it, and the chains that run them."""
