"""Solutions for every k, each scored with the rows left out for its own k; brute force tells."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from search_table import write_search_folder

import sqlanon
from sqlanon.errors import ArgumentError, SchemeError, VerificationError

ROWS = [
    *("bpw", "aqu", "bpv", "bpw", "cqv", "arv", "cpw", "bqu"),
    *("cqu", "aqv", "brv", "bpv", "bqu", "aqu", "cqv", "aqu"),
]
"""16 people: the letters are x, y and z, of three values each."""
LIMIT = 4
PARTITIONS = (("abc",), ("a", "bc"), ("ab", "c"), ("a", "b", "c"))
ORDERS = ("abc", "pqr", "uvw")


def write(folder: Path, search: dict[str, Any], **keys: Any) -> Path:
    (folder / "xyz.csv").write_text("x,y,z\n" + "".join(f"{','.join(r)}\n" for r in ROWS))
    columns = {name: {"role": "quasi"} for name in "xyz"}
    table: dict[str, Any] = {"source": {"file": "xyz.csv"}, "columns": columns}
    limit = {"privacy": {"k": 2}, "suppression": {"limit": LIMIT / len(ROWS)}}
    publish = {"publish": {"file": "released.csv"}}
    return write_search_folder(folder, search, **(table | limit | publish | keys))


def schemes(*, levels: bool) -> Iterator[tuple[dict[str, str], ...]]:
    """Every scheme: by column the group of every letter."""
    for chosen in product(PARTITIONS, repeat=3):
        if levels and not all(len(groups) in (1, 3) for groups in chosen):
            continue
        found = []
        for order, groups in zip(ORDERS, chosen, strict=True):
            renamed = [g.translate(str.maketrans("abc", order)) for g in groups]
            found.append({letter: group for group in renamed for letter in group})
        yield tuple(found)


def scored(scheme: tuple[dict[str, str], ...], k: int) -> tuple[int, float, float, int] | None:
    """k, the cells lost, NECD and the rows left out, if classes below k fit into the limit."""
    sizes = Counter(tuple(g[c] for g, c in zip(scheme, row, strict=True)) for row in ROWS)
    out = sum(n for n in sizes.values() if n < k)
    left = {groups: n for groups, n in sizes.items() if n >= k}
    if out > LIMIT or not left:
        return None
    lost = sum(n * sum(len(g) - 1 for g in groups) / 2 for groups, n in left.items())
    spread = (max(left.values()) - min(left.values())) / (len(ROWS) - 1)
    return min(left.values()), lost + out * 3, spread, out


def ach(lost: float, necd: float) -> float:
    """The achievement function for NWP 0.2 and NECD 1, from its definition."""
    loss, bias = 1 / (0.2 + 1e-6), 1 / (1 + 1e-6)
    w = loss / (loss + bias)
    return max(w * (lost / 48 + 1e-6), (1 - w) * (necd + 1e-6))


def best_for_every_k(*, levels: bool, by_ach: bool) -> list[tuple[int, float]]:
    """The front of k and least loss over all schemes and all k, by descending k."""
    points = set()
    for scheme in schemes(levels=levels):
        for k in range(1, len(ROWS) + 1):
            found = scored(scheme, k)
            if found is not None:
                reached, lost, necd, _ = found
                points.add((reached, round(ach(lost, necd) if by_ach else lost, 9)))
    front: list[tuple[int, float]] = []
    for k, loss in sorted(points, key=lambda point: (-point[0], point[1])):
        if not front or loss < front[-1][1]:
            front.append((k, loss))
    return front


@pytest.mark.parametrize("method", ["front", "exhaustive", "auto"])
def test_the_list_is_the_best_for_every_k(tmp_path: Path, method: str) -> None:
    """Exact searches list what brute force finds over all pairs of a scheme and a k."""
    by_ach = method == "auto"
    with sqlanon.load(write(tmp_path, {"method": method})) as anonymizer:
        result = anonymizer.search()
    aim = "ach" if by_ach else "glm"
    found = [(s.scores["k"], round(float(s.scores[aim] or 0), 9)) for s in result.solutions]
    expected = best_for_every_k(levels=not by_ach, by_ach=by_ach)
    assert sorted(found, reverse=True) == expected
    assert result.solution is not None
    assert (result.solution.k, found[result.chosen or 0][1]) == [
        point for point in expected if point[0] >= 2
    ][-1]
    assert any(s.scheme.required_k for s in result.solutions)


@pytest.mark.parametrize("method", ["auto", "nsga2", "genitor", "poka", "front", "optimal"])
@pytest.mark.parametrize("model", [{}, {"l_diversity": {"l": 2, "column": "y"}}])
def test_every_row_is_measured_and_released_as_it_is_listed(
    tmp_path: Path, method: str, model: dict[str, Any]
) -> None:
    keys: dict[str, Any] = {"privacy": {"k": 2, **model}}
    if model:
        columns = {"x": {"role": "quasi"}, "y": {"role": "sensitive"}, "z": {"role": "quasi"}}
        keys["columns"] = columns
        keys["privacy"] = {"k": 2, "l_diversity": {"l": 2}}
    with sqlanon.load(write(tmp_path, {"method": method}, **keys)) as anonymizer:
        result = anonymizer.search()
        result.write(tmp_path / "result.json")
        released = 0
        for i, row in enumerate(result.solutions):
            reference = f"{tmp_path / 'result.json'}#{i}"
            measured = anonymizer.measure(reference)
            assert row.scores.items() <= measured.scores.items()
            assert measured.feasible == row.feasible
            assert [each.groups for each in measured.kept] == [each.groups for each in row.kept]
            if not row.feasible:
                continue
            document = anonymizer.publish(reference).certificate.document
            assert document.privacy.k == row.k
            assert document.suppression.rows == row.suppressed
            assert document.scores.nwp == pytest.approx(row.nwp)
            stated = {c.name: c for c in document.columns if c.groups is not None}
            for kept in row.kept:
                column = stated[kept.column]
                assert (column.groups_released, column.largest_share, column.loss) == (
                    kept.groups,
                    pytest.approx(kept.largest),
                    pytest.approx(kept.loss),
                )
            released += 1
        assert released


def test_a_row_for_less_than_the_policy_requires_is_refused(tmp_path: Path) -> None:
    with sqlanon.load(write(tmp_path, {"method": "front"}, privacy={"k": 4})) as anonymizer:
        result = anonymizer.search()
        row = next(s for s in result.solutions if s.scheme.required_k in (1, 2, 3))
        assert row.feasible is False
        with pytest.raises(VerificationError, match="requires 4"):
            anonymizer.publish(row)
    assert not (tmp_path / "released.csv").exists()


def test_a_release_needs_the_k_that_its_scheme_was_found_for(tmp_path: Path) -> None:
    """The policy's k is raised by a scheme, never lowered."""
    with sqlanon.load(write(tmp_path, {"method": "front"})) as anonymizer:
        result = anonymizer.search()
        row = next(s for s in result.solutions if (s.scheme.required_k or 0) > 2 and s.suppressed)
        release = anonymizer.publish(row)
        privacy = release.certificate.document.privacy
        assert (privacy.policy_k, privacy.required_k) == (2, row.scheme.required_k)
        assert f"and this release {row.scheme.required_k}" in str(release)
        classes = Counter(map(tuple, release.to_pandas().to_numpy().tolist()))
        assert min(classes.values()) >= (row.scheme.required_k or 0)
        assert f"required {row.scheme.required_k}" in anonymizer.sql(row)


