"""`sqlanon demo`: the whole way on built-in data, from a policy to a verified release."""

from __future__ import annotations

import filecmp
import shutil
import time
from pathlib import Path

import click
from rich.console import Console
from rich.syntax import Syntax

import sqlanon
from sqlanon import resources
from sqlanon.anonymizer import Anonymizer
from sqlanon.audit import CheckResult
from sqlanon.cli.options import json_option, print_json
from sqlanon.cli.output import (
    console,
    print_comparison,
    print_front,
    print_groups,
    print_release,
)
from sqlanon.cli.progress import ending_on_sigterm, watching
from sqlanon.domain import Scheme, from_levels
from sqlanon.errors import PublishError
from sqlanon.files import RESULT, refuse_to_replace
from sqlanon.release.pipeline import Release
from sqlanon.search import SearchResult, Solution

STEPS = (
    ("as it is", (0, 0, 0, 0, 0, 0, 0, 0)),
    ("one level up", (0, 1, 1, 1, 1, 1, 1, 1)),
    ("two levels up", (0, 2, 2, 2, 2, 1, 1, 2)),
    ("age hidden", (1, 0, 0, 0, 0, 0, 0, 0)),
    ("all hidden", (1, 3, 3, 3, 3, 1, 1, 4)),
)
"""Lattice nodes over the columns of examples/adult/policy.yml."""
DATA, RESULT_FILE, SQL_FILE = "adult.parquet", "result.json", "release.sql"
DATABASE, TABLE = "adult.duckdb", "adult_anon"
"""Where the policy of the demo publishes to."""
FRONT_ROWS = 10
SQL_LINES = 34
EXPLANATION = """\
k        people in the smallest class of equal rows; the policy asks for 5
NWP      information lost, 0 (none) to 1 (all)
NECD     bias: how unequal the class sizes are, 0 to 1
ach      how far from the preference of the policy; smaller is better
"""


@click.command(epilog="Example: sqlanon demo --folder try")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sqlanon-demo"),
    show_default=True,
    help="Where policy, data, release and certificate go; made if it does not exist.",
)
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print the tables of scores only.")
@ending_on_sigterm()
def demo(folder: Path, as_json: bool, quiet: bool) -> None:
    """Anonymize the Adult census table: policy, search, SQL, release, check, certificate.

    Takes less than a minute. Everything it makes is in one folder, ready to be changed and
    run again.
    """
    screen = Console(quiet=True) if as_json else console()
    talk = Console(quiet=True) if quiet else screen
    policy = _copied(folder)
    _title(talk, "1. The policy: what is known of the columns, and what is wanted")
    text = policy.read_text(encoding="utf-8")
    talk.print(Syntax(text, "yaml", background_color="default", word_wrap=True))
    with sqlanon.load(policy) as anonymizer:
        rows = _compare(anonymizer, screen, talk)
        result = _search(anonymizer, folder, screen, talk)
        sql = anonymizer.sql(result)
        (folder / SQL_FILE).write_text(sql, encoding="utf-8")
        _show_sql(sql, folder, talk)
        _title(talk, "4. The release: staged, counted anew, and only then put in place")
        release = anonymizer.publish(result)
    print_release(release, talk)
    checked = _check(folder, release, talk)
    if as_json:
        compared = [{"title": title, **solution.to_dict()} for title, solution in rows]
        print_json(
            {
                "folder": str(folder),
                "compared": compared,
                "search": result.to_dict(),
                "release": release.to_dict(),
                "check": checked.to_dict(),
            }
        )
        return
    talk.print(_next_steps(folder, result), soft_wrap=True, markup=False)


def _title(talk: Console, text: str) -> None:
    talk.print(f"\n[bold]{text}[/]")


