"""Tables on narrow screens, on screens without Unicode, and of labels that look like others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run, process
from search_table import SETTINGS, write_search_folder
from small_table import write_folder

import sqlanon
from sqlanon.search import WALK

SEARCH = ("search", "policy.yml")
MEASURE = ("measure", "policy.yml", "--scheme", "scheme.json")
HEADS = ["classes", "left out", "NWP", "NECD", "ach"]
"""What a table of an exact search has between k and the loss that it was for."""
LEAST_FIRST = ["classes", "left out", "ach", "NECD", "NWP"]


@pytest.mark.parametrize("width", [80, 70, 60, 50, 40, 30, 10])
def test_columns_are_left_out_whole(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    write_search_folder(tmp_path, {"method": "front"})
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*SEARCH)
    lines = done.out.splitlines()
    heads = " ".join(lines[1].split())
    missing = [name for name in HEADS if name not in heads]
    assert heads.split() == " ".join(
        ["#", "k", *(name for name in HEADS if name not in missing), "GLM"]
    ).split()  # fmt: skip
    assert set(missing) == set(LEAST_FIRST[: len(missing)])
    assert not missing if width == 80 else missing
    assert len(lines[1]) <= width or len(missing) == len(HEADS)
    chosen = next(line for line in lines if line.startswith(" →"))
    result = json.loads((tmp_path / "result.json").read_text())
    solution = result["solutions"][result["chosen"]]
    assert chosen.split()[1:3] == [str(result["chosen"]), str(solution["k"])]
    assert chosen.split()[-1] == f"{solution['glm']:.4f}"
    assert "…" not in done.out.partition("The chosen")[0]
    note = " ".join(done.out.partition("Not shown")[2].partition("The chosen")[0].split())
    assert note.endswith(", ".join(missing))
    assert bool(note) is bool(missing)


@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize("width", [40, 50, 60])
def test_what_was_searched_for_stays(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, method: str, width: int
) -> None:
    write_search_folder(tmp_path, {"method": method, **SETTINGS[method]})
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*SEARCH)
    heads = done.out.splitlines()[1].split()
    assert heads[:2] == ["#", "k"]
    assert heads[-1] == ("ach" if method in ("auto", "nsga2") else "GLM")
    assert max(map(len, done.out.splitlines())) <= width
    assert "…" not in done.out.partition("The chosen")[0]


@pytest.mark.parametrize(("width", "wraps"), [(80, True), (40, True), (30, False)])
def test_scores_without_their_meaning(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, width: int, wraps: bool
) -> None:
    write_folder(tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*MEASURE)
    assert done.status == 0
    assert ("Not shown for want of width: meaning" not in " ".join(done.out.split())) is wraps
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        nwp = anonymizer.measure(tmp_path / "scheme.json").scores["nwp"]
    row = next(line for line in done.out.splitlines() if line.startswith(" nwp "))
    assert row.split()[1] == f"{nwp:.4f}"


def test_ascii_keeps_the_columns(tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "front"})
    done = process(tmp_path, *SEARCH, PYTHONIOENCODING="ascii", COLUMNS="80")
    assert done.status == 0
    assert done.out.isascii()
    assert "\\" not in done.out
    lines = done.out.splitlines()
    assert lines[2].strip() == "-" * (len(lines[1]) - 2)
    chosen = next(line for line in lines if line.startswith(" -> "))
    assert len(chosen) == len(lines[1])
    assert "F | M" in done.out


ODD = ["NULL", "x · y", "x | y", "", " café ", '"', "…", "[0, 5)", "plain"]
SHOWN = ['"NULL"', '"x · y"', "x | y", '""', '" café "', '""""', '"…"', "[0, 5)", "plain", "NULL"]
IN_ASCII = [
    '"NULL"', r"x \xb7 y", '"x | y"', '""', r'" caf\xe9 "', '""""', r"\u2026", "[0, 5)", "plain",
    "NULL",
]  # fmt: skip


def test_labels_that_look_like_others(tmp_path: Path) -> None:
    policy = {
        "source": {"query": "SELECT nullif(t, 'nothing') AS t FROM read_json('people.json')"},
        "columns": {"t": {"role": "quasi", "values": [*ODD, None]}},
        "one_row_per_person": True,
    }
    write_folder(tmp_path, policy)
    people = [{"t": text} for text in [*ODD, "nothing"]]
    (tmp_path / "people.json").write_text(json.dumps(people), encoding="utf-8")
    (tmp_path / "scheme.json").write_text(
        json.dumps({"columns": {"t": {"groups": [[text] for text in [*ODD, None]]}}})
    )
    done = process(tmp_path, *MEASURE, COLUMNS="140")
    assert " · ".join(SHOWN) in done.out, done.err
    done = process(tmp_path, *MEASURE, COLUMNS="140", PYTHONIOENCODING="ascii")
    assert " | ".join(IN_ASCII) in done.out
    with sqlanon.load(policy | {"source": {"query": policy["source"]["query"].replace(
        "people.json", str(tmp_path / "people.json"))}}) as anonymizer:  # fmt: skip
        solution = anonymizer.measure(tmp_path / "scheme.json")
    # What is released is not what a screen shows.
    assert solution.labels("t") == (*ODD, None)
    assert f"t: 10 of 10 groups (largest 10.0%, lost 0.0%): {' · '.join(SHOWN[:8])} · …" in str(
        solution
    )


def walked(folder: Path, **environment: str) -> list[str]:
    """The lines of the first step of a walk."""
    done = subprocess.run(
        [sys.executable, "-m", "sqlanon", *SEARCH, "--method", WALK],
        cwd=folder,
        env={**os.environ, **environment},
        input="quit\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (80, "# k classes left out NWP NECD asked for + more"),
        (40, "# k NWP NECD"),
    ],
)
def test_a_walk_fits(tmp_path: Path, width: int, heads: str) -> None:
    write_search_folder(tmp_path, {"patience": 1})
    lines = walked(tmp_path, COLUMNS=str(width))
    assert heads in [" ".join(line.split()) for line in lines]
    assert max(map(len, lines)) <= width
    # The axis has room for the end of the loss, "  NWP 1.000", beside it, and is 61 at most;
    # that of the bias is one longer.
    axis = next(line for line in lines if line.startswith("└"))
    assert axis.count("─") == min(61, width - 1 - len("  NECD 1.000"))


def test_a_walk_in_ascii(tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"patience": 1})
    lines = walked(tmp_path, PYTHONIOENCODING="ascii", COLUMNS="80")
    assert all(line.isascii() and "\\" not in line for line in lines)
    assert any(line.startswith("+" + "-" * 61 + "  NWP ") for line in lines)
