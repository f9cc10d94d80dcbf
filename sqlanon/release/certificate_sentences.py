"""A certificate in sentences, for readers who do not know the figures' names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.domain import Mode, Recoding
from sqlanon.release.certificate import (
    ColumnEntry,
    Document,
    ProtectionEntry,
    SensitiveEntry,
    Treatment,
    WordsEntry,
    day,
    groups_in,
    listed,
)
from sqlanon.search import LITTLE_IS_KEPT
from sqlanon.wording import counted, figure, percent


def beyond_k(document: Document) -> Iterator[str]:
    """What the policy requires beyond k, and what the recount of the release found."""
    models = document.privacy.models
    if not models:
        return
    told = [
        model.required
        + (f" (reached: {figure(model.reached)})" if model.reached is not None else "")
        for model in models
    ]
    holds = "it holds" if len(models) == 1 else "all of them hold"
    yield (
        f"Beyond that the policy requires of every group: {'; '.join(told)}. Counted anew on the "
        f"release, {holds}."
    )


def inference_promises(document: Document) -> Iterator[str]:
    """What every group satisfies about sensitive columns, a sentence a model."""
    for each in document.privacy.models:
        if promise := each.model().promise(each.reached):
            yield promise


def population_promise(document: Document) -> Iterator[str]:
    """What is known from a population: candidates outside the release count too."""
    found = document.privacy.journalist
    if found is None:
        return
    if found.unmatched:
        groups = "group" if found.unmatched == 1 else "groups"
        yield f"Nobody of the given population fits {found.unmatched:,} {groups} of this release."
    people = "person" if found.k_map == 1 else "people"
    if found.k_map:
        yield (
            f"In the given population at least {found.k_map:,} {people} fit every group: whoever "
            "does not know who is in the release finds the right person with a probability of at "
            f"most {percent(found.highest)}."
        )
    if found.estimated_uniques is not None and found.population is not None:
        yield (
            f"Of its {found.population:,} people an estimated {figure(found.estimated_uniques)} "
            "are alone with their values (Zayatz)."
        )


NOTICE = (
    "This certificate states what was counted in the released table. It is not legal advice, "
    "and it does not say whether the data are anonymous in the sense of any law: that also "
    "depends on who receives them, and on what else they know and can get."
)

FINDINGS = {
    "near-unique": "is nearly unique: few rows share a value",
    "free-text": "looks like free text, which may name people",
    "contact": "holds what looks like addresses or numbers of people",
    "linkable": "holds pseudonyms that are the same in other releases, which can be joined by them",
}


def words_of(document: Document) -> WordsEntry:
    """The sentences of a certificate."""
    return WordsEntry(
        summary=" ".join(_summary(document)),
        protection=(_singling_out(document), _linkage(document), _inference(document)),
        notice=NOTICE,
    )


def visible(document: Document) -> list[str]:
    """The released quasi-identifiers that tell anything: those with more than one group."""
    return [
        name
        for column in _with(document, Treatment.GENERALIZED)
        if groups_in(column) > 1
        for name in column.released_as
    ]


def hidden(document: Document) -> list[str]:
    """The quasi-identifiers with the same value in every row."""
    return [c.name for c in _with(document, Treatment.GENERALIZED) if groups_in(c) <= 1]


def _with(document: Document, treatment: Treatment) -> list[ColumnEntry]:
    return [column for column in document.columns if column.treatment is treatment]


def _names(document: Document, treatment: Treatment) -> list[str]:
    return [column.name for column in _with(document, treatment)]


def _columns(names: Sequence[str]) -> str:
    return f"The column{'s' * (len(names) > 1)} {listed(names)}"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _summary(document: Document) -> Iterator[str]:
    privacy, shown, gone = document.privacy, visible(document), hidden(document)
    others = "1 other person" if privacy.k == 2 else f"{privacy.k - 1:,} other people"
    others = f"{'rows of ' if privacy.subject is not None else ''}at least {others}"
    if not shown:
        yield "All rows of this release look alike in every column that others may know."
    elif privacy.k > 1:
        yield f"Every row of this release shares its combination of {listed(shown)} with {others}."
    else:
        yield (
            f"Some rows of this release are the only ones with their combination of "
            f"{listed(shown)}."
        )
    required, own = privacy.required_k, ""
    if privacy.policy_k is not None:
        required, own = privacy.policy_k, f", and this release {privacy.required_k:,}"
    people = f"{required:,} or more people" if required > 1 else "one person"
    yield f"The policy requires {people} in every such group{own}; the smallest has {privacy.k:,}."
    yield from beyond_k(document)
    if gone and shown:
        yield f"{_columns(gone)} {_are(gone)} hidden completely."
    yield from _little_kept(document)
    yield from _rows(document)


def _little_kept(document: Document) -> Iterator[str]:
    """Columns that are not hidden, and have most rows in one group all the same."""
    little = [
        f"{column.name} ({percent(column.largest_share)})"
        for column in _with(document, Treatment.GENERALIZED)
        if groups_in(column) > 1
        and column.largest_share is not None
        and column.largest_share > LITTLE_IS_KEPT
    ]
    if little:
        yield f"Most rows are in one group of {listed(little)}, so there little is left."


def _rows(document: Document) -> Iterator[str]:
    source, suppression = document.source.rows, document.suppression
    released = document.release.rows
    if released == source:
        yield "The only row is released." if source == 1 else f"All {source:,} rows are released."
    else:
        yield f"{released:,} of {source:,} rows are released."
    if suppression.rows:
        share = percent(suppression.rows / source)
        were = "row was" if suppression.rows == 1 else "rows were"
        became = "hidden in all these columns" if suppression.marked else "left out"
        why = "too few people share their values"
        if document.privacy.models:
            why += ", or a group of them does not satisfy what is required"
        yield f"{suppression.rows:,} {were} {became} ({share}): {why}."
    if suppression.unseen:
        were = "row was" if suppression.unseen == 1 else "rows were"
        yield (
            f"{suppression.unseen:,} {were} left out because of values that the generalization "
            "does not know."
        )


def _singling_out(document: Document) -> ProtectionEntry:
    privacy, shown = document.privacy, visible(document)
    if privacy.k > 1 and shown:
        protects = (
            f"Whoever knows {listed(shown)} of a person finds at least {privacy.k:,} people who "
            f"look the same, and points to the right one with a probability of at most "
            f"{percent(privacy.risk.highest)}."
        )
    elif shown:
        protects = f"Nothing is promised: some people are alone with their {listed(shown)}."
    else:
        protects = "The columns that others may know tell nobody apart."
    return ProtectionEntry(
        against="Singling out",
        protects=protects,
        remains=tuple(_known_besides(document)),
    )


def _known_besides(document: Document) -> Iterator[str]:
    verbatim = _names(document, Treatment.VERBATIM)
    if verbatim:
        those = "it" if len(verbatim) == 1 else "them"
        yield (
            f"{_columns(verbatim)} {_are(verbatim)} released unchanged and counted as unknown to "
            f"others. Whoever does know {those} can narrow a group down further."
        )
    if document.privacy.unique != "none":
        share = document.privacy.unique
        yield (
            f"Over all released columns together, {share} of the rows are unique: whoever knows "
            "all of these columns of such a person finds the row."
        )
    if document.scheme.accept is not None:
        yield (
            "The labels run from the lowest to the highest value of their group, and these are "
            f"values of single people; accepted: {document.scheme.accept}"
        )
    if document.scheme.recoding is not Recoding.GLOBAL:
        yield (
            "Groups are cut as far as the requirements allow, which says something about the "
            "people in those that were not cut further (Cohen 2022, downcoding)."
        )
    for finding in document.findings:
        words = FINDINGS.get(finding.kind, f"was found to be {finding.kind}")
        yield f"The column {finding.column} {words}."
    yield "The figures hold for someone who knows these columns, and nothing else, of a person."


def _linkage(document: Document) -> ProtectionEntry:
    privacy = document.privacy
    if privacy.k > 1:
        protects = (
            "Another table with these columns can be matched with this one group by group only: "
            f"every person in it meets at least {privacy.k:,} candidates, or none."
        )
    else:
        protects = "Nothing is promised: some rows can be matched one to one."
    protects = " ".join([protects, *population_promise(document)])
    remains = tuple(_linked_by(document))
    return ProtectionEntry(against="Linkage", protects=protects, remains=remains)


def _linked_by(document: Document) -> Iterator[str]:
    pseudonyms = _with(document, Treatment.PSEUDONYM)
    stable = [column.name for column in pseudonyms if column.stable]
    if stable:
        yield (
            f"{_columns(stable)} {'has' if len(stable) == 1 else 'have'} the same pseudonyms in "
            "every release: a person can be followed from one to the next, and what is learned "
            "once holds for all of them."
        )
    if pseudonyms:
        yield (
            f"Rows with the same pseudonym in {listed([c.name for c in pseudonyms])} belong "
            "together, and together they tell more than one of them does."
        )
    elif document.privacy.subject is not None:
        yield "A person may have several rows; what they tell together was not counted."
    earlier = document.lineage.earlier
    if earlier:
        times = len(earlier)
        yield (
            f"The same target was released {'once' if times == 1 else f'{times:,} times'} "
            f"before, last on {day(earlier[0].time)}. Whoever has an earlier release can "
            "compare: groups that overlap may leave fewer than "
            f"{counted(document.privacy.k, 'person')}."
        )
    else:
        yield (
            "No earlier release into the same target is known. Releases of the same people "
            "elsewhere were not considered."
        )
    if document.release.mode is Mode.VIEW:
        yield (
            "The release is a view and changes with its source; the figures speak of the moment "
            "of publication. Every read is a release of its own: whoever reads it before and "
            "after a change of the source can subtract one from the other, and what remains may "
            "be a single person."
        )


def _inference(document: Document) -> ProtectionEntry:
    protects = " ".join(inference_promises(document)) or (
        "Nothing is promised: k counts the people in a group, not what the group has in "
        "common. Learning something about a person does not need their row."
    )
    remains = tuple(_inferred(document))
    return ProtectionEntry(against="Inference", protects=protects, remains=remains)


def _inferred(document: Document) -> Iterator[str]:
    measured = [worst.column for worst in document.privacy.sensitive]
    for worst in document.privacy.sensitive:
        yield _worst(worst)
    accepted = document.privacy.homogeneity
    if accepted is not None:
        yield (
            f"No model limits what groups have in common in {listed(accepted.columns)}; accepted: "
            f"{accepted.accept}"
        )
    if any(model.column is not None for model in document.privacy.models):
        yield (
            "The models bound what a group tells of one column at a time, to someone who knows "
            "nothing else about its people."
        )
    others = [n for n in _names(document, Treatment.VERBATIM) if n not in measured]
    if not measured:
        yield "No released column is declared sensitive, so this was not measured."
    if others:
        yield f"What groups have in common in {listed(others)} was not measured."


def _worst(worst: SensitiveEntry) -> str:
    if worst.largest_share >= 1:
        return (
            f"{worst.column}: in at least one group everyone has the same value. Whoever knows "
            "that a person is in that group knows the value."
        )
    return (
        f"{worst.column}: in the worst group {percent(worst.largest_share)} of the people share "
        "one value, so a guess is right that often. Every group has at least "
        f"{worst.fewest_values:,} different values."
    )
