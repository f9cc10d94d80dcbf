"""Columns and their values: domains, hierarchies, partitions, schemes, labels, histograms."""

from __future__ import annotations

from sqlanon.domain.atoms import CALENDAR_STEPS, Domain, IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Family
from sqlanon.domain.cut_tree import CutTree, Regions, Run
from sqlanon.domain.hierarchy import Hierarchy, Span
from sqlanon.domain.histogram import (
    Codes,
    CountedPopulation,
    Facet,
    GroupFit,
    Histogram,
    Ints,
    Tally,
)
from sqlanon.domain.labels import (
    BETWEEN,
    MORE,
    WHOLE,
    Mask,
    format_label,
    format_labels,
    partition_by_spans,
    spells_values,
)
from sqlanon.domain.partition import Bits, Partition, null_apart
from sqlanon.domain.presentation import (
    NOT_IN_SCHEME,
    Cell,
    Form,
    Generalized,
    Mode,
    Output,
    RowOrder,
    SuppressedRows,
    Unseen,
    Writing,
    Writings,
    cell_text,
    decimal_digits,
    marking_problems,
    opens_ends,
    takes_unseen,
    top_cell,
)
from sqlanon.domain.scheme import Scheme, from_levels
from sqlanon.domain.scheme_json import (
    VERSION,
    Labels,
    Recoding,
    from_document,
    listed_values,
    mentions_null,
    observed_domains,
    read_document,
    read_result,
    solution_in,
    split_reference,
    to_document,
    upgraded,
    write_document,
)
from sqlanon.domain.space import Batch, Ids, PartitionTable, Space
from sqlanon.domain.tree_json import refined_partitions
from sqlanon.domain.values import Value, format_value, literal, parse_value, sort_key
