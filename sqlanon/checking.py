"""The audit of any table, whoever made it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from sqlanon.arguments import (
    optional,
    refusal,
    share,
    text,
    texts,
    whole_number,
)
from sqlanon.audit import (
    Audit,
    CheckResult,
    KAnonymity,
    Population,
    Reference,
    Requirement,
    Satisfies,
    audit,
    held_values,
    reference_of,
    rows_unique_over,
    table_hash,
)
from sqlanon.domain import Hierarchy, hierarchy_files
from sqlanon.engines import (
    SUFFIXES,
    ArrowStream,
    Connection,
    Source,
    file_address,
    is_connection,
    open_source,
    open_table,
    written,
)
from sqlanon.errors import (
    ArgumentError,
    CertificateError,
    CheckError,
    EngineError,
    PolicyError,
    SubjectError,
)
from sqlanon.policy import parse_privacy
from sqlanon.privacy import ForColumns, Model, SensitiveColumn, bound_models, keys, listed
from sqlanon.release import written_file
from sqlanon.release.certificate import Certificate, Treatment
from sqlanon.release.certificate_comparison import caveats, differences, recountable
from sqlanon.release.pending import UnreadableCertificate, unfinished
from sqlanon.wording import counted, looked_in

Checked: TypeAlias = "str | Path | pd.DataFrame | pa.Table | ArrowStream | Connection"
"""A file or the address of a database, data in this process, or an open connection."""

Beside: TypeAlias = str | Path | pd.DataFrame | pa.Table | ArrowStream
"""A file, data in this process, or the name of a table in the database of the checked one."""


def check(
    source: Checked | None = None,
    quasi: str | Sequence[str] = (),
    k: int | None = None,
    subject: str | None = None,
    sensitive: str | Sequence[str] = (),
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | Connection | None = None,
    threshold: float = 0.2,
    l: float | None = None,  # noqa: E741  (the letter of the paper)
    l_kind: str | None = None,
    c: float | None = None,
    t: float | None = None,
    distance: str | None = None,
    hierarchy: Mapping[str, Hierarchy | str | Path] | None = None,
    beta: float | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    reference: Beside | None = None,
    population: Beside | None = None,
    k_map: int | None = None,
    population_size: int | None = None,
    privacy: Mapping[str, Any] | None = None,
) -> CheckResult:
    """Audits a table over its quasi-identifiers, and judges it where a requirement is given.

    `source` is the path of a CSV or Parquet file, a pandas DataFrame, an Arrow table or anything
    else with an Arrow stream, or, with `table` or `query`, a DuckDB file, its address, or an open
    DuckDB connection, which stays as it is; `connection` names the database in place of `source`.
    With a `subject` people are counted, not rows. `threshold` is the risk above which a record is
    at risk.

    Requirements are in `privacy`, which holds what a policy has under that key, such as
    `{"k": 5, "l_diversity": {"l": 3, "columns": ["ill"]}}`. Shortcuts for that: `k`; for every
    sensitive column `l` (`l_kind` distinct, entropy, or recursive with `c`), `t` (by `distance`
    equal, ordered or hierarchical), `beta`, `delta` and `alpha`; `k_map` within a `population`.
    `hierarchy` has hierarchies, or their files, by sensitive
    column. `reference` is the whole source that t, beta and delta compare with, otherwise the
    table itself. It and the `population` are a file, data, or a table of the same database.

    Of a CSV file the quasi-identifiers are compared as they are written, character by
    character, with a quoted empty field as an empty text; the other columns by their values.
    """
    shortcuts = {
        "l": l, "l_kind": l_kind, "c": c, "t": t, "distance": distance, "beta": beta,
        "delta": delta, "alpha": alpha, "k_map": k_map,
    }  # fmt: skip
    columns, secret = names("quasi", quasi), names("sensitive", sensitive)
    opened = open_checked(source, table=table, query=query, connection=connection)
    with ExitStack() as stack:
        stack.callback(opened.engine.close)
        return check_source(
            written(opened, source, columns),
            columns,
            k,
            subject=subject,
            sensitive=secret,
            threshold=threshold,
            privacy=privacy,
            shortcuts=shortcuts,
            hierarchy=hierarchy,
            reference=open_beside(opened, reference, "the reference", stack),
            population=open_beside(opened, population, "the population", stack, columns),
            population_size=population_size,
        )


def check_source(
    source: Source,
    quasi: Sequence[str],
    k: int | None = None,
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    threshold: float = 0.2,
    privacy: Mapping[str, Any] | None = None,
    shortcuts: Mapping[str, Any] | None = None,
    hierarchy: Mapping[str, Hierarchy | str | Path] | None = None,
    reference: Source | None = None,
    population: Source | None = None,
    population_size: int | None = None,
) -> CheckResult:
    """The same for sources that are open already, and stay open (see `written`).

    `shortcuts` are values of the options that models declare, by name.
    """
    k = optional(whole_number, "k", k, 1)
    population_size = optional(whole_number, "population_size", population_size, 1)
    threshold = share("threshold", threshold)
    optional(text, "subject", subject, "the name of a column")
    _refuse_two_roles(quasi, subject, sensitive)
    if population is not None and population_size is not None:
        raise ArgumentError("`population` tells its size itself; leave it or `population_size` out")
    if reference is not None and not sensitive:
        raise ArgumentError(
            "`reference` is for sensitive values; name a column that holds some with `sensitive`"
        )
    trees = _hierarchies(hierarchy or {}, sensitive)
    k, models = _required(source, sensitive, trees, k, privacy, shortcuts or {})
    for model in models:
        if model.needs_population and population is None:
            name = _shortcut_of(model, shortcuts or {})
            raise ArgumentError(
                f"`{name}` counts people of a population; name a table with `population`"
            )
    required: list[Requirement] = [] if k is None else [KAnonymity(k)]
    references = {}
    if reference is not None:
        references = {name: reference_of(reference, name, subject) for name in sensitive}
    _refuse_other_order(models, references)
    audited = audit(
        source,
        quasi,
        subject=subject,
        sensitive=sensitive,
        threshold=threshold,
        models=models,
        hierarchies=trees,
        reference=references,
        population=population_of(population, subject),
        population_size=population_size,
    )
    return CheckResult(audited, (*required, *map(Satisfies, models)))


def _refuse_other_order(models: Sequence[Model], references: Mapping[str, Reference]) -> None:
    """Numbers beside texts have no order but that of their texts, which says nothing."""
    for model in models:
        whole = None if model.column is None else references.get(model.column)
        if model.needs_order and whole is not None and not whole.kind.is_ordered:
            raise CheckError(
                f"{model.describe()} needs numbers or dates, and the reference holds the column in "
                "another type; cast it in a query, or take another distance"
            )


def population_of(source: Source | None, subject: str | None) -> Population | None:
    """The people of a population: by the subject's column if it has that, otherwise its rows."""
    if source is None:
        return None
    named = any(info.name == subject for info in source.columns)
    return Population(source, subject if named else None)


