"""Multidimensional recoding: cut trees."""
