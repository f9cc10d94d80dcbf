"""The commands: what they print where, and the exit status they end with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import duckdb
import pytest
import yaml
from command_line import Run, message, process
from small_table import CSV, SCORES, changed, write_folder

import sqlanon
from sqlanon import resources
from sqlanon.cli.command import COMMANDS, cli
from sqlanon.utility import MODELS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path)
    return tmp_path


MEASURE = ("measure", "policy.yml", "--scheme", "scheme.json")


def test_measure(run: Run, folder: Path) -> None:
    done = run(*MEASURE)
    assert (done.status, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["k", "2", "people", "in", "the", "smallest", "class"] in lines
    assert ["sex", "1", "of", "2", "100.0%", "100.0%", "*"] in lines
    shown = {words[0]: words[1] for words in lines if words and words[0] in SCORES}
    assert shown == {
        name: f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
        for name, value in SCORES.items()
    }


def test_measure_json_is_one_solution(run: Run, folder: Path) -> None:
    done = run(*MEASURE, "--json")
    assert (done.status, done.err) == (0, "")
    document = json.loads(done.out)
    assert document.pop("columns") == {"age": {"cuts": [35]}, "sex": {"groups": [["F", "M"]]}}
    assert document.pop("feasible") is True
    assert document.pop("kept")["sex"] == {"groups": 1, "values": 2, "largest": 1.0, "loss": 1.0}
    assert document == pytest.approx(SCORES)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_k_that_is_not_reached(run: Run, tmp_path: Path, options: list[str]) -> None:
    write_folder(tmp_path, changed(privacy={"k": 3}))
    done = run(*MEASURE, *options)
    assert done.status == 3
    assert done.err == "The scheme reaches k = 2; the policy requires 3.\n"
    assert done.out
    if options:
        assert json.loads(done.out)["feasible"] is False


def test_measure_with_a_workspace(run: Run, folder: Path) -> None:
    assert [run(*MEASURE, "--workspace", "work.duckdb").status for _ in range(2)] == [0, 0]
    assert (folder / "work.duckdb").exists()


def test_values_that_the_domain_does_not_cover(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, csv=CSV + "55,F,no\n")
    said = message(4, run(*MEASURE))
    assert said.startswith("error: column 'age': 1 row has 1 value outside the declared range")
    assert said.endswith("--show-values lists the values, which are private data.")
    assert "55" not in said
    assert message(4, run(*MEASURE, "--show-values")).endswith("\n  'age': '55'")
    assert message(4, run("search", "policy.yml", "--show-values")).endswith("\n  'age': '55'")


def test_new_values_of_a_scheme_are_counted(run: Run, tmp_path: Path) -> None:
    columns = changed()["columns"] | {"sex": {"role": "quasi"}}
    write_folder(tmp_path, changed(columns=columns, publish={"file": "out.csv"}))
    scheme = {
        "columns": {"age": {"cuts": []}, "sex": {"groups": [["F"], ["M"]]}},
        "domains": {"sex": ["F", "M"]},
    }
    (tmp_path / "fine.json").write_text(json.dumps(scheme))
    (tmp_path / "people.csv").write_text(CSV + "21,zq7,no\n22,zq7,no\n23,,no\n")
    for command in ("measure", "publish", "utility"):
        arguments = (command, "policy.yml", "--scheme", "fine.json")
        said = message(4, run(*arguments))
        assert "'sex' in 3 rows" in said, command
        assert "zq7" not in said
        assert said.endswith("--show-values lists the values, which are private data.")
        said = message(4, run(*arguments, "--show-values"))
        assert said.endswith("\n  'sex': 'zq7', NULL"), command


def test_logged_statements_hold_no_values(tmp_path: Path) -> None:
    columns = changed()["columns"] | {"sex": {"role": "quasi"}}
    policy = changed(columns=columns, publish={"file": "out.csv"})
    write_folder(tmp_path, policy, CSV.replace("F", "zq7") + "21,X,no\n")
    groups = {"age": {"cuts": []}, "sex": {"groups": [["M"], ["X", "zq7"]]}}
    (tmp_path / "scheme.json").write_text(json.dumps({"columns": groups}))
    scored = process(tmp_path, "-v", "measure", "policy.yml", "--scheme", "scheme.json", "--json")
    assert "WITH candidates AS (" in scored.err
    arguments = ("-v", "publish", "policy.yml", "--scheme", "scheme.json", "-q")
    for options, shown in (((), False), (("--show-values", "-y"), True)):
        done = process(tmp_path, *arguments, *options)
        assert done.status == 0, done.err
        assert "READ_CSV(" in done.err
        assert ("zq7" in done.err) is shown


def test_a_policy_with_mistakes(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(others="keep", privacy={"k": 0}))
    said = message(1, run(*MEASURE))
    assert said.splitlines() == [
        "error: policy.yml: 2 mistakes in the policy",
        "  others: found 'keep', expected 'refuse', 'drop' or 'insensitive'",
        "  privacy.k: found 0, expected a whole number of at least 1",
    ]


@pytest.mark.parametrize(
    ("policy", "scheme", "said"),
    [
        ("none.yml", "scheme.json", "none.yml: cannot be read (No such file or directory)"),
        ("policy.yml", "none.json", "none.json: cannot be read (No such file or directory)"),
        ("policy.yml", "people.csv", "people.csv: is not JSON "),
        ("policy.yml", "scheme.json#1", "scheme.json: is a scheme, not a result with numbered"),
    ],
)
def test_files_that_are_not_there_or_not_what_they_should_be(
    run: Run, folder: Path, policy: str, scheme: str, said: str
) -> None:
    line = message(1, run("measure", policy, "--scheme", scheme))
    assert line.startswith(f"error: {said}")
    assert len(line.splitlines()) == 1


def test_a_workspace_that_is_no_database(run: Run, folder: Path) -> None:
    text = "This is a text of some length, and no database. " * 100
    (folder / "notes.txt").write_text(text)
    line = message(1, run(*MEASURE, "--workspace", "notes.txt"))
    assert line.startswith("error: File notes.txt is not a DuckDB database")
    assert (folder / "notes.txt").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mesure"], "No such command 'mesure'"),
        (["measure"], "Missing argument 'POLICY'"),
        (["measure", "policy.yml"], "Missing option '--scheme'"),
        (["demo", "--fast"], "No such option"),
        (["demo", "extra"], "Got unexpected extra argument (extra)"),
    ],
)
def test_wrong_usage(run: Run, arguments: list[str], said: str) -> None:
    shown = message(2, run(*arguments))
    assert said in shown
    assert shown.startswith("Usage: sqlanon")


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.status, done.out) == (0, f"sqlanon, version {sqlanon.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    with click.Context(called(command), info_name=f"sqlanon {command}") as context:
        text = " ".join(called(command).get_help(context).split())
    assert f"Example: sqlanon {command} " in text


def called(command: str) -> click.Command:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return found


@pytest.mark.parametrize(("command", "line"), COMMANDS.items())
def test_the_list_of_commands_says_what_their_own_help_says(command: str, line: str) -> None:
    assert called(command).get_short_help_str(limit=200).rstrip(".") == line


def test_every_command_is_listed() -> None:
    folder = Path(sqlanon.__file__).parent / "cli"
    modules = {file.stem for file in folder.glob("*.py")}
    shared = {"__init__", "command", "options", "output", "progress", "signals", "walk"}
    assert modules - shared == set(COMMANDS)


def test_utility_offers_every_model() -> None:
    (option,) = [each for each in called("utility").params if each.name == "model"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == MODELS


def test_help_names_every_exit_status(run: Run) -> None:
    done = run("--help")
    assert done.status == 0
    text = " ".join(done.out.split())
    for words in ("0 done", "1 error", "2 wrong usage", "3 a privacy", "4 the data"):
        assert words in text


def test_verbose_shows_sql_on_standard_error_only(run: Run, folder: Path) -> None:
    plain = run(*MEASURE, "--json")
    done = process(folder, "-v", *MEASURE, "--json")
    assert done.status == 0
    assert done.out == plain.out
    assert "GROUP BY" in done.err
    assert "READ_CSV(?" in done.err
    shown = process(folder, "-v", *MEASURE, "--json", "--show-values")
    assert "READ_CSV('people.csv'" in shown.err


def test_labels_are_not_markup(run: Run, tmp_path: Path) -> None:
    policy = {
        "source": {"file": "people.csv"},
        "columns": {"[bold]": {"role": "quasi"}},
        "one_row_per_person": True,
    }
    write_folder(tmp_path, policy, "[bold]\n[/red]\n[link=x]y\n\x1b[31m\n")
    scheme = {"columns": {"[bold]": {"groups": [["\x1b[31m"], ["[/red]"], ["[link=x]y"]]}}}
    (tmp_path / "scheme.json").write_text(json.dumps(scheme))
    done = run(*MEASURE)
    assert done.status == 0, done.err
    assert "[bold]   3 of 3 " in done.out
    assert " \\x1b[31m · [/red] · [link=x]y" in done.out


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_output_for_a_terminal_without_unicode(tmp_path: Path, options: list[str]) -> None:
    columns = {"größe": {"role": "quasi"}}
    policy = {"source": {"file": "people.csv"}, "columns": columns, "one_row_per_person": True}
    write_folder(tmp_path, policy, "größe\n1\n1\n")
    (tmp_path / "scheme.json").write_text(json.dumps({"columns": {"größe": {"level": 0}}}))
    done = process(tmp_path, *MEASURE, *options, PYTHONIOENCODING="ascii")
    assert done.status == 0, done.err
    if options:
        assert list(json.loads(done.out)["columns"]) == ["größe"]


QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex",
         "native-country"]  # fmt: skip


@pytest.fixture
def short_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo with a search of a few generations."""
    adult = resources.path("examples", "adult")
    text = (adult / "policy.yml").read_text(encoding="utf-8")
    policy = yaml.safe_load(text) | {"search": {"evaluations": 300}}
    policy["source"] = {"file": str(adult / "adult.parquet")}
    file = tmp_path / "short.yml"
    file.write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
    known = resources.path
    monkeypatch.setattr(
        resources, "path", lambda *parts: file if parts[-1] == "policy.yml" else known(*parts)
    )


