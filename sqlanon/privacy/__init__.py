"""Privacy: which classes are released, and what they protect."""
