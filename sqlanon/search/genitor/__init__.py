"""GENITOR for k-anonymity, with its population and crossovers."""
