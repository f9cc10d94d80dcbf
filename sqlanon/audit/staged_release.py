"""The last word before a release: the staged table, counted anew."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sqlanon.audit.audit_result import Audit, KAnonymity, Requirement, Satisfies
from sqlanon.audit.auditor import Population, Reference, audit, people_of
from sqlanon.audit.cells import column, compared, exact, fetch_row, people, person
from sqlanon.audit.column_findings import (
    Finding,
    HeldValues,
    column_findings,
    held_values,
    rows_unique_over_each,
)
from sqlanon.audit.table_hash import hashed_rows
from sqlanon.domain import Hierarchy, Value
from sqlanon.engines import ColumnInfo, Engine, Source
from sqlanon.errors import CheckError, HierarchyError, SubjectError
from sqlanon.privacy import Model
from sqlanon.wording import counted


@dataclass(frozen=True)
class Expected:
    """What a staged table must be.

    columns         the released columns, exactly these in this order
    k               people that every class must have at least
    quasi           by released column the values it may hold, None for NULL; None instead of a
                    set where the values cannot be listed
    source_rows     rows of the source
    most_left_out   rows of the source that may be missing or marked
    marker          what every quasi-identifier of a suppressed row holds, where such rows are
                    marked
    subject         the private column of the staged table that says whose a row is; without
                    one, every row is a person
    verbatim        the columns that are released as they are, sensitive ones too, with the
                    reason why that is accepted or None. A column that is neither here nor in
                    `quasi` counts as verbatim without a reason
    pseudonyms      those of them that hold pseudonyms, with whether these are the same in every
                    release
    keys            by column of pseudonyms the key that made them, which none of them may show
    named_by        the one of these columns that stands for the subject
    sensitive       the sensitive columns
    models          what every class must satisfy beside k
    hierarchies     by sensitive column, for the models that need one
    reference       by sensitive column, what the whole source holds; a column without one is
                    compared with the staged table as a whole
    population      for k-map: a population generalized by the same SQL
    uncovered_sensitive  sensitive columns that no model covers; each is a problem unless there
                    is a reason in
    homogeneity     why such columns are accepted
    pairs           quasi-identifiers that are the two bounds of one column
    label           the column that is released to be predicted
    as_texts        whether the release will hold the texts of the values, whose hash is another
    """

    columns: tuple[str, ...]
    k: int
    quasi: Mapping[str, frozenset[Value | None] | None]
    source_rows: int
    most_left_out: int
    subject: str | None = None
    verbatim: Mapping[str, str | None] = field(default_factory=dict)
    pseudonyms: Mapping[str, bool] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    named_by: str | None = None
    sensitive: tuple[str, ...] = ()
    marker: str | None = None
    models: tuple[Model, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    reference: Mapping[str, Reference] = field(default_factory=dict)
    population: Population | None = None
    uncovered_sensitive: tuple[str, ...] = ()
    homogeneity: str | None = None
    pairs: tuple[tuple[str, ...], ...] = ()
    label: str | None = None
    as_texts: bool = False


@dataclass(frozen=True)
class Marked:
    """The class of rows that were suppressed by marking them, in rows and in people."""

    rows: int = 0
    people: int = 0


@dataclass(frozen=True, repr=False)
class Facts:
    """The counts of a staged table, which may be released only without problems.

    audit        None if it failed; then a problem says why
    left_out     rows of the source that are not in the table
    marked       rows with a marker in every quasi-identifier
    held         by quasi-identifier, or pair of bounds, its values with their rows
    of_majority  rows that have the most frequent label of their class; None without a label
    hash         of the rows as released; "" if their texts will be released instead
    findings     the findings by verbatim column, accepted or not
    unique_rows  rows whose combination over all released columns no other row or person has
    """

    audit: Audit | None
    left_out: int
    findings: Mapping[str, tuple[Finding, ...]]
    unique_rows: int
    warnings: tuple[str, ...]
    problems: tuple[str, ...]
    marked: Marked = Marked()
    held: Mapping[tuple[str, ...], HeldValues] = field(default_factory=dict, repr=False)
    of_majority: int | None = None
    hash: str = ""

    def __repr__(self) -> str:
        found = counted(len(self.problems), "problem")
        return f"<Facts: {self.audit!r}, {self.left_out:,} rows left out, {found}>"

    @property
    def audited(self) -> Audit:
        """The audit of a table that has no problems."""
        assert self.audit is not None
        return self.audit

    @property
    def holds(self) -> bool:
        return not self.problems

    @property
    def rows_repeat(self) -> bool:
        """Whether most rows are equal to another one, so that equal ones are hashed once."""
        return 2 * self.unique_rows < self.audited.rows


MOSTLY = 0.5
"""From this share of unique rows on, the columns that make them unique are named."""
MOST_NAMED = 3
MOST_ROWS_COMPARED = 1_000_000
"""Of more rows they are not: that takes a query per column."""


def verify_release(staged: Source, expected: Expected) -> Facts:
    """Checks a staged table against its requirements and reports every problem.

    Messages name columns and counts, never values: a value that is not allowed may be a private
    one of the source.
    """
    return _Verifier(staged, expected).verify()


class _Verifier:
    def __init__(self, staged: Source, expected: Expected) -> None:
        self.source = staged
        self.expected = expected
        self.present = {info.name: info for info in self.source.columns}
        self.released = [name for name in expected.columns if name in self.present]
        self.subject = expected.subject if expected.subject in self.present else None
        self.is_marked = self._marking()
        self.marked = self._count_marked()
        self.warnings: list[str] = []
        self.problems: list[str] = []

    def verify(self) -> Facts:
        audited, not_held = self._audited()
        rows = people_of(self.source, None) if audited is None else audited.rows
        self._check_columns()
        left_out = self._check_rows(rows)
        self.problems += not_held
        held = self._check_values()
        self._check_uncovered()
        self._check_pseudonyms()
        findings = self._check_verbatim()
        unique, hashed = self._count_unique(rows)
        return Facts(
            audited,
            left_out,
            findings,
            unique,
            tuple(self.warnings),
            tuple(self.problems),
            self.marked,
            held,
            None if audited is None else self._of_majority(),
            hashed,
        )

    def _check_columns(self) -> None:
        wanted, subject = self.expected.columns, self.expected.subject
        found = [info.name for info in self.source.columns if info.name != subject]
        if missing := [name for name in wanted if name not in found]:
            self.problems.append(f"the staged table lacks {_listed(missing)}")
        if further := [name for name in found if name not in wanted]:
            self.problems.append(f"the staged table has {_listed(further)}, not to be released")
        if not missing and not further and found != list(wanted):
            self.problems.append(
                f"the staged table has its columns in another order: {_listed(found)} instead of "
                f"{_listed(wanted)}"
            )
        if subject is not None and subject not in self.present:
            self.problems.append(f"the staged table lacks its private column {subject!r}")
        if subject is not None and subject in wanted:
            self.problems.append(f"column {subject!r} names the subject and would be released")
        if unknown := [name for name in self.expected.quasi if name not in wanted]:
            self.problems.append(f"quasi-identifiers are not among the columns: {_listed(unknown)}")

    def _check_rows(self, rows: int) -> int:
        source, most = self.expected.source_rows, self.expected.most_left_out
        left_out = source - rows
        if not rows:
            self.problems.append("the staged table is empty; there is nothing to release")
        if left_out < 0:
            self.problems.append(
                f"the staged table has {counted(rows, 'row')}, {-left_out:,} more than the "
                "source has"
            )
        marked = self.marked.rows
        if left_out + marked > most:
            how = f"{left_out:,} are left out" + f" and {marked:,} marked" * bool(marked)
            self.problems.append(
                f"the staged table has {rows:,} of {counted(source, 'row')}: {how}, at most "
                f"{most:,} may be"
            )
        return left_out

    def _marking(self) -> exp.Expr | None:
        """Whether a row has the marker in every quasi-identifier that may hold anything else."""
        marker = self.expected.marker
        telling = [
            compared(self.present[name])
            for name, allowed in self.expected.quasi.items()
            if name in self.present and (allowed is None or allowed != {marker})
        ]
        if marker is None or not telling:
            return None
        found = exp.Literal.string(marker)
        same = [exp.NullSafeEQ(this=each, expression=found.copy()) for each in telling]
        return exp.and_(*same)

    def _count_marked(self) -> Marked:
        if self.is_marked is None:
            return Marked()
        subject = None if self.subject is None else person(self.present[self.subject])
        found = self._fetch("marked.sql", people=people(subject), is_marked=self.is_marked)
        return Marked(found["n_rows"], found["n_people"])

    def _audited(self) -> tuple[Audit | None, list[str]]:
        """The classes, and what is required of them and does not hold."""
        expected = self.expected
        needed = [*expected.quasi, *([expected.subject] if expected.subject is not None else [])]
        if any(name not in self.present for name in needed):
            return None, ["k cannot be counted: columns that it needs are missing"]
        models, problems = self._countable_models()
        try:
            audited = audit(
                self.source,
                list(expected.quasi),
                subject=expected.subject,
                sensitive=[name for name in expected.sensitive if name in self.present],
                models=models,
                hierarchies=expected.hierarchies,
                reference=expected.reference,
                population=expected.population,
            )
        except (CheckError, HierarchyError, SubjectError) as error:
            return None, [*problems, f"k cannot be counted: {error}"]
        required: list[Requirement] = [KAnonymity(expected.k), *map(Satisfies, models)]
        if audited.rows:
            failed = [each for each in required if not each.holds(audited)]
            problems += [each.violation(audited) for each in failed]
            problems += self._explained(audited)
        return audited, problems

    def _explained(self, audited: Audit) -> Iterator[str]:
        """Why a k-map cannot hold where rows are marked, which its figures alone do not tell."""
        marked = self.marked.rows
        for model in self.expected.models if marked else ():
            if model.needs_population and not audited.reached(model).holds:
                yield (
                    f"{counted(marked, 'row')} would be marked, and nobody of the population fits "
                    f"the marker: `suppression.rows: mark` does not go with {model.describe()} "
                    "where rows have to be marked. Leave them out with `suppression.rows: "
                    "leave_out`, or take a coarser scheme, which marks none"
                )

    def _countable_models(self) -> tuple[list[Model], list[str]]:
        """The models whose columns are there; a model of a missing one is a problem."""
        found, problems = [], []
        for model in self.expected.models:
            if model.column is None or model.column in self.present:
                found.append(model)
            else:
                problems.append(
                    f"{model.describe()} cannot be counted: the staged table lacks the column"
                )
        return found, problems

    def _of_majority(self) -> int | None:
        """Marked rows are in no class, so they have no majority."""
        if self.expected.label is None or self.expected.label not in self.present:
            return None
        found = self._fetch(
            "majority.sql",
            quasi={f"q{j}": compared(self.present[n]) for j, n in enumerate(self.expected.quasi)},
            label=compared(self.present[self.expected.label]),
            is_marked=self.is_marked,
        )
        return int(found["n_rows"])

    def _check_uncovered(self) -> None:
        """A class may share one disease; that is released only where someone says why."""
        reason = (self.expected.homogeneity or "").strip()
        for name in self.expected.uncovered_sensitive:
            if reason:
                self.warnings.append(
                    f"no privacy model covers the sensitive column {name!r}; accepted: {reason}"
                )
            else:
                self.problems.append(
                    f"no privacy model covers the sensitive column {name!r}, so all people of a "
                    "class may share one value; add a model such as `l_diversity` to privacy, or "
                    '`homogeneity: {accept: "reason"}`'
                )

    def _check_values(self) -> dict[tuple[str, ...], HeldValues]:
        """The values of every quasi-identifier, which must be labels of the scheme."""
        pairs = self.expected.pairs
        alone = [(n,) for n in self.expected.quasi if not any(n in pair for pair in pairs)]
        found = {}
        for names in (*pairs, *alone):
            if all(name in self.present for name in names):
                found[names] = held_values(self.source, names, self.is_marked)
                for place, name in enumerate(names):
                    self._check_labels(name, found[names], place)
        return found

    def _check_labels(self, name: str, held: HeldValues, place: int) -> None:
        allowed = self.expected.quasi[name]
        if allowed is None:
            return
        keys = {_key(each) for each in allowed}
        rows = Counter[Hashable]()
        for values, n in zip(held.values, held.rows, strict=True):
            rows[_key(values[place])] += n
        others = [n for value, n in rows.items() if value not in keys]
        if others:
            self.problems.append(
                f"column {name!r} holds {counted(len(others), 'value')} in "
                f"{counted(sum(others), 'row')} that no group of the scheme has"
            )

    def _check_pseudonyms(self) -> None:
        subject = None if self.subject is None else self.present[self.subject]
        for name, key in self.expected.keys.items():
            if name in self.present:
                behind = subject if name == self.expected.named_by else None
                self.problems += pseudonym_problems(
                    self.source.engine, self.source.relation, self.present[name], key, behind
                )

    def _check_verbatim(self) -> dict[str, tuple[Finding, ...]]:
        reasons = {
            name: self.expected.verbatim.get(name)
            for name in self.released
            if name in self.expected.verbatim or name not in self.expected.quasi
        }
        found = column_findings(
            self.source,
            list(reasons),
            subject=self.subject,
            pseudonyms=self.expected.pseudonyms,
        )
        for name, findings in found.items():
            reason = (reasons[name] or "").strip()
            for finding in findings:
                if reason:
                    self.warnings.append(f"{finding.message}; accepted: {reason}")
                else:
                    is_pseudonym = name in self.expected.pseudonyms
                    self.problems.append(finding.refusal(is_pseudonym=is_pseudonym))
        return {name: tuple(findings) for name, findings in found.items()}

    def _count_unique(self, rows: int) -> tuple[int, str]:
        """The rows that are unique, and the hash of all of them, if that is the release's."""
        if not self.released:
            return 0, ""
        if self.expected.as_texts:
            (unique,), hashed = self._unique_over([self.released]), ""
        else:
            found = hashed_rows(self.source, self.released, subject=self.subject)
            unique, hashed = found.unique, found.hash
        if unique:
            whose = "no other row" if self.subject is None else "no other person"
            self.warnings.append(
                f"{unique:,} of {counted(rows, 'row')} ({unique / rows:.1%}) have a combination "
                f"of all released columns that {whose} has{self._responsible(unique, rows)}"
            )
        return unique, hashed

    def _responsible(self, unique: int, rows: int) -> str:
        """Names the columns without which far fewer rows would be unique.

        If several columns each distinguish all rows, leaving out one changes nothing: then all
        of these are named.
        """
        names = self.released
        if unique / rows < MOSTLY or rows > MOST_ROWS_COMPARED or len(names) < 2:
            return ""
        others = [[other for other in names if other != name] for name in names]
        without = dict(zip(names, self._unique_over(others), strict=True))
        fewest = min(without.values())
        if fewest < unique:
            # Those that change as much as the one that changes most, or half of it.
            named = [name for name, n in without.items() if unique - n >= (unique - fewest) / 2]
            named.sort(key=without.__getitem__)
            shares = [f"{name!r} {without[name] / rows:.1%}" for name in named[:MOST_NAMED]]
            return f"; without {', without '.join(shares)}"
        by_name = zip(names, self._unique_over([[name] for name in names]), strict=True)
        alone = [name for name, n in by_name if n >= unique / 2]
        return f"; {_listed(alone[:MOST_NAMED])} alone would do that" if alone else ""

    def _unique_over(self, lists: Sequence[Sequence[str]]) -> list[int]:
        return rows_unique_over_each(self.source, lists, subject=self.subject)

    def _fetch(self, template: str, **context: object) -> dict[str, Any]:
        return fetch_row(self.source.engine, self.source.relation, template, **context)


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "no columns"


