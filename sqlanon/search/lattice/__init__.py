"""Searches over the lattice of full-domain generalizations."""
