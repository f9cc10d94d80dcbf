"""The embedded DuckDB that searches run on: masks in tables, parsed queries, workers.

It holds only the histogram, never the source, and writes nothing to disk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import duckdb
import numpy as np

from sqlanon.domain import Batch, Histogram, Tally
from sqlanon.engines import Tracer
from sqlanon.engines.duckdb import counting_memory
from sqlanon.engines.statements import keeping_interrupts
from sqlanon.evaluate.answers import with_suppressible
from sqlanon.evaluate.coding import Numbers
from sqlanon.evaluate.constraints import constraints_for
from sqlanon.evaluate.layout import FIRST_WORD_BITS, Layout, is_lattice, layout_for
from sqlanon.evaluate.pulse import EVERY, Pulse
from sqlanon.evaluate.query_plan import Group
from sqlanon.evaluate.scoring_sql import ScoringQuery, class_sizes_sql, labels_of
from sqlanon.evaluate.value_counts import Demands
from sqlanon.metrics import Detail, Ints

MANY = 16
"""From this many schemes on, a second query for the suppressible classes alone pays."""

INTERRUPTING = 0.05
"""Seconds between two attempts to interrupt a query: the first may come before it has begun."""

WORTH_SHARING = 1_000
"""Entries of a histogram from which on several workers pay."""

T = TypeVar("T")
R = TypeVar("R", bound=Sized)

MAX_TABLES = 4
"""The number of layouts that keep their masks; the least recently used one is dropped."""


class Workbench:
    """Tables of masks and a few single-threaded workers.

    One thread per query and several queries at once beats several threads per query: the
    histogram of most tables fits one row group, which DuckDB does not share out.
    """

    def __init__(
        self,
        histogram: Histogram,
        label: str | None,
        demands: Demands | None = None,
        workers: int | None = None,
    ) -> None:
        self.tracer = Tracer()
        self.queries = 0
        self._lock = threading.Lock()
        small = len(histogram.tally) < WORTH_SHARING
        self.workers = workers or (1 if small else os.cpu_count()) or 1
        self._histogram = histogram
        self._label = histogram.facets[label].tally if label else None
        self._constraints = None if demands is None else constraints_for(histogram, demands, label)
        self._databases = [Database() for _ in range(self.workers)]
        self._pool = ThreadPoolExecutor(self.workers)
        self._tables: dict[Layout, str] = {}
        self._made = 0

    @property
    def rows(self) -> int:
        """The entries that a query without roll-up reads for every scheme."""
        return len(self._counted)

    @property
    def _counted(self) -> Tally:
        """The counts in the main table of masks: those of a label include those of the rows."""
        if self._label is not None and not self._subjects and self._constraints is None:
            return self._label
        return self._histogram.tally

    @property
    def _subjects(self) -> bool:
        return self._histogram.subject is not None

    @property
    def can_roll_up(self) -> bool:
        """False if a label is counted beside subjects, which needs two tables."""
        if self._constraints is not None:
            return self._constraints.can_roll_up
        return not (self._subjects and self._label is not None)

    def map(
        self, work: Callable[[Database, T], R], items: Sequence[T], pulse: Pulse | None = None
    ) -> list[R | None]:
        """Runs the items on the workers and returns the results, one per scheme, in order.

        A listener of the pulse may end that: running queries are interrupted, and schemes that
        were not scored have None.
        """
        if len(items) == 1 and pulse is None:
            return [work(self._databases[0], items[0])]
        idle = list(self._databases)

        def do(item: T) -> R:
            database = idle.pop()
            try:
                return work(database, item)
            finally:
                idle.append(database)

        places = {self._pool.submit(do, item): i for i, item in enumerate(items)}
        results: list[R | None] = [None] * len(items)
        waiting = set(places)
        try:
            while waiting:
                done, waiting = wait(waiting, EVERY, FIRST_COMPLETED)
                for future in done:
                    results[places[future]] = future.result()
                scored = sum(len(result) for result in results if result is not None)
                if waiting and pulse is not None and pulse.beat(scored):
                    break
        finally:
            self._end(waiting)
        return results

    def _end(self, waiting: Collection[Future[R]]) -> None:
        """Ends what still waits or runs, and returns once nothing runs any more."""
        running = [future for future in waiting if not future.cancel()]
        while running:
            for database in self._databases:
                database.connection.interrupt()
            running = list(wait(running, INTERRUPTING).not_done)

    def answer(
        self, database: Database, layout: Layout, group: Group, words: Numbers, detail: Detail
    ) -> dict[str, Ints]:
        """The class sizes of a group of candidates, and the classes that may be suppressed.

        Fine schemes have many classes, but none to suppress if their smallest size exceeds the
        budget. So of many schemes, only those with suppressible classes are queried for them,
        unless every row may be suppressed: then nearly all have some.
        """
        at_once = detail.budget >= self._histogram.rows or not self._asks_for_details
        if not detail.budget or at_once or len(group.members) < MANY:
            return self.query(database, layout, group, words, detail)
        sizes = self.query(database, layout, group, words, Detail())
        some = with_suppressible(sizes, detail)
        count = len(sizes["size"])
        keys = [f"k{w}" for w in range(layout.words)]
        sizes |= {name: np.zeros(count, dtype=np.int64) for name in ("is_class", *keys)}
        if not len(some):
            return sizes
        part = Group(group.members[some], group.rolled_up)
        classes = self.query(database, layout, part, words, detail)
        wanted = classes["is_class"] == 1
        found = {name: values[wanted] for name, values in classes.items()}
        found["candidate"] = some[found["candidate"]]
        return {name: np.concatenate([values, found[name]]) for name, values in sizes.items()}

    def query(
        self, database: Database, layout: Layout, group: Group, words: Numbers, detail: Detail
    ) -> dict[str, Ints]:
        """The class sizes of one group of candidates, whose kept bits are `words`."""
        members = words[group.members]
        numbers = np.arange(len(members), dtype=np.int64) << FIRST_WORD_BITS
        arguments: list[object] = [numbers.tolist(), *(w.tolist() for w in members.T)]
        if group.rolled_up:
            arguments += np.bitwise_or.reduce(members, axis=0).tolist()
        details = bool(detail.budget) and self._asks_for_details
        if details:
            arguments += [detail.below, detail.budget]
        statement = self._statement(database, layout, group.rolled_up, details)
        with self._lock:
            self.queries += 1
        with keeping_interrupts(), self.tracer.running(statement.query) as running:
            fetched = database.connection.execute(statement, arguments).fetchnumpy()
            running.rows = len(next(iter(fetched.values())))
        found = {column: np.asarray(values) for column, values in fetched.items()}
        return found if self._constraints is None else self._constraints.read(found, layout, detail)

    @property
    def _asks_for_details(self) -> bool:
        return self._constraints is None or self._constraints.asks_for_details

    def _statement(
        self, database: Database, layout: Layout, rolled_up: bool, details: bool
    ) -> duckdb.Statement:
        """A parsed statement; parsing it anew would cost as much as running it."""
        name = f"score_{self._tables[layout]}_{int(rolled_up)}{int(details)}"
        if name not in database.parsed:
            sql = self.sql(layout, rolled_up=rolled_up, details=details)
            (database.parsed[name],) = database.connection.extract_statements(sql)
        return database.parsed[name]

    def sql(self, layout: Layout, *, rolled_up: bool, details: bool) -> str:
        """The query that scores candidates of a layout."""
        table, query = self._tables[layout], ScoringQuery(layout.words, rolled_up, details)
        if self._constraints is not None:
            return self._constraints.sql(table, query)
        return class_sizes_sql(
            query,
            table,
            subjects=self._subjects,
            movers=self._histogram.tally.has_movers,
            labelled=self._label is not None,
        )

    def layout_of(self, batch: Batch) -> Layout | None:
        """The layout to evaluate a batch with, its masks in a table; None: split the batch."""
        fitting = [known for known in self._tables if known.expresses(batch)]
        layout = min(fitting, key=lambda known: known.words, default=None)
        if layout is None or (layout.words > 1 and is_lattice(batch)):
            wanted = layout_for(batch)
            if wanted is None:
                return None
            if layout is None or wanted.words < layout.words:
                layout = wanted
        table = self._tables.pop(layout, None) or self._load_masks(layout)
        self._tables[layout] = table  # the most recently used comes last
        while len(self._tables) > MAX_TABLES:
            self._drop(self._tables.pop(next(iter(self._tables))))
        return layout

    def _load_masks(self, layout: Layout) -> str:
        self._made += 1
        name = f"masks_{self._made}"
        if self._constraints is not None:
            for table, rows in self._constraints.tables(name, layout).items():
                self._create(table, rows)
            return name
        self._load(name, layout, self._counted)
        if self._label is not None and self._subjects:
            self._load(labels_of(name), layout, self._label)
        return name

    def _load(self, name: str, layout: Layout, tally: Tally) -> None:
        words = layout.row_words(tally.codes)
        columns: dict[str, Numbers] = {f"w{w}": words[:, w] for w in range(layout.words)}
        columns["people"] = _narrow(tally.people)
        if self._subjects:
            columns["n_rows"] = _narrow(tally.rows)
        if tally.values is not None:
            columns["label"] = tally.values
        if tally.has_movers:
            columns["mover"] = np.ma.masked_less(tally.mover, 0)
        self._create(name, columns)

    def _create(self, name: str, columns: Mapping[str, Numbers]) -> None:
        with keeping_interrupts(), self.tracer.running(Database.CREATE.format(name)):
            for database in self._databases:
                database.load(name, columns)

    def _drop(self, name: str) -> None:
        beside = () if self._constraints is None else self._constraints.table_names(name)
        with keeping_interrupts():
            for database in self._databases:
                for table in (name, labels_of(name), *beside):
                    with self.tracer.running(Database.DROP.format(table)):
                        database.drop(table)

    def close(self) -> None:
        self._pool.shutdown()
        for database in self._databases:
            database.connection.close()


class Database:
    """A worker's own database: shared ones make single-threaded queries wait for each other."""

    CREATE = "CREATE TABLE {} AS FROM incoming"
    DROP = "DROP TABLE IF EXISTS {}"

    def __init__(self) -> None:
        self.connection = counting_memory(threads=1)
        # The queries are written in the order they should run; planning would only cost time.
        self.connection.execute("PRAGMA disable_optimizer")
        self.parsed: dict[str, duckdb.Statement] = {}

    def load(self, name: str, columns: Mapping[str, Numbers]) -> None:
        """Makes a table of columns; masked values are NULL."""
        self.connection.register("incoming", dict(columns))
        self.connection.execute(self.CREATE.format(name))
        self.connection.unregister("incoming")

    def drop(self, name: str) -> None:
        for statement in [s for s in self.parsed if s.startswith(f"score_{name}_")]:
            del self.parsed[statement]
        self.connection.execute(self.DROP.format(name))


def _narrow(counts: Ints) -> Numbers:
    """Counts in 32 bits if they fit, because DuckDB sums those faster."""
    fits = int(counts.sum()) < np.iinfo(np.int32).max
    return counts.astype(np.int32) if fits else counts