@pytest.mark.slow
def test_demo(tmp_path: Path) -> None:
    done = process(tmp_path, "demo", COLUMNS="80")
    assert done.status == 0, done.err
    # On a busy machine the search shows its progress, in plain lines without a terminal.
    assert all(line.startswith("searching: ") for line in done.err.splitlines())
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    before, _, after = done.out.partition("One GROUP BY turned 30,162 rows into 12,005 ")
    shown = before.partition("what is wanted\n")[2].partition("\n2. ")[0]
    assert yaml.safe_load(shown)["privacy"] == {"k": 5}  # the policy is shown whole
    compared, _, found = after.partition("The search scored ")
    assert "scheme.json" in compared
    chosen = next(line.split() for line in found.splitlines() if line.startswith(" →"))
    by_hand = next(line.split() for line in compared.splitlines() if "scheme.json" in line)
    assert int(chosen[2]) >= 5
    assert float(chosen[5]) < float(by_hand[4])  # NWP
    assert "marital-status" in found
    assert 'CASE\n      WHEN "source"."age"' in found
    published = re.search(
        r"published ([\d,]+) rows, ([\d,]+) left out, to adult.main.adult_anon", found
    )
    assert published is not None
    rows, left_out = (int(number.replace(",", "")) for number in published.groups())
    assert rows + left_out == 30_162
    assert "k = 5 holds" in found
    assert "sqlanon search policy.yml" in found
    (folder,) = tmp_path.iterdir()
    with duckdb.connect(folder / "adult.duckdb", read_only=True) as connection:
        released = connection.table("adult_anon").to_df()
    sizes = released.groupby(QUASI, dropna=False).size()
    assert (sizes.sum(), sizes.min() >= 5) == (rows, True)
    assert {file.name for file in folder.iterdir()} == {
        "adult.duckdb",
        "adult.parquet",
        "adult_anon.certificate.html",
        "adult_anon.certificate.json",
        "adult_anon.shareable.html",
        "adult_anon.shareable.json",
        "policy.yml",
        "release.sql",
        "result.json",
    }
    # What it proposes next must work: another solution that may be released too.
    for command in ("sql", "publish"):
        proposed = re.search(rf"sqlanon ({command} policy.yml --scheme result.json#\d+)  ", found)
        assert proposed is not None
        again = process(folder, *proposed[1].split())
        assert again.status == 0, again.err


