"""What ETL scripts use: a policy applied to its table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlglot import exp

from sqlanon.arguments import function, number_from, optional, path, refusal, whole_number
from sqlanon.counting import (
    Origin,
    SchemeLike,
    StoredScheme,
    check_columns,
    check_fit,
    count_query,
    explaining_changes,
    folders_of,
    open_lent_source,
    open_policy_source,
    population_source,
    refuse_workspace,
    scheme_in,
    table_elsewhere,
)
from sqlanon.domain import Histogram, Mode, Recoding, Scheme, Space
from sqlanon.engines import (
    EMBEDDED,
    ArrowStream,
    Connection,
    Engine,
    Source,
    as_given,
    held,
    open_source,
)
from sqlanon.errors import EngineError, PublishError, SchemeError, SqlanonError, UncoveredValueError
from sqlanon.evaluate import KEPT_DAYS, Evaluator, Workspace
from sqlanon.measuring import Measurer
from sqlanon.metrics import Preference, Suppression
from sqlanon.policy import Policy, parse_policy, read_policy
from sqlanon.privacy import Model
from sqlanon.release import (
    check_types,
    check_values,
    falls_short,
    header_of,
    measured_order,
    measurement_text,
    order_of,
    portable_source,
    refuse_uncovered,
    release_text,
    released_before,
    shown,
    statement_text,
    telling_of_release,
    text_of,
)
from sqlanon.search import SearchResult, Solution, Walk, Watch, together
from sqlanon.searching import (
    SearchRun,
    instead_of,
    refuse_method,
    search_trees,
    start_walk,
    walked,
    wanted_k,
)
from sqlanon.wording import brief_list

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from sqlanon.release import Order
    from sqlanon.release.pipeline import Release
    from sqlanon.release.verification import Verification
    from sqlanon.utility import Utility

_log = logging.getLogger("sqlanon.publish")


def load(
    policy: str | Path | Mapping[str, Any],
    *,
    connection: Connection | None = None,
    data: pd.DataFrame | pa.Table | ArrowStream | None = None,
    workspace: str | Path | None = None,
    workers: int | None = None,
) -> Anonymizer:
    """Opens the source of a policy (a file's path or a mapping) for measuring.

    `connection` is an open DuckDB connection to use instead of the policy's own; it stays
    open. `data` is a DataFrame, an Arrow table or anything else with an Arrow stream, which is
    read once, to use as the source. A `workspace` file keeps measurements for the next run, in
    place of that of the policy.
    `workers` is the number of threads, by default one a processor.
    """
    if connection is not None and data is not None:
        raise EngineError("give load() a connection or data, not both")
    if not isinstance(policy, Mapping):
        policy = path("policy", policy, "the path of a policy file, or a mapping")
    workspace = optional(path, "workspace", workspace, "the path of a DuckDB file")
    workers = optional(whole_number, "workers", workers, 1)
    checked = parse_policy(policy) if isinstance(policy, Mapping) else read_policy(policy)
    data = None if data is None else held(data)
    origin = Origin(connection, data, policy_is_file=not isinstance(policy, Mapping))
    kept = checked.workspace
    if workspace is None and kept is not None:
        workspace = Path(kept.file)
    if workspace is not None:
        refuse_workspace(workspace, checked, origin)
    if data is not None:
        memory = checked.section.memory
        source = open_source(data=data, folders=folders_of(checked), memory=memory)
    elif connection is not None:
        source = open_lent_source(checked, connection)
    else:
        source = open_policy_source(checked)
    try:
        with telling_of_release(checked, source):
            check_columns(checked, source)
            check_types(checked, source)
            population_source(checked, source)  # reports its mistakes before any work
        tables = Workspace(workspace, KEPT_DAYS if kept is None else kept.days)
    except BaseException:
        source.engine.close()
        raise
    return Anonymizer(checked, source, origin, workspace=tables, workers=workers)


def count_sql(
    policy: str | Path | Mapping[str, Any],
    *,
    connection: Connection | None = None,
    dialect: str = EMBEDDED,
) -> str:
    """The query that counts the table of a policy where it lives, for `source: {histogram: FILE}`.

    Of a policy with such a source nothing is opened. `connection` as for `load`.
    """
    checked = parse_policy(policy) if isinstance(policy, Mapping) else read_policy(policy)
    if checked.section.source.histogram is not None:
        return _count_text(checked, count_query(checked, table_elsewhere(checked)), [], dialect)
    with load(policy, connection=connection) as anonymizer:
        source, notes = portable_source(anonymizer.source, dialect)
        select = count_query(checked, as_given(source.relation), source.columns)
        return _count_text(checked, select, notes, dialect)


def _count_text(policy: Policy, select: exp.Select, notes: Sequence[str], dialect: str) -> str:
    lines = [
        "counts a table for `source: {histogram: FILE}`; the answer holds the values of people",
        f"policy {policy.fingerprint[:16]}",
        *notes,
    ]
    return "".join(f"-- {line}\n" for line in lines) + statement_text(select, dialect) + ";\n"


class Anonymizer:
    """A policy and its source. Use it in a `with` block, or close it when done."""

    def __init__(
        self,
        policy: Policy,
        source: Source,
        origin: Origin | None = None,
        *,
        workspace: Workspace | None = None,
        workers: int | None = None,
    ) -> None:
        self.policy = policy
        self._origin = origin or Origin()
        self._measurer = Measurer(policy, source, workspace=workspace, workers=workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        source = self.policy.hide(brief_list([self.source.name], width=100))
        return f"<Anonymizer of {source} with {self.policy!r}>"

    def close(self) -> None:
        """Writes the workspace and closes everything that was opened here."""
        with ExitStack() as stack:
            stack.callback(self.source.engine.close)
            stack.callback(self.workspace.close)
            stack.callback(self._measurer.forget)

    @property
    def source(self) -> Source:
        """The open source."""
        return self._measurer.source

    @property
    def workspace(self) -> Workspace:
        """The tables of everything that was measured here."""
        return self._measurer.workspace

    @property
    def histogram(self) -> Histogram:
        """The counted source; the first use counts it."""
        return self._measurer.histogram

    @property
    def space(self) -> Space:
        """The columns of every scheme."""
        return self._measurer.space

    @property
    def models(self) -> tuple[Model, ...]:
        """What every class must satisfy beyond k."""
        return self._measurer.models

    @property
    def evaluator(self) -> Evaluator:
        """Scores schemes of this source under this policy by every measure."""
        return self._measurer.evaluator

    @property
    def required_k(self) -> int:
        """The k that the policy asks for; 1 when it asks for none."""
        return self._measurer.required_k

    @property
    def preference(self) -> Preference | None:
        """The preferred loss and bias, if the policy names any."""
        return self._measurer.preference

    @property
    def suppression(self) -> Suppression:
        """The rule for the k that the policy asks for."""
        return self._measurer.suppression_for(self.required_k)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What publish will refuse whatever a search finds; a result has it in its notes."""
        return self._measurer.cautions

    def scheme(self, scheme: SchemeLike) -> Scheme:
        """A scheme of the source as it is now, from whatever describes one.

        Raises UncoveredValueError where the source holds values that a file's scheme lacks.
        """
        known = scheme_in(scheme)
        if known is not None:
            return known
        with explaining_changes(self.policy, scheme):
            stored = StoredScheme.read(self.policy, self.source, scheme)
            try:
                return stored.over(self.space)
            except SchemeError:
                # The file may be right, and the data hold values that are new to it.
                refuse_uncovered(self.policy, self.source, stored)
                raise

    def measure(self, scheme: SchemeLike, *, on_source: bool = False) -> Solution:
        """The scores of one scheme.

        `on_source` has the source's own database measure it, with the query that
        `sql(scheme, part="measure")` prints: k, classes, and the measures that have a cell there.
        """
        if on_source:
            return self._measurer.measured_on_source(self.scheme(scheme))
        return self.measure_all([scheme])[0]

    def measure_all(self, schemes: Sequence[SchemeLike]) -> list[Solution]:
        """The scores of several schemes, evaluated together.

        Rows are left out as for the policy's k; of a scheme that was found for another k, as for
        that one.
        """
        if isinstance(schemes, str | Path | Mapping) or not isinstance(schemes, Iterable):
            raise refusal("schemes", schemes, "a list of schemes")
        return self._measurer.measured([self.scheme(each) for each in schemes])

    def search(
        self,
        *,
        k: int | Sequence[int] | None = None,
        method: str | None = None,
        seed: int | None = None,
        effort: str | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Searches as the policy says; `method`, `seed` and `effort` replace the policy's.

        `k` is searched for instead of the policy's k, which is the least that it may be; of
        several k each has an answer in the result. `effort` is "default" or "thorough", for auto
        only; multidimensional recoding has "fast" too. Another method than the policy's runs with
        its default settings. A `watch` follows the search and can end it early; without one the
        policy's seconds and patience apply.
        """
        section = self.policy.section.search
        wanted = wanted_k(self.policy, self.required_k, k)
        run = self._run_of_trees if section.recoding is Recoding.MULTIDIMENSIONAL else self._run
        begin = run(wanted, method, effort)
        given = optional(whole_number, "seed", seed, 0)
        number = section.seed if given is None else given
        if not isinstance(watch, Watch | None):
            raise refusal("watch", watch, "a sqlanon.Watch")
        watch = watch or Watch(seconds=section.seconds, patience=section.patience)
        check_values(self.policy, self.source, self.space)
        return begin(number, watch)

    def _run_of_trees(
        self, wanted: Sequence[int], method: str | None, effort: str | None
    ) -> Callable[[int, Watch], SearchResult]:
        """The search for cut trees; wrong arguments are refused at once."""
        section = self.policy.section.search
        refuse_method(section.method, method)
        settings = section.for_trees(effort)
        return lambda seed, watch: search_trees(self._measurer, wanted, seed, watch, settings)

    def _run(
        self, wanted: Sequence[int], method: str | None, effort: str | None
    ) -> Callable[[int, Watch], SearchResult]:
        """The search by a method; wrong arguments are refused at once."""
        chosen, settings = self.policy.section.search.for_method(method, effort)
        several = len(wanted) > 1

        def begin(seed: int, watch: Watch) -> SearchResult:
            with SearchRun(self._measurer, chosen, settings, seed, watch, several=several) as run:
                found = run.search_for_each(wanted)
            return self._noted(together(found, self.required_k) if several else found[0])

        return begin

    def instead_of(self, result: SearchResult) -> str | None:
        """A line on what multidimensional recoding would lose at the k of a global search.

        None where it would not lose less, is refused, or may take more than about two seconds.
        """
        return instead_of(self._measurer, result)

    def _noted(self, result: SearchResult) -> SearchResult:
        """A result with a note on a workspace that could not be used."""
        note = self.workspace.note
        return result if note is None else replace(result, notes=(*result.notes, note))

    def walk(self, document: object = None, *, seed: int | None = None) -> Walk:
        """A walk along reference directions, from the policy's start to its preference.

        `document` resumes a walk that `to_json` wrote, with the seed, start and points of that
        walk; another `seed` or another preference is refused. The policy's seconds and patience
        are for every step. The walk scores schemes with this object, which must stay open.
        """
        seed = optional(whole_number, "seed", seed, 0)
        check_values(self.policy, self.source, self.space)
        return start_walk(self._measurer, document, seed)

    def walked(self, walk: Walk, chosen: bytes | None = None, seconds: float = 0.0) -> SearchResult:
        """The efficient solutions of a walk as a result; `chosen` is the key of the one taken.

        Where no step met a feasible solution, those that come closest.
        """
        if not isinstance(walk, Walk):
            raise refusal("walk", walk, "the walk that walk() returned")
        seconds = number_from("seconds", seconds, 0)
        return self._noted(walked(self._measurer, walk, chosen, seconds))

    def evaluations(self, query: str = "FROM evaluation", *, words: bool = False) -> pa.Table:
        """What a SELECT over everything that was measured yields, also while a search runs.

        The tables `run` and `measurement` and the view `evaluation` are in docs/evaluation.md.
        With `words` a further column says what each scheme makes of the columns; it needs the
        columns `run` and `scheme`, and is NULL for schemes of other data.
        """
        found = self.workspace.query(query)
        return self._measurer.with_words(found) if words else found

    def utility(
        self,
        scheme: SchemeLike,
        *,
        queries: int = 1000,
        seed: int = 1,
        sql: str | Sequence[str] = (),
        target: str | None = None,
        model: str = "logistic",
        on_stage: Callable[[str], None] | None = None,
    ) -> Utility:
        """How well the release of a scheme answers, without building it.

        `queries` random COUNTs are estimated from its classes. `sql` are SELECTs that return one
        number from the table `data`. `target` is the column that a `model` predicts; unless
        given, the policy's label. `on_stage` hears what is going on.
        """
        from sqlanon.utility import Assessment

        assessment = Assessment(
            self.policy, self.source, queries=queries, seed=seed, sql=sql, target=target,
            model=model, on_stage=on_stage,
        )  # fmt: skip
        assessment.tell("counting")
        return assessment.of(self.histogram, self.measure(scheme), self.required_k)

    def sql(self, scheme: SchemeLike, *, part: str = "release", dialect: str = EMBEDDED) -> str:
        """The SELECT that builds the release of a scheme, with a header that names it.

        The `part` measure is the query that measures it instead, and verify the one that counts
        the rows of a release that was made elsewhere; `verify` reads its answer.
        """
        if part == "measure":
            return self._sql_of_measurement(scheme, dialect)
        if part == "verify":
            return self._sql_of_verification(scheme, dialect)
        if part != "release":
            raise refusal("part", part, "one of release, measure, verify")
        with telling_of_release(self.policy, self.source):
            released = self._scheme_to_release(scheme)
        guarded = self.policy.section.publish.mode is Mode.VIEW
        solution = self._measured(scheme)
        k = None if solution is None else int(solution.scores["k"] or 0)
        source, notes = self._printed_source(dialect)
        order = order_of(self.policy, source, released, dialect)
        header = header_of(order, k, guarded=guarded)
        if solution is not None and solution.feasible is False:
            header += falls_short(self.policy)
        order = replace(order, header=(*header, *notes, *order.header))
        return release_text(shown(order), dialect, guarded=guarded)

    def lists(self, scheme: SchemeLike) -> dict[str, pa.Table]:
        """The tables of values and labels that the text of `sql` reads, because they are long.

        Empty for most schemes. `publish` makes such tables by itself.
        """
        from sqlanon.release.lists import named_lists

        order = order_of(self.policy, self.source, self._scheme_to_release(scheme))
        return named_lists(order)

    def _sql_of_measurement(self, scheme: SchemeLike, dialect: str) -> str:
        measured = self.scheme(scheme)
        source, notes = self._printed_source(dialect)
        k = measured.required_k or self.required_k
        order = measured_order(self.policy, source, measured, k)
        return measurement_text(replace(order, header=tuple(notes)), dialect)

    def _sql_of_verification(self, scheme: SchemeLike, dialect: str) -> str:
        from sqlanon.release.verification import verification_query

        order = order_of(self.policy, self.source, self._scheme_to_release(scheme))
        header = (
            "counts the rows of a release; `sqlanon publish --verified FILE` reads the answer",
            f"policy {order.policy[:16]}, scheme {order.scheme[:16]}",
        )
        order = replace(order, header=header)
        return text_of(verification_query(self.policy, order), order, dialect)

    def _printed_source(self, dialect: str) -> tuple[Source, list[str]]:
        """The source as the database that is to read a query knows it, and notes on that."""
        if self.source.histogram is None:
            return portable_source(self.source, dialect)
        table = table_elsewhere(self.policy)
        return replace(self.source, relation=table, name=str(self.policy.section.source.table)), []

    def verify(
        self, scheme: SchemeLike, answer: str | Path | pa.Table | ArrowStream
    ) -> Verification:
        """Checks a release that was made elsewhere by the SQL of `sql`.

        `answer` is what the query of `sql(scheme, part="verify")` yielded there: a CSV or Parquet
        file, or the rows. k and every model are recounted from it, and the number of rows and
        classes is compared with what the count of the source expects.
        """
        from sqlanon.release.verification import verified

        released = self._scheme_to_release(scheme)
        order = order_of(self.policy, self.source, released)
        rows = self.histogram.rows
        return verified(self.policy, self.source, order, self.measure(scheme), rows, answer)

    def publish(
        self,
        scheme: SchemeLike,
        *,
        certificates: str | Path | None = None,
        rewrite: bool = False,
        replace_file: bool = False,
        on_stage: Callable[[str], None] | None = None,
    ) -> Release:
        """Builds the release of a scheme in its place: staged, verified, swapped.

        `certificates` is the folder for the certificate's files; unless given, that of the
        policy's file, and none for a policy that is no file. With `rewrite` the database file
        is written anew afterwards, because dropped rows stay in it otherwise; PostgreSQL vacuums.
        A file that sqlanon did not make is replaced with `replace_file` only. `on_stage` hears
        what is going on. When anything fails, source and former release are as they were, unless
        the message says that the release was published.

        Inside a transaction of the connection that `load` was given, no certificate is written
        and `certificates` is refused: call `release.write_certificate(folder)` after the commit.
        """
        certificates = optional(path, "certificates", certificates, "the path of a folder")
        optional(function, "on_stage", on_stage)
        from sqlanon.release.pipeline import (
            address_to_rewrite,
            certificate_folder,
            closed,
            publish,
        )
        from sqlanon.release.stage import Stages

        to_rewrite = address_to_rewrite(self.policy, self._origin) if rewrite else None
        try:
            with self._ordered(scheme) as (order, engine):
                folder = certificate_folder(engine, certificates, self._folder)
                watch = Stages(on_stage)
                release = publish(order, engine, watch, folder=folder, replace_file=replace_file)
                memory = self.policy.section.memory
                return closed(release, order, engine, to_rewrite, memory)
        finally:
            if self.policy.section.publish.mode is Mode.REPLACE:
                self._measurer.forget()

    def dry_run(self, scheme: SchemeLike) -> list[str]:
        """The statements that `publish` would run, in their order."""
        from sqlanon.release.pipeline import statements

        with self._ordered(scheme, read_only=True) as (order, engine):
            return statements(order, engine)

    def type_changes(self, scheme: SchemeLike) -> list[str]:
        """How the released columns differ from those of the source, a line each."""
        from sqlanon.release.plan import type_changes

        with self._ordered(scheme, read_only=True) as (order, engine):
            return type_changes(engine, order)

    def losses(self, scheme: SchemeLike) -> list[str]:
        """What `publish` with `mode: replace` takes away, a line each.

        The rows of the source, keys, checks, defaults and indexes, and the views that read it.
        """
        from sqlanon.release.plan import foreseen

        with self._ordered(scheme, read_only=True) as (order, engine):
            return foreseen(engine, order)

    def _scheme_to_release(self, scheme: SchemeLike) -> Scheme:
        """A scheme over the domains it was made for.

        Values that joined the data since then are not part of it; `publish.unseen` of the policy
        decides what happens to them. The source is counted only where neither the policy nor the
        file lists the values of a column.
        """
        known = scheme_in(scheme)
        if known is not None:
            known = known.given or known
            check_fit(self.policy, known)
            return known
        with explaining_changes(self.policy, scheme):
            stored = StoredScheme.read(self.policy, self.source, scheme)
            return stored.without_counting() or stored.as_listed(self.space)

    @property
    def _folder(self) -> Path | None:
        """Of the policy's file; a policy from a mapping has none."""
        return self.policy.folder if self._origin.policy_is_file else None

    @contextmanager
    def _ordered(
        self, scheme: SchemeLike, *, read_only: bool = False
    ) -> Iterator[tuple[Order, Engine]]:
        """The order of a publish with its databases; unless `read_only`, the target's is open for
        writing, which it is at no other time."""
        if self.source.histogram is not None:
            raise PublishError(
                f"{self.source.name} is a histogram, and the table that it was counted of is "
                "elsewhere: run there what `sqlanon sql` prints, then the query of `sqlanon sql "
                "--part verify`, and give its answer to `sqlanon publish --verified FILE`"
            )
        with telling_of_release(self.policy, self.source):
            released = self._scheme_to_release(scheme)
        # No database may be open twice, while a file may be read all the time.
        reads_database = self.policy.section.source.file is None
        reads_database |= self.policy.source_connection() is not None
        ours = self._origin.is_the_policys and reads_database
        already = released_before(self.policy, self.source)
        if ours:
            self.source.engine.close()
        try:
            from sqlanon.release.pipeline import opened_order

            with opened_order(self.policy, self._origin, released, read_only=read_only) as opened:
                yield opened
        except SqlanonError as error:
            # Engines name addresses in their messages, and these may come from the environment.
            hidden = self.policy.hide(str(error)) + already
            if hidden == str(error):
                raise
            raise error.reworded(hidden) from None
        finally:
            if ours:
                self._reopen()

    def _reopen(self) -> None:
        """Opens the source as before; what was published stays so even if that fails."""
        try:
            self._measurer.source = open_policy_source(self.policy)
        except EngineError as error:
            _log.warning("the source cannot be opened again: %s", error)

    def _measured(self, scheme: SchemeLike) -> Solution | None:
        """A scheme measured on the source; None where that holds values which are new to it."""
        try:
            return self.measure(scheme)
        except (UncoveredValueError, SchemeError):
            return None
