"""What e-mail addresses, telephone numbers and the like look like, as conditions in SQL.

The regular expressions use what all engines understand alike: no backslash, no look-around,
no named classes. Each one is tested against a value without its outer blanks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlglot import exp

from sqlanon.audit.cells import column, compared, described, fetch, one_person, people, person
from sqlanon.engines import ColumnInfo, Kind, Source
from sqlanon.errors import CheckError
from sqlanon.wording import counted


@dataclass(frozen=True)
class Pattern:
    """A form that values of a column may have.

    name     for messages: "look like …"
    forms    a value has the form if one of these matches
    but      … unless one of these does
    strict   whether next to nothing else has this form, so that few values are enough
    """

    name: str
    forms: tuple[str, ...]
    but: tuple[str, ...] = ()
    strict: bool = False

    def condition(self, value: exp.Expr) -> exp.Expr:
        """Whether a value has the form."""
        text = exp.Trim(this=value)
        found = exp.or_(*(_matches(text, form) for form in self.forms))
        if not self.but:
            return found
        return exp.and_(found, exp.not_(exp.or_(*(_matches(text, form) for form in self.but))))


def _matches(text: exp.Expr, form: str) -> exp.Expr:
    return exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(form))


_BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_GAPS = "[ ()./-]*"

# 01.02.2020, 1/2/20, 2020-02-01, with a time or without: digits in groups, but no telephone.
_DATE = "^([0-9]{1,2}[./ -][0-9]{1,2}[./ -][0-9]{2,4}|[0-9]{4}[./ -][0-9]{1,2}[./ -][0-9]{1,2})"
_DECIMAL = "^[+-]?[0-9]+[.,][0-9]+$"

PATTERNS = (
    Pattern(
        "e-mail addresses",
        ("[^@ ]+@[^@ ]+[.][A-Za-z]{2,}",),
        strict=True,
    ),
    Pattern(
        "web addresses",
        ("(https?|ftp|HTTPS?|FTP)://[^ ]+", "^(www|WWW)[.][^ ]+[.][A-Za-z]{2,}"),
        strict=True,
    ),
    Pattern(
        # Written the way people write them: with a +, with a leading 0 and gaps, or 3-3-4.
        # Digits alone are not taken for a telephone number: an amount, a code or a post code
        # looks the same, and a column of such numbers is near-unique if it identifies.
        "telephone numbers",
        (
            f"^[+][1-9]({_GAPS}[0-9]){{7,14}}$",
            f"^[(]?0[1-9][0-9]{{0,5}}[ ()./-]({_GAPS}[0-9]){{5,12}}$",
            "^([+]?1[ .-])?([(][2-9][0-9]{2}[)] ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}$",
        ),
        (f"{_DATE}($|[ T][0-9]{{1,2}}:)", _DECIMAL),
    ),
    Pattern(
        "bank account numbers (IBAN)",
        (
            "^[A-Z]{2}[0-9]{2}(( ?[A-Z0-9]{4}){2} ?[A-Z0-9]{3}"
            "|( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?)$",
        ),
    ),
    Pattern(
        "card numbers",
        (
            "^[3-6][0-9]{3}([ -]?)[0-9]{4}([ -]?)[0-9]{4}([ -]?)[0-9]{4}$",
            "^3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}$",
        ),
    ),
    Pattern(
        "IP addresses",
        (
            f"^({_BYTE}[.]){{3}}{_BYTE}(/[0-9]{{1,2}}|:[0-9]{{1,5}})?$",
            "^([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(/[0-9]{1,3})?$",
            "^([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?::"
            "([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?(/[0-9]{1,3})?$",
        ),
    ),
)


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

    def refusal(self, *, is_pseudonym: bool) -> str:
        """Why a release with this column is refused, and what to do."""
        otherwise = "drop or generalize it"
        if is_pseudonym:
            otherwise = "remove it with the role identifying"
        return f'{self.message}; add `accept: "reason"` to columns.{self.column}, or {otherwise}'


def column_findings(
    source: Source,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    pseudonyms: Mapping[str, bool] | None = None,
) -> dict[str, list[Finding]]:
    """The findings by column name; columns without a finding are left out.

    Entries are the rows with a value. With a `subject` column they are the pairs of person and
    value, because a person's ten rows with one value reveal no more than one.

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
    The values of such a column reveal only which rows belong together. With new keys it has no
    finding if no two rows share a value; otherwise the rule for near-unique applies. With the
    same keys in every release it links them, however often a value occurs: if it is not
    near-unique, it is linkable.
    """
    infos = described(source, columns)
    if not infos:
        return {}
    whose = None if subject is None else _person(source, subject)
    stable = {info.name: (pseudonyms or {}).get(info.name) for info in infos}
    counted_as = dict(zip(stable, _counts(source, infos, whose), strict=True))
    rows = counted_as
    if whose is not None:  # whether two rows share a pseudonym is counted in rows
        hashed = [info for info in infos if stable[info.name] is not None]
        rows = {
            info.name: each
            for info, each in zip(hashed, _counts(source, hashed, None), strict=True)
        }
    found = {}
    for info in infos:
        counts = counted_as[info.name]
        is_stable = stable[info.name]
        if is_stable is None:
            findings = _findings(info, counts, whose is not None)
        else:
            findings = _pseudonym_findings(
                info.name, counts, rows[info.name], whose is not None, is_stable
            )
        if findings:
            found[info.name] = findings
    return found


def rows_unique_over(source: Source, columns: Sequence[str], *, subject: str | None = None) -> int:
    """Rows whose combination of values occurs once; with a subject, that only one person has."""
    return rows_unique_over_each(source, [columns], subject=subject)[0]


MOST_AT_ONCE = 8
"""Lists of columns that one query looks at: each takes a GROUP BY over the whole table."""


def rows_unique_over_each(
    source: Source, lists: Sequence[Sequence[str]], *, subject: str | None = None
) -> list[int]:
    """The same for several lists of columns."""
    if not all(lists):
        raise CheckError("name at least one column over which rows are to be unique")
    found: list[int] = []
    for start in range(0, len(lists), MOST_AT_ONCE):
        answer = fetch(
            source.engine,
            source.relation,
            "unique_rows.sql",
            lists=[_cells("q", source, names) for names in lists[start : start + MOST_AT_ONCE]],
            one_person=one_person(None if subject is None else _person(source, subject)),
        )
        found += map(int, answer.sort_by("place")["n_rows"].to_pylist())
    return found


@dataclass(frozen=True)
class ColumnGroups:
    """The values that a column, or a pair of bounds, has in a table.

    `largest` is the share of the rows that have the most frequent one.
    """

    groups: int
    largest: float


@dataclass(frozen=True)
class HeldValues:
    """The values of a column, or of a pair of bounds, with their rows and those that are marked."""

    values: tuple[tuple[Any, ...], ...]
    rows: tuple[int, ...]
    marked: tuple[int, ...]

    @property
    def groups(self) -> ColumnGroups:
        """All of them, a marker being a value like any other."""
        return ColumnGroups(len(self.rows), max(self.rows, default=0) / max(sum(self.rows), 1))

    @property
    def unmarked(self) -> dict[tuple[Any, ...], int]:
        """Rows that are not marked, by value; all NaN are one."""
        kept = [n - marked for n, marked in zip(self.rows, self.marked, strict=True)]
        return {
            tuple(math.nan if isinstance(v, float) and math.isnan(v) else v for v in value): n
            for value, n in zip(self.values, kept, strict=True)
            if n
        }


def held_values(
    source: Source, columns: Sequence[str], is_marked: exp.Expr | None = None
) -> HeldValues:
    """The different values of a column; several columns count as one, by their combinations.

    `is_marked` tells a row that was suppressed by marking it.
    """
    answer = fetch(
        source.engine,
        source.relation,
        "held_values.sql",
        values=_cells("v", source, columns),
        n_marked=exp.convert(0) if is_marked is None else _number_of(is_marked, exp.convert(1)),
    )
    *values, rows, marked = (each.to_pylist() for each in answer.columns)
    return HeldValues(tuple(zip(*values, strict=True)), tuple(rows), tuple(marked))


def _cells(letter: str, source: Source, names: Sequence[str]) -> dict[str, exp.Expr]:
    """Columns of a table as a template compares them, numbered behind a letter."""
    return {f"{letter}{j}": compared(info) for j, info in enumerate(described(source, names))}


def _number_of(condition: exp.Expr, number: exp.Expr) -> exp.Expr:
    """The sum of a number over the rows that meet a condition."""
    met = exp.Case(ifs=[exp.If(this=condition, true=number)], default=exp.convert(0))
    return _sum(met)


def _sum(number: exp.Expr) -> exp.Expr:
    """A sum in 64 bits, 0 without rows."""
    total = exp.Coalesce(this=exp.Sum(this=number), expressions=[exp.convert(0)])
    return exp.cast(total, "bigint")


def _person(source: Source, name: str) -> exp.Expr:
    (info,) = described(source, [name])
    return person(info)


def _pseudonym_findings(
    name: str, counts: dict[str, Any], rows: dict[str, Any], by_people: bool, stable: bool
) -> list[Finding]:
    alone = rows["n_values"] == rows["n_entries"]
    if alone and not stable:
        return []
    near_unique = _near_unique(name, counts, by_people) is not None
    if not near_unique and not (stable and rows["n_entries"]):
        return []
    links = [] if alone else ["shows which rows belong to the same person"]
    links += ["links this release with others, row by row"] if stable else []
    return [
        Finding(
            name,
            FindingKind.NEAR_UNIQUE if near_unique else FindingKind.LINKABLE,
            f"the pseudonym {name!r} {' and '.join(links)}: "
            f"{counted(rows['n_values'], 'distinct value')} in {counted(rows['n_entries'], 'row')}",
        )
    ]


def _counts(
    source: Source, infos: Sequence[ColumnInfo], subject: exp.Expr | None
) -> list[dict[str, Any]]:
    """By column its values and entries, and of texts how many entries meet each condition."""
    if not infos:
        return []
    texts = _counted_in_texts()
    nothing: dict[str, exp.Expr] = dict.fromkeys(texts, exp.convert(0))
    if not any(info.kind is Kind.TEXT for info in infos):
        nothing = {CHARACTERS: exp.convert(0)}
    answer = fetch(
        source.engine,
        source.relation,
        "values.sql",
        profiled=[
            {
                "value": compared(info),
                "column": column(info.name),
                "texts": texts if info.kind is Kind.TEXT else nothing,
            }
            for info in infos
        ],
        people=people(subject),
    )
    return sorted(answer.to_pylist(), key=lambda each: int(each["place"]))


CHARACTERS = "n_characters"


def _counted_in_texts() -> dict[str, exp.Expr]:
    """The characters of all entries of a column, and the entries that meet each condition."""
    value, entries = column("v"), column("n")
    characters = exp.Mul(this=entries, expression=exp.Length(this=value))
    conditions = [_has_blanks(value), *(pattern.condition(value) for pattern in PATTERNS)]
    met = {f"c{j}": _number_of(each, entries) for j, each in enumerate(conditions)}
    return {CHARACTERS: _sum(characters)} | met


def _findings(info: ColumnInfo, counts: dict[str, Any], by_people: bool) -> list[Finding]:
    unit = "pairs of person and value" if by_people else "rows"
    found = [_near_unique(info.name, counts, by_people)]
    if info.kind is Kind.TEXT:
        found.append(_free_text(info.name, counts, unit))
        found += [
            _contact(info.name, pattern, counts[f"c{i + 1}"], counts["n_entries"], unit)
            for i, pattern in enumerate(PATTERNS)
        ]
    return [finding for finding in found if finding is not None]


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