def open_beside(
    opened: Source,
    given: Beside | None,
    what: str,
    stack: ExitStack,
    quasi: Sequence[str] = (),
) -> Source | None:
    """A further table beside a checked one: a file, data, or a table of the same database.

    `quasi` are columns that a CSV file is to show as they are written. What is opened is closed
    with the stack.
    """
    if given is None:
        return None
    if isinstance(given, str) and not given.lower().endswith(SUFFIXES):
        try:
            return open_table(opened.engine, given)
        except EngineError as error:
            raise EngineError(
                f"{what} {given!r} is neither a file, which ends in {', '.join(SUFFIXES)}, nor a "
                f"table of the same database. {error}"
            ) from None
    found = open_source(file=given) if isinstance(given, str | Path) else open_source(data=given)
    stack.callback(found.engine.close)
    return written(found, given, quasi) if quasi else found


def _refuse_two_roles(quasi: Sequence[str], subject: str | None, sensitive: Sequence[str]) -> None:
    """What others may know is no secret, and it does not name a person."""
    for role, columns in (("subject", [subject]), ("sensitive", sensitive)):
        for name in columns:
            if name in quasi:
                raise ArgumentError(
                    f"column {name!r} is named by `quasi` and by `{role}`; leave one of the two out"
                )


def names(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """The columns that an argument names: one, or several."""
    return texts(argument, given, "the name of a column, or a list of them")


def open_checked(
    source: Checked | None,
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | Connection | None = None,
) -> Source:
    """Opens what `check` is to read. Close its engine when done."""
    if source is not None and connection is not None:
        raise ArgumentError("give `source` or `connection`, not both")
    if not isinstance(source, Beside | None) and not is_connection(source):
        raise refusal("source", source, "a file, an address, a table of data, or a connection")
    optional(text, "table", table, "the name of a table")
    optional(text, "query", query, "a SELECT")
    if isinstance(source, pd.DataFrame | pa.Table | ArrowStream):
        _refuse_choice(table, query, "data in this process are")
        return open_source(data=source)
    if isinstance(source, str | Path) and "://" not in str(source):
        if str(source).lower().endswith(SUFFIXES):
            _refuse_choice(table, query, f"{source} is")
            return open_source(file=source)
        if not Path(source).exists():
            raise CheckError(f"{source} does not exist{looked_in(Path(source))}")
        connection = file_address(source)
    elif source is not None:
        connection = source if is_connection(source) else str(source)
    if connection is None:
        raise ArgumentError("there is nothing to check: give a file, data, or a database")
    if (table is None) == (query is None):
        named = "the connection"
        if isinstance(connection, str):
            named = connection if source is None else str(source)
        given = "neither is given" if table is None else "both are given"
        raise ArgumentError(
            f"{named} is taken for a database: give `table` or `query`; {given}. "
            f"Files end in {', '.join(SUFFIXES)}"
        )
    return open_source(connection=connection, table=table, query=query)


def _refuse_choice(table: str | None, query: str | None, what: str) -> None:
    if table is not None or query is not None:
        raise ArgumentError(f"{what} checked as a whole; `table` and `query` need a database")


def _required(
    source: Source,
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    k: int | None,
    privacy: Mapping[str, Any] | None,
    shortcuts: Mapping[str, Any],
) -> tuple[int | None, list[Model]]:
    """The k and the models of a `privacy` section, and of the shortcuts for its keys."""
    if not isinstance(privacy, Mapping | None):
        raise refusal("privacy", privacy, "a mapping, such as {'k': 5, 'l_diversity': {'l': 3}}")
    given = dict(privacy or {})
    paths: dict[str, str] = {}  # of keys that shortcuts stand for
    for key, model in keys().items():
        own = {each: shortcuts.get(each.name) for each in model.options}
        values = {o.field: _plain(v) for o, v in own.items() if v is not None}
        if not values:
            continue
        if key in given:
            name = _shortcut_of(model, shortcuts)
            raise ArgumentError(f"`{name}` and `privacy` both require {key}; leave one out")
        given[key] = values.get(None, values)
        paths |= {f"privacy.{key}" + f".{o.field}" * bool(o.field): o.name for o in own}
    if k is not None and "k" in given:
        raise ArgumentError("`k` and `privacy` both require a k; leave one out")

    def refused(words: str) -> ArgumentError:
        """Names the shortcut in the message where one was used."""
        path = words.partition(":")[0]
        return ArgumentError(f"`{paths[path]}`{words[len(path) :]}" if path in paths else words)

    try:
        section = parse_privacy(given)
    except PolicyError as error:
        raise refused(str(error)) from None
    for key, each in section.models.items():
        for one in listed(each):
            if not isinstance(one, ForColumns):
                continue
            if not sensitive:
                raise ArgumentError(
                    f"`{_shortcut_of(keys()[key], shortcuts)}` is for sensitive values; name the "
                    "column that holds them with `sensitive`"
                )
            if strangers := [name for name in one.columns or () if name not in sensitive]:
                raise ArgumentError(
                    f"privacy.{key}.columns: {strangers[0]!r} is not named by `sensitive`"
                )
    columns = {}
    for name in sensitive:
        info = source.column(name)
        columns[name] = SensitiveColumn(name, info.kind, info.type, name in hierarchies)
    models = list(bound_models(section.models, columns, refused))
    return section.k if "k" in given else k, models


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _shortcut_of(model: Model | type[Model], shortcuts: Mapping[str, Any]) -> str:
    """How a check was asked for a model."""
    given = [
        each.name for each in keys()[model.key].options if shortcuts.get(each.name) is not None
    ]
    return given[0] if given else f"privacy.{model.key}"


def _hierarchies(given: object, sensitive: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies by sensitive column, read from their files."""
    if not isinstance(given, Mapping):
        expected = "a mapping from columns to hierarchies or files, such as {'ill': 'ill.csv'}"
        raise refusal("hierarchy", given, expected)
    found = {}
    for name, each in given.items():
        if not isinstance(each, Hierarchy | str | Path):
            raise ArgumentError(
                f"`hierarchy`: that of {name!r} is {each!r:.60}; give a Hierarchy, or its file"
            )
        if name not in sensitive:
            raise ArgumentError(
                f"`hierarchy`: {name!r} is not named by `sensitive`; name it there, or leave its "
                "hierarchy out"
            )
        found[name] = each if isinstance(each, Hierarchy) else hierarchy_files.read(each)
    return found


@dataclass(frozen=True)
class Recheck:
    """A release counted again, and every way in which it differs from its certificate.

    `not_recounted` says of each required model that the release alone cannot show why not, and
    `caveats` what the digest of the certificate does not show.
    """

    certificate: Certificate
    audit: Audit | None
    table_hash: str | None
    differences: tuple[str, ...]
    not_recounted: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "release": self.certificate.document.release.id,
            "holds": self.holds,
            "differences": list(self.differences),
            "not_recounted": list(self.not_recounted),
            "caveats": list(self.caveats),
            "hash": self.table_hash,
            "audit": None if self.audit is None else self.audit.to_dict(),
        }

    def __str__(self) -> str:
        release = self.certificate.document.release
        if self.holds:
            rows = counted(release.rows, "row")
            said = f"the table is release {release.id}, as certified: {rows}"
            return "\n".join([said, *self.not_recounted, *self.caveats])
        return "\n".join([*self.differences, *self.not_recounted, *self.caveats])


def recheck(
    source: Checked | None,
    certificate: Certificate | str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | Connection | None = None,
) -> Recheck:
    """Counts and hashes a release again and compares it with its certificate.

    `source` and the others are as for `check`; the certificate may be of either form.
    """
    if not isinstance(certificate, Certificate):
        _refuse_unfinished(Path(certificate))
        certificate = Certificate.read(certificate)
    opened = open_checked(source, table=table, query=query, connection=connection)
    try:
        return _compared(_as_written(opened, source, certificate), certificate)
    finally:
        opened.engine.close()


def _refuse_unfinished(path: Path) -> None:
    """Says where a certificate is that a killed run has left."""
    if path.exists() or not path.parent.is_dir():
        return
    for each in unfinished(path.parent):
        if path.name in [own.name for own in each.files.paths]:
            if isinstance(each, UnreadableCertificate):
                raise CertificateError(f"{path}: is not there, but {each}")
            raise CertificateError(
                f"{path}: is not there, but {each}; check the release with that file, or publish "
                "again, which finishes it"
            )


def _as_written(opened: Source, source: object, certificate: Certificate) -> Source:
    """A CSV file as the texts that were hashed, without any guess at types."""
    if not isinstance(source, str | Path) or not str(source).lower().endswith(".csv"):
        return opened
    try:
        with Path(source).open(newline="", encoding="utf-8") as file:
            names = tuple(next(csv.reader(file), []))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CertificateError(f"{source}: cannot be read ({error})") from None
    if names != certificate.columns:
        return opened  # no release of ours: the comparison says what is wrong
    relation = written_file(Path(source), names)
    return Source(opened.engine, relation, opened.name, opened.engine.columns(relation))


def _compared(source: Source, certificate: Certificate) -> Recheck:
    names = [info.name for info in source.columns]
    quasi = certificate.document.privacy.quasi
    audited, missing = None, tuple[str, ...]()
    if set(quasi) <= set(names):
        audited, missing = _audited(source, certificate)
    hashed, unique = None, None
    if set(certificate.columns) <= set(names):
        hashed = table_hash(source, certificate.columns, certificate.document.release.hash_version)
        if audited is not None:
            unique = _unique(source, certificate, audited)
    groups = {
        column.name: held_values(source, column.released_as).groups
        for column in certificate.document.columns
        if column.treatment is Treatment.GENERALIZED and set(column.released_as) <= set(names)
    }
    found = differences(certificate, audited, hashed, names, unique, groups)
    return Recheck(certificate, audited, hashed, tuple(found), missing, tuple(caveats(certificate)))


def _audited(source: Source, certificate: Certificate) -> tuple[Audit, tuple[str, ...]]:
    """The classes of a release, in people where the subject is released as a pseudonym.

    A database may take subjects for one person that differ in case, and have pseudonyms that
    differ: then there are more of these than people, and rows are all that can be compared.
    The sentences say which models were not counted.
    """
    privacy, release = certificate.document.privacy, certificate.document.release
    kinds = {info.name: info.kind for info in source.columns}
    sensitive = [each.column for each in privacy.sensitive if kinds.get(each.column) is not None]
    threshold = privacy.risk.threshold
    again = partial(audit, source, privacy.quasi, sensitive=sensitive, threshold=threshold)
    if privacy.subject in certificate.columns and privacy.subject in kinds:
        with suppress(SubjectError):  # a changed table may hold rows without one
            known = recountable(certificate.document, kinds, in_people=True)
            by_people = again(subject=privacy.subject, models=known.models)
            if by_people.people <= release.people:
                return by_people, known.others
    known = recountable(certificate.document, kinds, in_people=privacy.subject is None)
    return again(models=known.models), known.others


def _unique(source: Source, certificate: Certificate, audited: Audit) -> int | None:
    """Rows that are unique over all released columns; None if it cannot identify people."""
    subject = certificate.document.privacy.subject
    if subject is not None and audited.by_people is None:
        return None
    return rows_unique_over(source, certificate.columns, subject=subject)