@pytest.mark.parametrize("method", ["auto", "optimal", "front"])
def test_one_search_answers_for_several_k(tmp_path: Path, method: str) -> None:
    """Each answer is that of a search for this k alone, and nothing is measured twice."""
    folders = [tmp_path / str(k) for k in (2, 3, 5)]
    alone = []
    for k, folder in zip((2, 3, 5), folders, strict=True):
        folder.mkdir()
        with sqlanon.load(write(folder, {"method": method}, privacy={"k": k})) as anonymizer:
            alone.append(anonymizer.search())
    with sqlanon.load(write(tmp_path, {"method": method})) as anonymizer:
        result = anonymizer.search(k=[5, 2, 3])
        aim = "ach" if method == "auto" else "glm"
        for k, single in zip((2, 3, 5), alone, strict=True):
            answer = result.solution_for(k)
            assert answer is not None
            assert single.solution is not None
            assert answer.scores[aim] == pytest.approx(single.solution.scores[aim])
            assert (answer.k or 0) >= k
            assert max(answer.scheme.required_k or 2, 2) >= k
            assert anonymizer.measure(answer).scores["k"] == answer.k
    assert list(result.choices) == [2, 3, 5]
    assert result.chosen == result.choices[2]
    if method == "auto":
        assert result.evaluations["distinct"] == 64
    document = result.to_dict()
    assert document["version"] == 3
    assert [each["k"] for each in document["choices"]] == [2, 3, 5]


