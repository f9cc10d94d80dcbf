"""From a source to its histogram: the distinct atom tuples and what they count."""

from sqlanon.histogram.count import count
from sqlanon.histogram.histogram import Facet, Histogram, Population, Tally
from sqlanon.histogram.places import Reach
from sqlanon.histogram.population import count_population
from sqlanon.histogram.quasi import HierarchyBuilder, Quasi

__all__ = [
    "Facet",
    "HierarchyBuilder",
    "Histogram",
    "Population",
    "Quasi",
    "Reach",
    "Tally",
    "count",
    "count_population",
]
