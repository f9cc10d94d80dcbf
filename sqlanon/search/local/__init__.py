"""Local search: small changes, descent, annealing, and what is known before scoring."""
