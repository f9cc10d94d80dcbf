"""What is wrong with columns that would be released as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlglot import exp

from sqlanon.engines import ColumnInfo, Engine
from sqlanon.errors import CheckError
from sqlanon.model import Kind, counted
from sqlanon.render import render
from sqlanon.verify.patterns import PATTERNS, Pattern
from sqlanon.verify.values import column, compared, described, people, person

LEAST_ENTRIES = 20
"""In fewer, nearly every column has mostly different values by chance."""

FREE_TEXT_LENGTH = 30
FREE_TEXT_BLANKS = 2
FREE_TEXT_DISTINCT = 0.1

STRICT_SHARE, STRICT_ENTRIES = 0.01, 10
LOOSE_SHARE = 0.1


class FindingKind(StrEnum):
    """What makes a column unfit for release as it is."""

    NEAR_UNIQUE = "near-unique"
    FREE_TEXT = "free-text"
    CONTACT = "contact"
    LINKABLE = "linkable"


@dataclass(frozen=True)
class Finding:
    """One reason not to release a column as it is; the message holds counts, never values."""

    column: str
    kind: FindingKind
    message: str

    def to_dict(self) -> dict[str, str]:
        return {"kind": str(self.kind), "message": self.message}

    def refusal(self, *, is_pseudonym: bool) -> str:
        """Why a release with this column is refused, and what to do."""
        otherwise = "drop or generalize it"
        if is_pseudonym:
            otherwise = "remove it with the role identifying"
        return f'{self.message}; add `accept: "reason"` to columns.{self.column}, or {otherwise}'


def column_findings(
    engine: Engine,
    relation: exp.Expr,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    pseudonyms: Mapping[str, bool] | None = None,
) -> dict[str, list[Finding]]:
    """What is wrong with each column, by name; columns without a finding are left out.

    Entries are the rows with a value. With a `subject` column they are the pairs of person and
    value, because a person's ten rows with one value tell no more than one.

    near-unique  There are at least 20 entries, and more distinct values than half of them: on
                 average fewer than two entries share a value. This covers columns where most
                 values occur once, and those where they come in pairs. Of any type.
    free-text    A text column with an average of at least 30 characters, at least two blanks in
                 at least half of the entries, and many distinct values: at least 20, and one for
                 every ten entries. So long names of few categories are no free text.
    contact      Values of a text column look like e-mail or web addresses: 1 % of the entries
                 or ten of them, because one is a person already; or at least 10 % look like
                 telephone, IBAN or card numbers or IP addresses, forms that a code of some
                 other kind may have now and then.

    `pseudonyms` are columns of keyed hashes, with whether they are the same in every release.
    Such a column tells nothing by its values, only which rows belong together. With keys that
    are new in this release it is free of findings if no two rows share a value, and otherwise
    near-unique by the rule above. The same in every release it links them however often a
    value occurs, and where it is not near-unique it is linkable.
    """
    found = {}
    whose = None if subject is None else _person(engine, relation, subject)
    for info in described(engine, relation, columns):
        stable = (pseudonyms or {}).get(info.name)
        if stable is None:
            findings = _findings(engine, relation, info, whose)
        else:
            findings = _pseudonym_findings(engine, relation, info, whose, stable)
        if findings:
            found[info.name] = findings
    return found


def rows_unique_over(
    engine: Engine, relation: exp.Expr, columns: Sequence[str], *, subject: str | None = None
) -> int:
    """Rows whose combination of values occurs once; with a subject, that only one person has."""
    if not columns:
        raise CheckError("name at least one column over which rows are to be unique")
    infos = described(engine, relation, columns)
    query = render(
        "verify/unique_rows.sql",
        dialect=engine.dialect,
        source=relation,
        values=[compared(info, engine.dialect) for info in infos],
        one_person=_one_person(None if subject is None else _person(engine, relation, subject)),
    )
    return int(engine.fetch(query).to_pylist()[0]["n_rows"])


@dataclass(frozen=True)
class ColumnGroups:
    """The values that a column, or a pair of bounds, has in a table.

    `largest` is the share of the rows that have the most frequent one.
    """

    groups: int
    largest: float


def column_groups(engine: Engine, relation: exp.Expr, columns: Sequence[str]) -> ColumnGroups:
    """How many different values a column has, and how many rows share the most frequent one.

    Several columns count as one, by their combinations.
    """
    query = render(
        "verify/column_groups.sql",
        dialect=engine.dialect,
        source=relation,
        values=[compared(info, engine.dialect) for info in described(engine, relation, columns)],
    )
    (row,) = engine.fetch(query).to_pylist()
    return ColumnGroups(int(row["n_groups"]), int(row["n_largest"]) / max(int(row["n_rows"]), 1))


def _one_person(subject: exp.Expr | None) -> exp.Expr:
    """Whether a group of rows is of one person; cheaper than counting distinct subjects."""
    if subject is None:
        return exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    return exp.EQ(this=exp.Min(this=subject), expression=exp.Max(this=subject.copy()))


def _person(engine: Engine, relation: exp.Expr, name: str) -> exp.Expr:
    (info,) = described(engine, relation, [name])
    return person(info)


def _pseudonym_findings(
    engine: Engine, relation: exp.Expr, info: ColumnInfo, subject: exp.Expr | None, stable: bool
) -> list[Finding]:
    rows = _counts(engine, relation, info, None)
    alone = rows["n_values"] == rows["n_entries"]
    if alone and not stable:
        return []
    counts = rows if subject is None else _counts(engine, relation, info, subject)
    near_unique = _near_unique(info.name, counts, subject is not None) is not None
    if not near_unique and not (stable and rows["n_entries"]):
        return []
    links = [] if alone else ["shows which rows belong to the same person"]
    links += ["links this release with others, row by row"] if stable else []
    return [
        Finding(
            info.name,
            FindingKind.NEAR_UNIQUE if near_unique else FindingKind.LINKABLE,
            f"the pseudonym {info.name!r} {' and '.join(links)}: "
            f"{counted(rows['n_values'], 'distinct value')} in {counted(rows['n_entries'], 'row')}",
        )
    ]


def _counts(
    engine: Engine,
    relation: exp.Expr,
    info: ColumnInfo,
    subject: exp.Expr | None,
    characters: exp.Expr | None = None,
    conditions: Sequence[exp.Expr] = (),
) -> dict[str, Any]:
    """Values and entries of one column, and how many entries meet each condition."""
    query = render(
        "verify/values.sql",
        dialect=engine.dialect,
        source=relation,
        value=compared(info, engine.dialect),
        column=column(info.name),
        people=people(subject),
        characters=characters,
        conditions=list(conditions),
    )
    (counts,) = engine.fetch(query).to_pylist()
    return dict(counts)


def _findings(
    engine: Engine, relation: exp.Expr, info: ColumnInfo, subject: exp.Expr | None
) -> list[Finding]:
    is_text = info.kind is Kind.TEXT
    value = column("v")
    conditions = [_has_blanks(value), *(p.condition(value) for p in PATTERNS)] if is_text else []
    characters = exp.Length(this=value) if is_text else None
    counts = _counts(engine, relation, info, subject, characters, conditions)
    unit = "rows" if subject is None else "pairs of person and value"
    judged = [_near_unique(info.name, counts, subject is not None)]
    if is_text:
        judged.append(_free_text(info.name, counts, unit))
        judged += [
            _contact(info.name, pattern, counts[f"c{i + 1}"], counts["n_entries"], unit)
            for i, pattern in enumerate(PATTERNS)
        ]
    return [finding for finding in judged if finding is not None]


def _has_blanks(value: exp.Expr) -> exp.Expr:
    blank, nothing = exp.Literal.string(" "), exp.Literal.string("")
    without = exp.Anonymous(this="REPLACE", expressions=[value, blank, nothing])
    blanks = exp.Sub(this=exp.Length(this=value.copy()), expression=exp.Length(this=without))
    return exp.GTE(this=blanks, expression=exp.convert(FREE_TEXT_BLANKS))


def _near_unique(name: str, counts: dict[str, Any], by_people: bool) -> Finding | None:
    values, entries, alone = counts["n_values"], counts["n_entries"], counts["n_alone"]
    if entries < LEAST_ENTRIES or 2 * values <= entries:
        return None
    shared = "belong to one person only" if by_people else "occur once"
    unit = "pairs of person and value" if by_people else "rows"
    return Finding(
        name,
        FindingKind.NEAR_UNIQUE,
        f"column {name!r} is nearly unique: {values:,} distinct values in {entries:,} {unit}, "
        f"{alone:,} of them {shared}",
    )


def _free_text(name: str, counts: dict[str, Any], unit: str) -> Finding | None:
    values, entries = counts["n_values"], counts["n_entries"]
    characters, with_blanks = counts["n_characters"], counts["c0"]
    many = values >= LEAST_ENTRIES and values >= FREE_TEXT_DISTINCT * entries
    if not many or characters < FREE_TEXT_LENGTH * entries or 2 * with_blanks < entries:
        return None
    return Finding(
        name,
        FindingKind.FREE_TEXT,
        f"column {name!r} looks like free text: {values:,} distinct values in {entries:,} {unit}, "
        f"{characters / entries:.0f} characters on average",
    )


def _contact(name: str, pattern: Pattern, found: int, entries: int, unit: str) -> Finding | None:
    least = STRICT_SHARE if pattern.strict else LOOSE_SHARE
    enough = pattern.strict and found >= STRICT_ENTRIES
    if not found or (found < least * entries and not enough):
        return None
    return Finding(
        name,
        FindingKind.CONTACT,
        f"column {name!r} holds what looks like {pattern.name}: {found:,} of {entries:,} {unit} "
        f"({found / entries:.1%})",
    )
