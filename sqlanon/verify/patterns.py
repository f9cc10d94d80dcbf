"""What e-mail addresses, telephone numbers and the like look like, as conditions in SQL.

The regular expressions use what all engines understand alike: no backslash, no look-around,
no named classes. Each one is tested against a value without its outer blanks.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


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