def _key(value: object) -> Hashable:
    """Equal for equal values: Python has True == 1 and NaN != NaN."""
    if isinstance(value, float) and math.isnan(value):
        return ("nan",)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return ("date", value)
    assert isinstance(value, Hashable)
    return ("value", value)


DIGITS = 32
"""Hexadecimal digits of a pseudonym; 128 bits of a hash."""

_HEX = "0123456789abcdef"
_PIECE = 16
"""Characters of a key that a pseudonym holds by chance once in 2 ** 64 times."""


def pseudonym_problems(
    engine: Engine, relation: exp.Expr, info: ColumnInfo, key: str, subject: ColumnInfo | None
) -> Iterator[str]:
    """What is wrong with a column of pseudonyms; messages hold counts, never values.

    Every pseudonym has 32 hexadecimal digits and holds no piece of the key. `subject` is the
    column of the values behind the pseudonyms, where the table has it: then every row has a
    pseudonym, each value one of its own. Without it, NULL stays NULL.
    """
    value: exp.Expr = exp.null()
    if subject is not None:
        # The text that was hashed: a person's texts may differ in case, or 0.0 be -0.0.
        value = exact(exp.cast(column(subject.name), "text"))
    found = fetch_row(
        engine,
        relation,
        "pseudonyms.sql",
        pseudonym=column(info.name),
        value=value,
        value_known=subject is not None,
        is_formed=_is_formed(exp.cast(column("p"), "text")),
        column=column(info.name),
    )
    name = info.name
    if found["n_other"]:
        yield (
            f"the pseudonym {name!r} is not {DIGITS} hexadecimal digits in "
            f"{counted(found['n_other'], 'row')}"
        )
    elif rows := _with_key(engine, relation, name, key):
        yield f"the pseudonym {name!r} holds a part of its key in {counted(rows, 'row')}"
    if subject is not None and not (found["n_pseudonyms"] == found["n_values"] == found["n_pairs"]):
        yield (
            f"the pseudonym {name!r} does not tell people apart one by one: "
            f"{counted(found['n_pseudonyms'], 'pseudonym')} for "
            f"{counted(found['n_values'], 'value')}, in {counted(found['n_pairs'], 'pair')}"
        )


