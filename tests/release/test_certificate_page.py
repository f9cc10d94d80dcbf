"""The page: what it says, and that it needs nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from certified import Stated, census, certificate_of, clinic, column, generalized, hospital

from sqlanon.release.certificate import Treatment, listed
from sqlanon.wording import percent

PAGES = pytest.mark.parametrize(
    ("facts", "shareable"),
    [(facts, form) for facts in (census(), hospital(), clinic()) for form in (False, True)],
    ids=[
        f"{name}{form}" for name in ("census", "hospital", "clinic") for form in ("", "-shareable")
    ],
)
VOID = {"meta", "rect"}


class Checked(HTMLParser):
    """Fails on tags that do not match, and keeps the tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


@PAGES
def test_the_page_is_well_formed_and_needs_nothing_else(facts: Stated, shareable: bool) -> None:
    page = certificate_of(facts).to_html(shareable)
    found = Checked(page)
    assert not {"script", "link", "img", "iframe", "object"} & found.tags
    assert not {"src", "href", "xlink:href", "onclick", "onload"} & {n for n, _ in found.attributes}
    assert not re.search(r"https?:|url\(|@import|javascript:", page)
    assert "svg" in found.tags
    assert "prefers-color-scheme: dark" in page
    assert "size: A4" in page


@PAGES
def test_every_page_says(facts: Stated, shareable: bool) -> None:
    text = Checked(certificate_of(facts).to_html(shareable)).text
    for words in ("Singling out", "Linkage", "Inference", "not legal advice", facts.table_hash):
        assert words in text
    assert "sqlanon check RELEASE --certificate FILE" in text
    assert "anonymous under" not in text
    assert ("not to be passed on" in text) is not shareable


def test_the_first_sentence() -> None:
    words = certificate_of(census()).to_dict()["words"]["summary"]
    assert words == (
        "Every row of this release shares its combination of age, workclass, education, "
        "marital-status and sex with at least 4 other people. The policy requires 5 or more "
        "people in every such group; the smallest has 5. The columns occupation, race and "
        "native-country are hidden completely. 30,154 of 30,162 rows are released. 8 rows were "
        "left out (0.03 %): too few people share their values."
    )


def test_several_rows_a_person() -> None:
    words = certificate_of(hospital()).to_dict()["words"]["summary"]
    assert "with rows of at least 3 other people." in words


def test_what_remains() -> None:
    words = certificate_of(hospital()).to_dict()["words"]["protection"]
    out, linkage, inference = (" ".join(each["remains"]) for each in words)
    assert "The columns disease and ward are released unchanged" in out
    assert "The column ward is nearly unique: few rows share a value." in out
    assert "50 % or more of the rows are unique" in out
    assert "The column patient_id has the same pseudonyms in every release" in linkage
    assert "released 2 times before, last on 1 October 2026" in linkage
    assert "is a view and changes with its source" in linkage
    assert "Every read is a release of its own" in linkage
    assert "can subtract one from the other" in linkage
    assert "disease: in at least one group everyone has the same value" in inference
    assert "ward: in the worst group 75 % of the people share one value" in inference
    assert "Every group has at least 2 different values" in inference
    assert words[2]["protects"].startswith("Nothing is promised")


def test_nothing_is_claimed_that_was_not_measured() -> None:
    words = certificate_of(census()).to_dict()["words"]["protection"]
    assert (
        "No released column is declared sensitive, so this was not measured."
        in (words[2]["remains"])
    )
    assert "What groups have in common in salary-class was not measured." in words[2]["remains"]
    linkage = " ".join(words[1]["remains"])
    assert "No earlier release into the same target is known." in linkage
    assert "Every read" not in linkage, "a table does not change"


def test_without_privacy_nothing_is_promised() -> None:
    facts = census()
    alone = replace(facts.audit.by_rows.sizes[0], size=1, rows=1)
    sizes = (alone, *facts.audit.by_rows.sizes[1:])
    spread = replace(facts.audit.by_rows, sizes=sizes)
    facts = replace(facts, required_k=1, audit=replace(facts.audit, by_rows=spread))
    document = certificate_of(facts).to_dict()
    assert document["words"]["summary"].startswith("Some rows of this release are the only ones")
    assert "requires one person in every such group" in document["words"]["summary"]
    for each in document["words"]["protection"]:
        assert each["protects"].startswith("Nothing is promised")


def test_everything_hidden() -> None:
    facts = census()
    columns = tuple(generalized(name, ("*",), 9, 1.0) for name in facts.audit.quasi)
    certificate = certificate_of(replace(facts, columns=columns))
    assert certificate.to_dict()["words"]["summary"].startswith(
        "All rows of this release look alike in every column that others may know."
    )
    Checked(certificate.to_html())


@pytest.mark.parametrize("shareable", [False, True])
def test_names_are_escaped(shareable: bool) -> None:
    facts = census()
    evil = "<script>alert('x')</script>"
    more = column(evil, evil, Treatment.VERBATIM, (evil,), accepted=evil)
    page = certificate_of(
        replace(
            facts,
            release=evil,
            source=evil,
            sql=evil,
            warnings=(evil,),
            versions={evil: evil},
            columns=(*facts.columns, more),
        )
    ).to_html(shareable)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_warning_that_repeats_a_finding_stands_for_it() -> None:
    facts = hospital()
    message = facts.findings[0].message
    page = certificate_of(replace(facts, warnings=(f"{message}; accepted: few wards",))).to_html()
    assert Checked(page).text.count(message) == 1


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.00004, "under 0.01 %"),
        (0.0003, "0.03 %"),
        (0.2, "20 %"),
        (0.123456, "12.3 %"),
        (0.99995, "over 99.99 %"),
        (1, "100 %"),
    ],
)
def test_shares_in_words(share: float, text: str) -> None:
    assert percent(share) == text


def test_lists_in_words() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([str(i) for i in range(12)]).endswith("10 and 11")
    assert listed([str(i) for i in range(13)]).endswith("9, 10 and 2 more columns")
