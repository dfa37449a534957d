"""A slice of every target; ``make fuzz`` runs many more cases."""

CASES = 150