def _is_formed(value: exp.Expr) -> exp.Expr:
    """Whether a text is a pseudonym; neither true nor false for NULL."""
    others = exp.Anonymous(
        this="TRANSLATE",
        expressions=[value, exp.Literal.string(_HEX), exp.Literal.string("")],
    )
    return exp.and_(
        exp.EQ(this=exp.Length(this=value.copy()), expression=exp.convert(DIGITS)),
        exp.EQ(this=others, expression=exp.Literal.string("")),
    )


def _with_key(engine: Engine, relation: exp.Expr, name: str, key: str) -> int:
    """Rows with a piece of the key in a pseudonym, which holds hexadecimal digits only."""
    runs = re.findall(f"[{_HEX}]{{{_PIECE},}}", key)
    pieces = {run[at : at + _PIECE] for run in runs for at in range(len(run) - _PIECE + 1)}
    if not pieces:
        return 0
    names = {f"piece_{place}": piece for place, piece in enumerate(sorted(pieces))}
    held = [
        exp.GT(
            this=exp.StrPosition(this=column(name), substr=exp.Placeholder(this=each)),
            expression=exp.Literal.number(0),
        )
        for each in names
    ]
    found = fetch_row(engine, relation, "pieces_of_keys.sql", names, holds_piece=exp.or_(*held))
    return int(found["n_rows"])
