"""Generalizations: partitions of columns, schemes of tables, batches for searches."""

from sqlanon.scheme.batch import Batch, Space
from sqlanon.scheme.column import Column
from sqlanon.scheme.labels import group_labels
from sqlanon.scheme.partition import Bits, Partition
from sqlanon.scheme.references import read_scheme
from sqlanon.scheme.scheme import Scheme, from_bits, from_levels
from sqlanon.scheme.scheme_file import from_document, to_document, write_scheme
from sqlanon.scheme.spans import group_spans, partition_by_spans

__all__ = [
    "Batch",
    "Bits",
    "Column",
    "Partition",
    "Scheme",
    "Space",
    "from_bits",
    "from_document",
    "from_levels",
    "group_labels",
    "group_spans",
    "partition_by_spans",
    "read_scheme",
    "to_document",
    "write_scheme",
]
