"""Privacy models in a certificate: their words, what is shared, and that they are held together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from certified import Stated, certificate_of, clinic, hospital, suppression

from sqlanon.audit.audit_result import AuditedModel
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.certificate import Certificate, Document
from sqlanon.release.certificate_comparison import differences

EVERY: list[tuple[Model, float, str]] = [
    (
        DistinctDiversity("ward", 2),
        3,
        "Every group has at least 2 different values of ward; the fewest are 3.",
    ),
    (
        EntropyDiversity("ward", 1.5),
        1.75,
        "The values of ward are as mixed in every group as 1.5 equally frequent ones or more, by "
        "their entropy; the least is 1.75.",
    ),
    (
        RecursiveDiversity("ward", 4, 3),
        2.5,
        "In every group the most frequent value of ward occurs less than 4 times as often as "
        "those from number 3 on together; the most is 2.5 times.",
    ),
    (
        AlphaAnonymity("ward", 0.8),
        0.75,
        "In no group do more than 80 % of the people share one value of ward; the most are 75 %.",
    ),
    (
        Closeness("ward", 0.3, Distance.ORDERED),
        0.25,
        "The values of ward are distributed in every group as in the whole source, up to a "
        "distance of 0.3 (ordered distance)",
    ),
    (
        BetaLikeness("ward", 1),
        0.5,
        "No group makes a value of ward likelier than in the whole source by more than 1 times "
        "its share there",
    ),
    (
        DeltaDisclosure("ward", 1),
        0.5,
        "Every value of ward occurs in every group, with a share that differs from that in the "
        "whole source by a factor below e to the power of 1",
    ),
]


def with_model(model: Model, value: float, facts: Stated | None = None) -> Stated:
    facts = facts or hospital()
    reached = (AuditedModel(model, value, 0, 0, 0),)
    return replace(facts, audit=replace(facts.audit, models=reached))


def inference(facts: Stated) -> str:
    words = certificate_of(facts).to_dict()["words"]["protection"]
    (found,) = (each["protects"] for each in words if each["against"] == "Inference")
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(("model", "value", "words"), EVERY, ids=lambda v: type(v).__name__)
def test_every_model_in_words(model: Model, value: float, words: str) -> None:
    """Two rows are left out, so what is compared with the source has no number."""
    facts = with_model(model, value)
    assert inference(facts) == words if words.endswith(".") else f"{words}."
    (stated,) = certificate_of(facts).document.privacy.models
    assert stated.model() == model


@pytest.mark.parametrize(("model", "value", "words"), EVERY[4:], ids=lambda v: type(v).__name__)
def test_the_number_is_told_where_no_row_is_left_out(
    model: Model, value: float, words: str
) -> None:
    facts = with_model(model, value)
    whole = replace(facts, source_rows=48, suppression=suppression(48))
    said = inference(whole)
    assert said.startswith(f"{words}; ")
    assert f"{value:g}" in said.removeprefix(words)


def test_the_words_of_several() -> None:
    words = certificate_of(clinic()).to_dict(shareable=True)["words"]
    assert (
        "Beyond that the policy requires of every group: distinct l = 2 on 'ward' (reached: 2); "
        "t = 0.3 (equal distance) on 'ward'; k-map k = 6 (reached: 6). Counted anew on the "
        "release, all of them hold."
    ) in words["summary"]
    assert "too few people share their values, or a group of them does not" in words["summary"]
    _, linkage, inferred = words["protection"]
    assert linkage["protects"].endswith(
        "In the given population at least 6 people fit every group: whoever does not know who is "
        "in the release finds the right person with a probability of at most 16.7 %. Of its 700 "
        "people an estimated 3.5 are alone with their values (Zayatz)."
    )
    assert (
        "No model limits what groups have in common in disease; accepted: everybody here has the "
        "flu"
    ) in inferred["remains"]


def test_the_page_shows_them() -> None:
    inside, outside = (certificate_of(clinic()).to_html(form) for form in (False, True))
    for page in (inside, outside):
        assert "Required of every group beyond k" in page
        assert "Journalist risk" in page
        assert "Population uniques" in page
        assert "everybody here has the flu" in page
    assert ">0.25<" in inside
    assert ">0.25<" not in outside
    assert ">holds<" in outside
    assert "t (equal) 0.25" in inside
    assert "t (equal)" not in outside


def test_a_table_as_certified() -> None:
    facts = clinic()
    certificate = certificate_of(facts)
    shared = Document.model_validate(certificate.to_dict(shareable=True), strict=False)
    for each in (certificate, Certificate(shared)):
        assert differences(each, facts.audit, facts.table_hash, each.columns) == []
