"""NSGA-II with publisher preferences."""