def test_several_k_with_models(tmp_path: Path) -> None:
    columns = {"x": {"role": "quasi"}, "y": {"role": "sensitive"}, "z": {"role": "quasi"}}
    privacy = {"k": 2, "l_diversity": {"l": 2}}
    policy = write(tmp_path, {}, columns=columns, privacy=privacy)
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search(k=[2, 6])
        answer = result.solution_for(6)
        assert answer is not None
        assert answer.feasible
        assert answer.scheme.required_k == 6
        released = anonymizer.publish(answer)
    by_class: dict[tuple[str, str], list[str]] = {}
    for x, y, z in released.to_pandas().to_numpy().tolist():
        by_class.setdefault((x, z), []).append(y)
    assert all(len(ys) >= 6 and len(set(ys)) >= 2 for ys in by_class.values())


@pytest.mark.parametrize(("k", "message"), [(1, "requires 2"), ([], "several"), ([2, True], "k")])
def test_k_that_cannot_be_searched_for(tmp_path: Path, k: Any, message: str) -> None:
    with (
        sqlanon.load(write(tmp_path, {})) as anonymizer,
        pytest.raises(ArgumentError, match=message),
    ):
        anonymizer.search(k=k)


def test_a_scheme_file_carries_its_k(tmp_path: Path, run: Run) -> None:
    policy = write(tmp_path, {"method": "front"})
    done = run("search", "policy.yml", "--k", "2,5")
    assert done.status == 0, done.err
    row = json.loads((tmp_path / "result.json").read_text())["choices"][1]["solution"]
    assert f"result.json#{row}" in done.out
    assert run("choose", f"result.json#{row}").status == 0
    document = json.loads((tmp_path / "scheme.json").read_text())
    assert document["required_k"] == 5
    with sqlanon.load(policy) as anonymizer:
        release = anonymizer.publish(tmp_path / "scheme.json")
        assert release.certificate.document.privacy.k >= 5
        for wrong in (0, "5", True, 2.5):
            with pytest.raises(SchemeError, match="required_k"):
                anonymizer.measure(document | {"required_k": wrong})


def test_a_k_out_of_reach_ends_with_status_3(tmp_path: Path, run: Run) -> None:
    write(tmp_path, {"method": "optimal"})
    done = run("search", "policy.yml", "--k", "2,17")
    assert done.status == 3
    assert "k = 17" in done.err
    listed = json.loads((tmp_path / "result.json").read_text())
    assert [each["solution"] is None for each in listed["choices"]] == [False, True]
    below = run("search", "policy.yml", "--k", "1,2")
    assert below.status == 2
    assert "requires 2" in below.err
    assert run("search", "policy.yml", "--k", "2,x").status == 2
