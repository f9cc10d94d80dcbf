"""Searches for cut trees: multidimensional recoding, for one k or several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from sqlanon.counting import DEFAULT_PREFERENCE, sensitive_hierarchies
from sqlanon.domain import Recoding, Scheme
from sqlanon.errors import ArgumentError
from sqlanon.evaluate import Effort
from sqlanon.measuring import Measurer
from sqlanon.metrics import further
from sqlanon.release import refuse_with_tree
from sqlanon.search import SearchResult, TreeSettings, Watch, cut_tree, together, uncut
from sqlanon.searching import NO_PRIVACY, alphabetical


def refuse_method(own: str, method: str | None) -> None:
    """Refuses what chooses between searches for one partition per column."""
    if method not in (None, own):
        raise ArgumentError(
            f"`method` is {method!r}, but the policy says recoding: multidimensional, which has "
            "one search; leave it out, or say recoding: global"
        )


def search_trees(
    measurer: Measurer,
    wanted: Sequence[int],
    seed: int,
    watch: Watch,
    settings: TreeSettings,
) -> SearchResult:
    """The best tree that was found for every k; `wanted` is ascending."""
    refuse_with_tree(measurer.policy)
    found = []
    for k in wanted:
        watch.begin_again()
        found.append(_search_for(measurer, k, seed, watch, settings))
    return together(found, measurer.required_k) if len(found) > 1 else found[0]


def _search_for(
    measurer: Measurer, k: int, seed: int, watch: Watch, settings: TreeSettings
) -> SearchResult:
    begun, policy = time.perf_counter(), measurer.policy
    loss = policy.section.search.loss or "nwp"
    watch.start()
    scheme, queries = cut_tree(
        measurer.histogram,
        k,
        measurer.models,
        sensitive_hierarchies(policy, measurer.source),
        watch,
        labels=policy.section.search.labels,
        effort=settings.effort,
        by_weight=loss != "glm",
        workers=measurer.workers,
    )
    own = None if k == measurer.required_k else k
    preference = measurer.preference or DEFAULT_PREFERENCE
    solution = measurer.measured_tree(replace(scheme, required_k=own), preference)
    # As other searches, it shows only those further measures that it was asked for.
    unasked = {*further()} - {loss, preference.loss_by, preference.bias_by}
    scores = {name: value for name, value in solution.scores.items() if name not in unasked}
    solution = replace(solution, scores=scores)
    notes = list(measurer.cautions)
    notes += [NO_PRIVACY] if policy.section.privacy is None else []
    notes += alphabetical(measurer.space.columns)
    notes += _about_minimality(measurer, scheme, k)
    chosen = None if solution.feasible is False else 0
    return SearchResult(
        method=str(Recoding.MULTIDIMENSIONAL),
        objectives=(loss, "k"),
        seed=seed,
        solutions=(solution,),
        chosen=chosen,
        evaluations=asdict(Effort(asked=1, distinct=1, queries=queries)),
        seconds=time.perf_counter() - begun,
        stopped=watch.stopped,
        notes=tuple(notes),
        policy=policy.fingerprint,
        source=measurer.account_of_source(),
        required_k=k,
        choices={k: chosen},
        required=tuple(model.describe() for model in measurer.models),
        unreachable=measurer.unreachable if chosen is None else (),
        policy_parts=policy.parts,
    )


def _about_minimality(measurer: Measurer, scheme: Scheme, k: int) -> list[str]:
    """What the regions that stayed whole say."""
    assert scheme.tree is not None
    labels = measurer.policy.section.search.labels
    found = uncut(measurer.histogram, scheme.tree, labels, k)
    if found is None or not found.large:
        return []
    said = (
        f"{found.large:,} of {found.regions:,} regions have {2 * k:,} people or more and stay whole"
    )
    if measurer.models:
        said += (
            f"; {found.by_k:,} of them would be cut if k = {k} alone were required, which says "
            "something about the sensitive values in them"
        )
    return [said]