@pytest.mark.usefixtures("short_demo")
def test_demo_quiet_is_the_tables_alone(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--quiet", "--folder", str(tmp_path / "demo"))
    assert (done.status, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    scores = ["k", "classes", "left", "out", "NWP", "NECD", "ach"]
    assert lines[0] == ["scheme", *scores, "k", "≥", "5"]
    assert lines[2 + 6] == ["#", *scores]
    whole = next(line for line in lines if line[:2] == ["all", "hidden"])
    assert whole[2:6] == ["30,162", "1", "0", "1.0000"]


@pytest.mark.usefixtures("short_demo")
def test_demo_json(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--json", "--folder", str(tmp_path / "demo"))
    assert (done.status, done.err) == (0, "")
    document = json.loads(done.out)
    compared = document["compared"]
    assert [d["title"] for d in compared][-1] == "scheme.json"
    assert compared[-1]["feasible"] is True
    assert compared[0]["classes"] == 12_005
    search = document["search"]
    assert search["solutions"][search["chosen"]]["feasible"] is True
    assert document["release"]["k"] >= 5
    assert document["check"]["holds"] is True


@pytest.mark.usefixtures("short_demo")
def test_the_demo_leaves_a_changed_policy_alone(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "policy.yml").write_text("mine", encoding="utf-8")
    done = run("demo", "--folder", str(folder))
    assert done.status == 1
    assert "is not the demo's any more" in done.err
    assert (folder / "policy.yml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "completed"), [("sqlanon pub", "publish"), ("sqlanon sql --dialect post", "postgres")]
)
def test_the_shell_completes_commands_and_dialects(
    tmp_path: Path, words: str, completed: str
) -> None:
    typed = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = process(tmp_path, **typed, _SQLANON_COMPLETE="bash_complete")
    assert done.out == f"plain,{completed}\n"


def test_a_number_of_more_than_64_bits_is_wrong_usage(run: Run) -> None:
    said = message(2, run("search", "policy.yml", "--seed", "9" * 400))
    assert "too large" in said
    assert len(said) < 400
