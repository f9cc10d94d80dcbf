"""The nightly job of examples/postgres, run as its README says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from postgres_server import Database

EXAMPLE = Path(__file__).parents[1] / "examples" / "postgres"


def night(folder: Path, database: Database) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "nightly.py"],
        cwd=folder,
        env={**os.environ, "WARD": database.address},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_three_nights(tmp_path: Path, postgres: Database) -> None:
    folder = tmp_path / "job"
    shutil.copytree(EXAMPLE, folder)
    lines = (folder / "people.sql").read_text(encoding="utf-8").split(";\n")
    postgres.run(*(each for each in lines if each.strip()))
    first = night(folder, postgres)
    assert first.returncode == 0, first.stderr
    certificate = folder / "people_anon.certificate.json"
    document = json.loads((folder / f"shared.{certificate.name}").read_text(encoding="utf-8"))
    assert document["lineage"] == [] or document["lineage"].get("earlier") in ([], None)
    smallest = (
        "SELECT MIN(n), SUM(n)::int FROM (SELECT COUNT(*) AS n FROM shared.people_anon "
        "GROUP BY age, town, sex) AS classes"
    )
    (counted,) = postgres.rows(smallest)
    assert counted[0] >= 5
    assert counted[1] >= 1140  # at most 5 % of 1,200 may be missing
    postgres.run("INSERT INTO people SELECT id + 5000, age, town, sex, diagnosis FROM people")
    assert night(folder, postgres).returncode == 0
    assert postgres.rows(smallest)[0][1] > 2 * 1140 - 1
    postgres.run("INSERT INTO people VALUES (9999, 30, 'Elsewhere', 'F', 'flu')")
    third = night(folder, postgres)
    assert third.returncode == 4
    assert "town" in third.stderr
    assert "Elsewhere" not in third.stderr
    assert postgres.rows(smallest)[0][1] <= 2400
