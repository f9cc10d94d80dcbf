"""The last word before a release: the staged table, counted anew."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engines import Engine, Source
from sqlanon.errors import CheckError, HierarchyError, SubjectError
from sqlanon.model import Value, counted
from sqlanon.privacy import KMap, Model
from sqlanon.render import render
from sqlanon.verify.audit import audit
from sqlanon.verify.audited import Audit
from sqlanon.verify.columns import Finding, column_findings, rows_unique_over
from sqlanon.verify.expected import Expected, Verification
from sqlanon.verify.population import Population
from sqlanon.verify.pseudonyms import pseudonym_problems
from sqlanon.verify.requirements import KAnonymity, Requirement, Satisfies
from sqlanon.verify.values import compared

MOSTLY = 0.5
"""From this share of unique rows on, the columns that make them unique are named."""
MOST_NAMED = 3
MOST_ROWS_COMPARED = 1_000_000
"""Of more rows they are not: that takes a query per column."""


def verify_release(engine: Engine, staged: exp.Expr, expected: Expected) -> Verification:
    """Checks a staged table against what it must be; every problem is reported.

    A message names columns and counts, never values: a value that is not allowed may be one of
    the source that nobody was to see.
    """
    return _Verifier(engine, staged, expected).verify()


class _Verifier:
    def __init__(self, engine: Engine, staged: exp.Expr, expected: Expected) -> None:
        self.source = Source(engine, staged, "the staged table", engine.columns(staged))
        self.expected = expected
        self.present = {info.name: info for info in self.source.columns}
        self.released = [name for name in expected.columns if name in self.present]
        self.warnings: list[str] = []
        self.problems: list[str] = []

    def verify(self) -> Verification:
        count = exp.select(exp.Count(this=exp.Star()).as_("n_rows"))
        rows = self._fetch(count.from_(self.source.relation))[0]["n_rows"]
        self._check_columns()
        left_out = self._check_rows(rows)
        audited = self._check_k()
        for name, allowed in self.expected.quasi.items():
            if allowed is not None and name in self.present:
                self._check_values(name, allowed)
        self._check_uncovered()
        self._check_pseudonyms()
        findings = self._check_verbatim()
        unique = self._count_unique(rows)
        return Verification(
            audited, left_out, findings, unique, tuple(self.warnings), tuple(self.problems)
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
        marked = self._count_marked()
        if left_out + marked > most:
            how = f"{left_out:,} are left out" + f" and {marked:,} marked" * bool(marked)
            self.problems.append(
                f"the staged table has {rows:,} of {counted(source, 'row')}: {how}, at most "
                f"{most:,} may be"
            )
        return left_out

    def _count_marked(self) -> int:
        """Rows with the marker in every quasi-identifier that may hold anything else."""
        marker = self.expected.marker
        telling = [
            compared(self.present[name], self.source.engine.dialect)
            for name, allowed in self.expected.quasi.items()
            if name in self.present and (allowed is None or allowed != {marker})
        ]
        if marker is None or not telling:
            return 0
        same = [exp.EQ(this=each, expression=exp.Literal.string(marker)) for each in telling]
        count = exp.select(exp.Count(this=exp.Star()).as_("n_rows"))
        marked = count.from_(self.source.relation).where(*same)
        return int(self._fetch(marked)[0]["n_rows"])

    def _check_k(self) -> Audit | None:
        expected = self.expected
        needed = [*expected.quasi, *([expected.subject] if expected.subject is not None else [])]
        if any(name not in self.present for name in needed):
            self.problems.append("k cannot be counted: columns that it speaks of are missing")
            return None
        models = self._countable_models()
        try:
            audited = audit(
                self.source,
                list(expected.quasi),
                subject=expected.subject,
                sensitive=[name for name in expected.sensitive if name in self.present],
                models=models,
                hierarchies=expected.hierarchies,
                reference=expected.reference,
                population=self._population(),
            )
        except (CheckError, HierarchyError, SubjectError) as error:
            self.problems.append(f"k cannot be counted: {error}")
            return None
        required: list[Requirement] = [KAnonymity(expected.k), *map(Satisfies, models)]
        if audited.rows:
            failed = [each for each in required if not each.holds(audited)]
            self.problems += [each.violation(audited) for each in failed]
            self.problems += self._explained(audited)
        return audited

    def _explained(self, audited: Audit) -> Iterator[str]:
        """Why a k-map cannot hold where rows are marked, which its figures alone do not tell."""
        marked = self._count_marked()
        for model in self.expected.models if marked else ():
            if isinstance(model, KMap) and not audited.reached(model).holds:
                yield (
                    f"{counted(marked, 'row')} would be marked, and nobody of the population fits "
                    f"the marker: `suppression.rows: mark` does not go with {model.describe()} "
                    "where rows have to be marked. Leave them out with `suppression.rows: "
                    "leave_out`, or take a coarser scheme, which marks none"
                )

    def _countable_models(self) -> list[Model]:
        """The models whose columns are there; a model of a missing one is a problem."""
        found = []
        for model in self.expected.models:
            if model.column is None or model.column in self.present:
                found.append(model)
            else:
                self.problems.append(
                    f"{model.describe()} cannot be counted: the staged table lacks the column"
                )
        return found

    def _population(self) -> Population | None:
        found = self.expected.population
        if found is None:
            return None
        if not isinstance(found, Source):
            engine = self.source.engine
            found = Source(engine, found, "the population", engine.columns(found))
        return Population(found, self.expected.population_subject, self.expected.whole_population)

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

    def _check_values(self, name: str, allowed: frozenset[Value | None]) -> None:
        value = compared(self.present[name], self.source.engine.dialect)
        query = render(
            "verify/held_values.sql",
            dialect=self.source.engine.dialect,
            source=self.source.relation,
            value=value,
        )
        keys = {_key(each) for each in allowed}
        others = [each["n_rows"] for each in self._fetch(query) if _key(each["v"]) not in keys]
        if others:
            self.problems.append(
                f"column {name!r} holds {counted(len(others), 'value')} in "
                f"{counted(sum(others), 'row')} that no group of the scheme has"
            )

    def _check_pseudonyms(self) -> None:
        subject = self.present.get(self.expected.subject or "")
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
        subject = self.expected.subject if self.expected.subject in self.present else None
        found = column_findings(
            self.source.engine,
            self.source.relation,
            list(reasons),
            subject=subject,
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

    def _count_unique(self, rows: int) -> int:
        if not self.released:
            return 0
        subject = self.expected.subject if self.expected.subject in self.present else None
        unique = self._unique_over(self.released)
        if unique:
            whose = "no other row" if subject is None else "no other person"
            self.warnings.append(
                f"{unique:,} of {counted(rows, 'row')} ({unique / rows:.1%}) have a combination "
                f"of all released columns that {whose} has{self._responsible(unique, rows)}"
            )
        return unique

    def _responsible(self, unique: int, rows: int) -> str:
        """The columns without which far fewer rows would be unique, in words.

        Of several columns that each tell all rows apart, none is missed: then these are named.
        """
        if unique / rows < MOSTLY or rows > MOST_ROWS_COMPARED or len(self.released) < 2:
            return ""
        without = {
            name: self._unique_over([other for other in self.released if other != name])
            for name in self.released
        }
        fewest = min(without.values())
        if fewest < unique:
            # Those that change as much as the one that changes most, or half of it.
            named = [name for name, n in without.items() if unique - n >= (unique - fewest) / 2]
            named.sort(key=without.__getitem__)
            shares = [f"{name!r} {without[name] / rows:.1%}" for name in named[:MOST_NAMED]]
            return f"; without {', without '.join(shares)}"
        alone = [name for name in self.released if self._unique_over([name]) >= unique / 2]
        return f"; {_listed(alone[:MOST_NAMED])} alone would do that" if alone else ""

    def _unique_over(self, columns: Sequence[str]) -> int:
        subject = self.expected.subject if self.expected.subject in self.present else None
        return rows_unique_over(self.source.engine, self.source.relation, columns, subject=subject)

    def _fetch(self, query: exp.Expr | str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.source.engine.fetch(query).to_pylist()
        return rows


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