def _copied(folder: Path) -> Path:
    """The demo's files in a folder of the user's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        policy, text = folder / "policy.yml", _policy_text()
        if policy.exists() and policy.read_text(encoding="utf-8") != text:
            raise PublishError(
                f"{policy} is not the demo's any more; name another --folder, or go on with "
                f"`sqlanon search {policy}`"
            )
        data = resources.path("examples", "adult", DATA)
        _refuse_others(folder, data)
        policy.write_text(text, encoding="utf-8")
        shutil.copyfile(data, folder / DATA)
    except OSError as error:
        raise PublishError(f"{folder}: cannot be written to ({error.strerror})") from None
    return policy


def _refuse_others(folder: Path, data: Path) -> None:
    """Files that the demo would replace, and that are not its own, stay as they are."""
    with_policy = (folder / "policy.yml").exists()
    for name in (DATA, RESULT_FILE, SQL_FILE):
        path = folder / name
        if not path.exists():
            continue
        own = with_policy
        if name == DATA:
            own = filecmp.cmp(path, data, shallow=False)
        elif own and name == SQL_FILE:
            own = path.read_bytes().startswith(b"-- release of ")
        elif own:
            refuse_to_replace(path, RESULT, otherwise="name another --folder")
        if not own:
            raise PublishError(
                f"{path} is not the demo's, and the demo would replace it; name another --folder"
            )


def _policy_text() -> str:
    """The example's policy without the line for editors, whose path is wrong elsewhere."""
    lines = resources.path("examples", "adult", "policy.yml").read_text(encoding="utf-8")
    return "".join(
        line for line in lines.splitlines(keepends=True) if "yaml-language-server" not in line
    )


def _compare(anonymizer: Anonymizer, screen: Console, talk: Console) -> list[tuple[str, Solution]]:
    """Counts the table and scores some schemes that were written by hand."""
    _title(talk, "2. What generalizing costs")
    start = time.perf_counter()
    histogram = anonymizer.histogram
    counted = time.perf_counter() - start
    titles = [title for title, _ in STEPS] + ["scheme.json"]
    by_hand = resources.path("examples", "adult", "scheme.json")
    schemes = [*_steps(anonymizer), anonymizer.scheme(by_hand)]
    start = time.perf_counter()
    rows = list(zip(titles, anonymizer.measure_all(schemes), strict=True))
    scored = time.perf_counter() - start
    talk.print(
        f"One GROUP BY turned [bold]{histogram.rows:,}[/] rows into "
        f"[bold]{len(histogram.tally):,}[/] counted tuples in {counted:.2f} s. "
        f"{len(rows)} generalizations of them were scored in {scored:.2f} s, the last one "
        "written by hand:"
    )
    print_comparison(rows, anonymizer.required_k, screen)
    return rows


def _search(anonymizer: Anonymizer, folder: Path, screen: Console, talk: Console) -> SearchResult:
    section = anonymizer.policy.section.search
    with watching(
        "searching", quiet=talk.quiet, seconds=section.seconds, patience=section.patience
    ) as watch:
        result = anonymizer.search(watch=watch)
    if result.solution is None:
        raise PublishError(result.shortfall())
    result.write(folder / RESULT_FILE)
    talk.print(
        f"The search scored [bold]{result.evaluations['distinct']:,}[/] more in "
        f"{result.seconds:.1f} s. No solution beats another one here: whoever wants a "
        "higher k pays with information. Rows are left out for each one's own k. The arrow is the "
        "answer to the policy:"
    )
    print_front(result, screen, FRONT_ROWS)
    talk.print("It keeps this of the columns:")
    print_groups(result.solution, talk)
    talk.print(EXPLANATION)
    return result


def _show_sql(sql: str, folder: Path, talk: Console) -> None:
    lines = sql.splitlines()
    _title(talk, f"3. The SQL of the release: {len(lines)} lines in {folder / SQL_FILE}")
    head = "\n".join(lines[:SQL_LINES])
    talk.print(Syntax(head, "sql", background_color="default", word_wrap=True))
    talk.print("…")


def _check(folder: Path, release: Release, talk: Console) -> CheckResult:
    """Looks at the released table as an outsider would."""
    privacy = release.certificate.document.privacy
    checked = sqlanon.check(folder / DATABASE, privacy.quasi, k=privacy.required_k, table=TABLE)
    _title(talk, "5. The check: the released table alone, as anybody may count it")
    talk.print(checked.verdict())
    return checked


def _steps(anonymizer: Anonymizer) -> list[Scheme]:
    return [from_levels(anonymizer.space.columns, levels) for _, levels in STEPS]


def _next_steps(folder: Path, result: SearchResult) -> str:
    others = [i for i, each in enumerate(result.solutions) if each.feasible and i != result.chosen]
    other = f"result.json#{others[0] if others else result.chosen}"
    return f"""
Open {folder / f"{TABLE}.certificate.html"} in a browser: the certificate.

Next, in {folder}:
  sqlanon sql policy.yml --scheme {other}      the SQL of another solution
  sqlanon publish policy.yml --scheme {other}  another release
  sqlanon search policy.yml --method front           another search
  sqlanon check {DATABASE} --table {TABLE} \\
      --certificate {TABLE}.certificate.json
Then on a policy of your own: docs/policy.md lists what it may say."""
