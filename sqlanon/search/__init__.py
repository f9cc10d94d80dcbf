"""Searches: they see a space, a way to score batches and a seeded generator, and no SQL."""
