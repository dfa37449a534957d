"""The published values: T. Cui and A. A. Gorodetsky, "Low-rank Bayesian matrix completion via geodesic Hamiltonian
Monte Carlo on Stiefel manifolds", Tables 1 and 2.
"""

__all__ = ["PUBLISHED_DEVIATIONS", "PUBLISHED_MILLISECONDS"]

# The 1 %, 50 % and 99 % quantiles of held-out absolute deviations (Table 1), by case, share and model.
PUBLISHED_DEVIATIONS: dict[tuple[str, float, str], tuple[float, float, float]] = {
    ("case-1", 0.1, "ABT"): (0.04, 2.3, 9.8),
    ("case-1", 0.4, "ABT"): (0.04, 2.3, 10.0),
    ("case-1", 0.1, "SVD"): (0.04, 2.3, 9.8),
    ("case-1", 0.4, "SVD"): (0.04, 2.3, 10.0),
    ("case-2", 0.1, "ABT"): (0.20, 6.3, 24.0),
    ("case-2", 0.4, "ABT"): (0.67, 6.1, 13.0),
    ("case-2", 0.1, "SVD"): (1.9, 6.2, 13.0),
    ("case-2", 0.4, "SVD"): (0.52, 6.1, 13.0),
    ("case-2", 0.1, "S-SVD"): (1.9, 6.2, 13.0),
    ("case-2", 0.4, "S-SVD"): (0.58, 6.1, 13.0),
    ("case-3", 0.1, "ABT"): (0.15, 6.3, 21.8),
    ("case-3", 0.4, "ABT"): (0.69, 6.1, 13.4),
    ("case-3", 0.1, "SVD"): (0.15, 5.5, 10.5),
    ("case-3", 0.4, "SVD"): (0.24, 5.4, 10.4),
    ("case-3", 0.1, "B-SVD"): (0.0, 5.0, 10.0),
    ("case-3", 0.4, "B-SVD"): (0.0, 5.0, 11.0),
    ("mice", 0.1, "ABT"): (0.0, 0.33, 2.6),
    ("mice", 0.4, "ABT"): (0.0, 0.22, 2.4),
    ("mice", 0.1, "SVD"): (0.0, 0.33, 2.6),
    ("mice", 0.4, "SVD"): (0.02, 0.22, 2.4),
    ("mice", 0.1, "S-SVD"): (0.0, 0.36, 2.1),
    ("mice", 0.4, "S-SVD"): (0.02, 0.42, 1.8),
    ("movielens", 0.8, "ABT"): (0.02, 1.2, 8.0),
    ("movielens", 0.8, "SVD"): (0.03, 1.6, 5.0),
    ("movielens", 0.8, "B-SVD"): (0.0, 1.0, 5.0),
}

# Processor time per iteration in milliseconds (Table 2), on two Xeon E5-2680 v4, by case, share and model.
PUBLISHED_MILLISECONDS: dict[tuple[str, float, str], float] = {
    ("case-1", 0.1, "ABT"): 4.1,
    ("case-1", 0.4, "ABT"): 5.6,
    ("case-1", 0.1, "SVD"): 19.0,
    ("case-1", 0.4, "SVD"): 26.0,
    ("case-2", 0.1, "ABT"): 4.1,
    ("case-2", 0.4, "ABT"): 4.9,
    ("case-2", 0.1, "SVD"): 67.0,
    ("case-2", 0.4, "SVD"): 189.0,
    ("case-2", 0.1, "S-SVD"): 85.0,
    ("case-2", 0.4, "S-SVD"): 159.0,
    ("case-3", 0.1, "ABT"): 4.0,
    ("case-3", 0.4, "ABT"): 5.2,
    ("case-3", 0.1, "SVD"): 36.0,
    ("case-3", 0.4, "SVD"): 158.0,
    ("case-3", 0.1, "B-SVD"): 0.7,
    ("case-3", 0.4, "B-SVD"): 0.7,
    ("mice", 0.1, "ABT"): 47.0,
    ("mice", 0.4, "ABT"): 65.0,
    ("mice", 0.1, "SVD"): 650.0,
    ("mice", 0.4, "SVD"): 940.0,
    ("mice", 0.1, "S-SVD"): 670.0,
    ("mice", 0.4, "S-SVD"): 878.0,
    ("movielens", 0.8, "ABT"): 1400.0,
    ("movielens", 0.8, "SVD"): 2100.0,
    ("movielens", 0.8, "B-SVD"): 2400.0,
}
