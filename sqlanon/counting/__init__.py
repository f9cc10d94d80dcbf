"""Binds a policy to a source (columns, domains, models) and counts it with a GROUP BY."""

from __future__ import annotations

from sqlanon.counting.binding import (
    DEFAULT_PREFERENCE,
    NO_PREFERENCE,
    SchemeLike,
    StoredScheme,
    check_columns,
    check_fit,
    explaining_changes,
    generalized_of,
    misfit,
    models_of,
    quasis_of,
    scheme_in,
    sensitive_hierarchies,
    writings_of,
)
from sqlanon.counting.counter import Counted, count, encode
from sqlanon.counting.histogram_files import (
    ROWS,
    count_query,
    is_histogram,
    repeated,
    table_elsewhere,
    tuples_query,
)
from sqlanon.counting.population import (
    people_of_population,
    population_of,
)
from sqlanon.counting.sources import (
    Origin,
    address_in,
    files_of,
    folders_of,
    open_lent_source,
    open_policy_source,
    population_source,
    refuse_empty,
    refuse_workspace,
)
