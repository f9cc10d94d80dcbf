"""The verification of a release that was made elsewhere, by a query whose answer is fed back."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.audit import Audit, audit, reference_of
from sqlanon.counting import ROWS, repeated, tuples_query
from sqlanon.domain import NOT_IN_SCHEME
from sqlanon.engines import ArrowStream, Source, open_source, parse_table, written
from sqlanon.errors import EngineError, PolicyError, VerificationError
from sqlanon.files import write_text
from sqlanon.policy import Policy
from sqlanon.release.generalize import is_text, released
from sqlanon.release.order import Order, refuse_homogeneity, stem_of
from sqlanon.search import Solution
from sqlanon.wording import counted

FORMAT, VERSION = "sqlanon verification", 1
HOW = (
    "The release was made by a query of sqlanon that was run by hand, and its rows were counted by "
    "another. sqlanon read the answer to that, and not the release itself."
)


@dataclass(frozen=True, repr=False)
class Verification:
    """What the count of a release shows that was made elsewhere; it holds without `problems`."""

    target: str
    k: int
    classes: int
    rows: int
    suppressed: int
    problems: tuple[str, ...]
    audit: Audit = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether everything that the policy requires holds, and the counts are as expected."""
        return not self.problems

    def __repr__(self) -> str:
        found = "holds" if self.holds else "does not hold"
        return f"<Verification of {self.target}: {found}, k = {self.k}>"

    def to_dict(self) -> dict[str, Any]:
        """The certificate as a document for JSON."""
        return dict(self.document)

    def write(self, folder: str | Path) -> Path:
        """Writes TARGET.verification.json, for its owner only; refused where it does not hold."""
        if not self.holds:
            raise VerificationError(f"{self.target} is not certified: {'; '.join(self.problems)}")
        path = Path(folder) / f"{stem_of(self.target)}.verification.json"
        write_text(path, json.dumps(self.document, indent=2) + "\n", private=True)
        return path

    def withdraw(self, folder: str | Path) -> Path | None:
        """Moves the certificate of an earlier release of this target aside.

        What does not hold has no certificate, and neither has what it replaced. Answers with
        the new path, TARGET.verification.withdrawn.json; None where there is no certificate.
        """
        path = Path(folder) / f"{stem_of(self.target)}.verification.json"
        if not path.exists():
            return None
        aside = path.with_name(f"{stem_of(self.target)}.verification.withdrawn.json")
        return path.replace(aside)


def released_table(policy: Policy) -> exp.Table:
    """The table elsewhere that the release is made as."""
    name = policy.section.publish.to
    if name is None:
        raise PolicyError(
            f"{policy.origin}: publish.to: is missing; say what the released table is called in "
            "its database, such as `publish: {to: people_anon}`"
        )
    return parse_table(name)


def verification_query(policy: Policy, order: Order) -> exp.Select:
    """Counts the rows of a released table by class and by the values that models constrain."""
    if order.subject is not None:
        raise PolicyError(
            f"{policy.origin}: subject: a release does not say which rows are of one person "
            f"({order.subject!r}), so no count of it shows how many people a class has; publish "
            "with sqlanon where the table lives, or release one row per person"
        )
    if order.counts_population:
        raise PolicyError(
            f"{policy.origin}: privacy.k_map: is not shown by a count of the release; publish with "
            "sqlanon where the table lives"
        )
    texts = [item.name for item in order.generalized if is_text(item, order)]
    sensitive = [each.name for each in order.measured]
    return tuples_query(released_table(policy), [*order.class_names, *sensitive], texts)


