"""What a release keeps of its columns: counted by hand, and on releases themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import Run

import sqlanon
from sqlanon.audit.table_hash import table_hash
from sqlanon.checking import recheck
from sqlanon.engines.duckdb import open_memory
from sqlanon.engines.protocol import Source
from sqlanon.release.export import written_file


def write(folder: Path, **keys: Any) -> Path:
    """20 people: 17 of town p, one of q, two of r; ages by turns."""
    towns = ["p"] * 17 + ["q"] + ["r"] * 2
    lines = [f"{town},{20 + 10 * (i % 2)},n{i},{i // 2}" for i, town in enumerate(towns)]
    (folder / "people.csv").write_text("town,age,name,who\n" + "\n".join(lines) + "\n")
    policy: dict[str, Any] = {
        "source": {"file": "people.csv"},
        "columns": {
            "town": {"role": "quasi", "values": ["p", "q", "r"]},
            "age": {"role": "quasi", "values": [10, 20, 30]},
            "name": {"role": "identifying"},
            "who": {"role": "identifying"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "suppression": {"limit": 0.1},
        "publish": {"file": "released.csv"},
    }
    merged = {k: v for k, v in (policy | keys).items() if v is not None}
    path = folder / "policy.yml"
    path.write_text(yaml.safe_dump(merged, sort_keys=False))
    return path


SCHEME = {"columns": {"town": {"groups": [["p"], ["q"], ["r"]]}, "age": {"cuts": []}}}


def test_groups_are_those_that_occur_in_the_release(tmp_path: Path) -> None:
    """By hand: q has one person and is left out, so 19 rows are released, 17 of them in p."""
    with sqlanon.load(write(tmp_path)) as anonymizer:
        solution = anonymizer.measure(SCHEME)
    town, age = solution.kept
    assert (town.groups, town.values, town.rows) == (2, 3, (17, 0, 2))
    assert town.largest == 17 / 19
    assert town.loss == pytest.approx(1 / 20)
    assert (age.groups, age.values, age.largest, age.loss) == (1, 3, 1.0, 1.0)
    assert solution.released_labels("town") == ("p", "r")
    (warning,) = solution.warnings
    assert "town (89.5% of the rows" in warning
    assert "age (hidden)" in warning


def test_a_column_without_rows_in_some_groups_is_counted_by_its_release(tmp_path: Path) -> None:
    """Nobody is 10: the declared value is no group of the release."""
    scheme = {"columns": {"town": {"groups": [["p", "q", "r"]]}, "age": {"cuts": [20, 30]}}}
    with sqlanon.load(write(tmp_path)) as anonymizer:
        solution = anonymizer.measure(scheme)
        document = anonymizer.publish(scheme).certificate.document
    kept = solution.kept[1]
    assert (kept.groups, kept.rows, kept.largest, kept.loss) == (2, (0, 10, 10), 0.5, 0.0)
    (age,) = [c for c in document.columns if c.name == "age"]
    assert (age.groups, age.groups_released, age.largest_share) == (3, 2, 0.5)
    assert "2 occur" in (tmp_path / "released.csv.certificate.html").read_text()


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"subject": "who", "one_row_per_person": None},
        {"privacy": {"k": 2, "l_diversity": {"l": 2}}, "sensitive": True},
        {"suppression": {"limit": 0.5, "rows": "mark"}, "privacy": {"k": 1}},
    ],
    ids=["rows", "people", "models", "marked"],
)
def test_kept_is_what_the_released_table_has(tmp_path: Path, keys: dict[str, Any]) -> None:
    """Every feasible scheme of the lattice, against the values in the released table."""
    keys = dict(keys)
    if keys.pop("sensitive", False):
        keys["columns"] = {
            "town": {"role": "quasi", "values": ["p", "q", "r"]},
            "age": {"role": "sensitive"},
            "who": {"role": "quasi"},
            "name": {"role": "identifying"},
        }
        keys["suppression"] = {"limit": 0.9}
    with sqlanon.load(write(tmp_path, **keys)) as anonymizer:
        found = anonymizer.search(method="front")
        feasible = [each for each in found.solutions if each.feasible]
        assert feasible
        for solution in feasible:
            rows = anonymizer.publish(solution).to_pandas()
            for kept in solution.kept:
                counts = rows[kept.column].value_counts(dropna=False)
                assert kept.groups == len(counts)
                assert kept.largest == pytest.approx(counts.max() / len(rows))


def test_the_certificate_says_and_the_check_counts_it(tmp_path: Path) -> None:
    with sqlanon.load(write(tmp_path)) as anonymizer:
        anonymizer.publish(SCHEME)
    path = tmp_path / "released.csv.certificate.json"
    document = json.loads(path.read_text())
    (town,) = [c for c in document["columns"] if c["name"] == "town"]
    assert (town["groups"], town["groups_released"]) == (3, 2)
    assert town["largest_share"] == pytest.approx(17 / 19)
    assert "Most rows are in one group of town (89.5 %)" in document["words"]["summary"]
    assert recheck(tmp_path / "released.csv", path).holds
    for name, wrong in (("groups_released", 3), ("largest_share", 0.95)):
        kept = town[name]
        town[name] = wrong
        path.write_text(json.dumps(document))
        found = recheck(tmp_path / "released.csv", path).differences
        assert any(f"columns.town.{name}" in each for each in found)
        town[name] = kept


def test_certificates_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They lack the two keys; what they say of columns by their groups stays as it was."""
    scheme = {"columns": {"town": {"groups": [["p", "q", "r"]]}, "age": {"cuts": [30]}}}
    with sqlanon.load(write(tmp_path)) as anonymizer:
        anonymizer.publish(scheme)
    path = tmp_path / "released.csv.certificate.json"
    document = json.loads(path.read_text())
    document |= {"version": 1, "prior": document.pop("lineage")["earlier"]}
    names = ("town", "age")
    engine = open_memory(folders=[tmp_path])
    released = Source.of(engine, written_file(tmp_path / "released.csv", names))
    document["release"]["hash"] = table_hash(released, names, 1)
    engine.close()
    del document["release"]["hash_version"]
    del document["digest"], document["context"], document["scheme"]["recoding"]
    for column in document["columns"]:
        del column["groups_released"], column["largest_share"]
    del document["privacy"]["policy_k"]
    path.write_text(json.dumps(document))
    assert recheck(tmp_path / "released.csv", path).holds


def test_the_commands_show_what_is_kept(tmp_path: Path, run: Run) -> None:
    write(tmp_path)
    (tmp_path / "scheme.json").write_text(json.dumps(SCHEME))

    def shown(*arguments: str) -> str:
        done = run(*arguments)
        assert done.status == 0, done.err
        return done.out

    measured = shown("measure", "policy.yml", "--scheme", "scheme.json")
    assert "2 of 3" in measured
    assert "89.5%" in measured
    assert "Little is left of" in measured
    kept = json.loads(shown("measure", "policy.yml", "--scheme", "scheme.json", "--json"))["kept"]
    assert kept["town"] == {"groups": 2, "values": 3, "largest": 0.894737, "loss": 0.05}
    assert "in the largest" in shown("search", "policy.yml")
    listed = json.loads((tmp_path / "result.json").read_text())
    own = listed["solutions"][listed["chosen"]]["kept"]
    assert json.loads(shown("choose", "result.json", "--json"))["kept"] == own
    assert "in the largest" in shown("choose", "result.json", "-o", "chosen.json")
