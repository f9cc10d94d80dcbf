"""Columns and their values: domains, hierarchies, partitions, schemes, labels, histograms."""

from __future__ import annotations

from sqlanon.domain.atoms import CALENDAR_STEPS, Domain, IntervalDomain, ValueDomain
from sqlanon.domain.column import Bits, Column, Family, Partition, null_apart
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
from sqlanon.domain.presentation import (
    BETWEEN,
    MORE,
    NOT_IN_SCHEME,
    WHOLE,
    Cell,
    Form,
    Generalized,
    Mask,
    Mode,
    Output,
    RowOrder,
    SuppressedRows,
    Unseen,
    Writing,
    Writings,
    cell_text,
    decimal_digits,
    format_label,
    format_labels,
    marking_problems,
    opens_ends,
    partition_by_spans,
    spells_values,
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
    refined_partitions,
    solution_in,
    split_reference,
    to_document,
    upgraded,
    write_document,
)
from sqlanon.domain.space import Batch, Ids, PartitionTable, Space
from sqlanon.domain.values import (
    Value,
    counted_value,
    exact,
    format_value,
    literal,
    parse_value,
    sort_key,
    told_apart,
)