def verified(
    policy: Policy,
    source: Source,
    order: Order,
    expected: Solution,
    total: int,
    answer: str | Path | pa.Table | ArrowStream,
) -> Verification:
    """Checks the answer to a verification query against the policy and the measured scheme.

    `expected` are the scores of the scheme on the source, which has `total` rows. `answer` is a
    CSV or Parquet file, or the rows themselves.
    """
    verification_query(policy, order)  # refuses what it cannot show
    refuse_homogeneity(policy)
    if isinstance(answer, str | Path):
        found, file = open_source(file=answer), _sha256(Path(answer))
    else:
        found, file = open_source(data=answer), None
    try:
        names = [*order.class_names, *(each.name for each in order.measured)]
        _refuse_another(found, [*names, ROWS])
        texts = [each.name for each in order.measured if source.column(each.name).is_text]
        read = written(found, answer, [*order.class_names, *texts])
        rows = repeated(read, names)
        seen = audit(
            rows,
            order.class_names,
            models=order.models,
            hierarchies=order.hierarchies,
            reference={n.name: reference_of(source, n.name, None) for n in order.measured},
        )
        unseen = _of_no_group(rows, order)
        invented = list(_invented(found, read, order))
    finally:
        found.engine.close()
    suppressed = int(expected.scores["suppressed"] or 0)
    marked = order.suppress and order.marker is not None and suppressed > 0
    wanted_rows = total if marked else total - suppressed
    wanted_classes = int(expected.scores["classes"] or 0) + marked
    problems = []
    if seen.k < order.k:
        problems.append(f"a class has {counted(seen.k, 'row')}, and {order.k} are required")
    problems += [
        f"{each.model.describe()} does not hold in {counted(each.classes, 'class')}"
        for each in seen.models
        if not each.holds
    ]
    if unseen:
        problems.append(f"{counted(unseen, 'row')} have values that belong to no group")
    problems += invented
    if (seen.by_rows.total, seen.classes) != (wanted_rows, wanted_classes):
        problems.append(
            f"the release has {counted(seen.by_rows.total, 'row')} in "
            f"{counted(seen.classes, 'class')}, and the count of the source expects "
            f"{wanted_rows:,} in {wanted_classes:,}: it is of another scheme, or the table "
            "changed in between; count and search again"
        )
    target = policy.section.publish.to or ""
    return Verification(
        target,
        seen.k,
        seen.classes,
        seen.by_rows.total,
        suppressed,
        tuple(problems),
        seen,
        {
            "format": FORMAT,
            "version": VERSION,
            "sqlanon": version("sqlanon"),
            "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "how": HOW,
            "target": target,
            "policy": order.policy,
            "scheme": order.scheme,
            "answer": file,
            "source": {"name": order.name, "rows": total},
            "release": {
                "rows": seen.by_rows.total,
                "suppressed": suppressed,
                "classes": seen.classes,
                "k": seen.k,
            },
            "required": {"k": order.k},
            "models": [each.to_dict() | {"holds": bool(each.holds)} for each in seen.models],
            "not_checked": {
                "columns": [n for n in order.released_names if n not in order.class_names],
                "why": "a count of classes does not show what other columns give away, and there "
                "is no hash of the rows",
            },
            "holds": not problems,
            "problems": problems,
        },
    )


def _refuse_another(found: Source, names: Sequence[str]) -> None:
    """Refuses rows without the columns of the verification query."""
    held = {info.name for info in found.columns}
    missing = [repr(name) for name in names if name not in held]
    if missing:
        raise EngineError(
            f"{found.name} is not the answer to the query that `sqlanon sql --part verify` prints: "
            f"it has no column {' or '.join(missing)}; run that query in the database of the "
            "release, and keep the names of its columns"
        )


def _of_no_group(rows: Source, order: Order) -> int:
    """How many released rows have a value of no group in a column of labels."""
    texts = [item.name for item in order.generalized if is_text(item, order)]
    if not texts:
        return 0
    label = exp.Literal.string(NOT_IN_SCHEME)
    found = [exp.EQ(this=exp.column(name, quoted=True), expression=label) for name in texts]
    number = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(rows.relation.copy())
    return int(rows.engine.fetch(number.where(exp.or_(*found)))["n"][0].as_py())


def _invented(found: Source, read: Source, order: Order) -> Iterator[str]:
    """The columns of an answer with values that are no labels of the scheme.

    Texts are compared as they were `read`, other values as they were `found`.
    """
    texts = [item.name for item in order.generalized if is_text(item, order)]
    for each in released(order):
        is_label = each.name in texts
        values, rows = _held(read if is_label else found, each.name)
        labels = {_comparable(value) for value in (*each.values, NOT_IN_SCHEME)}
        wrong = [
            n for value, n in zip(values, rows, strict=True) if _comparable(value) not in labels
        ]
        if wrong:
            yield (
                f"column {each.name!r} holds {counted(len(wrong), 'value')} in "
                f"{counted(sum(wrong), 'row')} that no group of the scheme has"
            )


def _held(answer: Source, name: str) -> tuple[list[Any], list[int]]:
    """The values of a column of an answer, each with its rows in the release."""
    value = exp.column(name, quoted=True)
    rows = exp.cast(exp.Sum(this=exp.column(ROWS, quoted=True)), "bigint")
    held = exp.select(value.as_("v", quoted=True), rows.as_("n", quoted=True))
    found = answer.engine.fetch(held.from_(answer.relation.copy()).group_by(value.copy()))
    return found["v"].to_pylist(), found["n"].to_pylist()


def _comparable(value: object) -> object:
    """Equal for equal values of a label and an answer, whose types a file may have changed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else Decimal(repr(value))
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime(value.year, value.month, value.day)
    return value


def _sha256(path: Path) -> dict[str, str]:
    """The answer as a file, so that it can be found again."""
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
