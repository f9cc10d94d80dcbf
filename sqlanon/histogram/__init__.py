"""From a source to its histogram: the distinct atom tuples and what they count."""

from sqlanon.histogram.count import count, count_population
from sqlanon.histogram.histogram import Facet, Histogram, Tally
from sqlanon.histogram.quasi import HierarchyBuilder, Quasi

__all__ = ["Facet", "HierarchyBuilder", "Histogram", "Quasi", "Tally", "count", "count_population"]
