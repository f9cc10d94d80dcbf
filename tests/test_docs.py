"""The documentation covers what there is, and its examples work."""

from __future__ import annotations

import io
import json
import re
import tomllib
import typing
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
import yaml
from pydantic import BaseModel
from small_table import CSV, POLICY, SCHEME, changed, write_folder

import sqlanon
from sqlanon import exit_status
from sqlanon.cli.command import cli
from sqlanon.policy.policy import parse_policy
from sqlanon.policy.search_keys import SearchSection
from sqlanon.policy.sections import policy_section
from sqlanon.resources import path as resource
from sqlanon.search import METHODS, descriptions, format_score

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LINKING = [
    *PAGES,
    *sorted(DOCS.glob("*/*.md")),
    *(
        ROOT / name
        for name in (
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "examples/adult/README.md",
            "examples/postgres/README.md",
            "hierarchies/adult/README.md",
            "sql/README.md",
        )
    ),
]
"""Every page for people: their links are followed."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [content for tag, content in found if tag == language]


def every_block(language: str) -> list[Any]:
    return [
        pytest.param(content, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, content in enumerate(blocks(page, language))
    ]


def commands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def section_of(name: str) -> str:
    """The part of docs/commands.md under a command's own heading."""
    parts = re.split(r"^## ", text("commands.md"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(f"`sqlanon {name}"))


def policy_keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name
        if model is SearchSection:
            yield from (key for method in METHODS.values() for key in method.keys)
        for inner in models_in(field.annotation):
            yield from policy_keys(inner)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from models_in(argument)


def table_rows(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[c.strip() for c in line.replace(r"\|", "¦").strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("name", [name for name, _ in commands(cli)])
def test_every_command_and_option_is_described(name: str) -> None:
    command = dict(commands(cli))[name]
    section = section_of(name)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in [*parameter.opts, *parameter.secondary_opts]:
                assert f"`{option}`" in section
    assert re.search(rf"^sqlanon (-v )?{name}\b", section, re.MULTILINE), "no example"


def test_every_option_of_the_group_is_described() -> None:
    for parameter in cli.params:
        assert all(f"`{option}`" in text("commands.md") for option in parameter.opts)


STATUSES = [value for name, value in vars(exit_status).items() if name.isupper()]


@pytest.mark.parametrize("status", [0, *STATUSES])
def test_every_exit_status_is_described(status: int) -> None:
    assert re.search(rf"^\| {status} \| ", text("commands.md"), re.MULTILINE)


@pytest.mark.parametrize("key", sorted(set(policy_keys(policy_section()))))
def test_every_policy_key_is_described(key: str) -> None:
    assert any(row[0] == f"`{key}`" for row in table_rows(text("policy.md")))


def test_the_page_of_the_policy_invents_no_keys() -> None:
    rows = [row for row in table_rows(text("policy.md")) if len(row) == 4]
    named = {row[0].strip("`") for row in rows if row[0].startswith("`")}
    assert named == set(policy_keys(policy_section()))


PUBLIC = [
    sqlanon.Anonymizer,
    sqlanon.CheckResult,
    sqlanon.Progress,
    sqlanon.Release,
    sqlanon.SearchResult,
    sqlanon.Solution,
    sqlanon.Utility,
    sqlanon.Verification,
    sqlanon.Watch,
]


@pytest.mark.parametrize("name", sqlanon.__all__)
def test_every_public_name_is_described(name: str) -> None:
    assert f"`{name}`" in text("python.md")


@pytest.mark.parametrize("kind", PUBLIC)
def test_every_public_member_is_described(kind: type) -> None:
    members = {name for name in [*dir(kind), *kind.__annotations__] if not name.startswith("_")}
    missing = [name for name in members if not re.search(rf"`{name}\b", text("python.md"))]
    assert not missing


@pytest.mark.parametrize("name", descriptions())
def test_every_score_is_described(name: str) -> None:
    assert any(row[0] == f"`{name}`" for row in table_rows(text("scores.md").split("## ")[0]))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_described(name: str) -> None:
    rows = table_rows(text("search.md"))
    (described,) = (row for row in rows if row[0] == f"`{name}`" and len(row) == 6)
    assert set(re.findall(r"`(\w+)`", described[4])) == set(METHODS[name].keys)
    assert any(row[0] == f"`{name}`" and len(row) == 4 for row in rows), "not among the families"
    named = {method for row in rows for method in re.findall(r"`([\w-]+)`", row[0])}
    assert name in named


@pytest.mark.parametrize("name", METHODS)
def test_the_default_of_every_setting_is_the_one_described(name: str) -> None:
    rows = {row[0].strip("`"): row[2] for row in table_rows(text("policy.md")) if len(row) == 4}
    for setting in fields(METHODS[name].settings):
        if (value := setting.default) is not None:
            shown = f"{value:,}" if type(value) is int else str(value).lower()
            assert f"{name} {shown}" in rows[setting.name].replace("`", "")


def test_every_key_of_a_result_is_described(tmp_path: Path) -> None:
    with sqlanon.load(write_folder(tmp_path)) as anonymizer:
        document = anonymizer.search().to_dict()
    described = text("search.md").split("## result.json")[1]
    assert [row[0].strip("`") for row in table_rows(described)[2:]] == list(document)
    (example,) = blocks(DOCS / "search.md", "json")
    shown = json.loads(example)
    assert list(shown) == list(document)
    for name in ("source", "evaluations"):
        assert list(shown[name]) == list(document[name])
        assert all(f"`{key}`" in described for key in document[name])
    assert list(shown["solutions"][0]) == list(document["solutions"][0])


@pytest.mark.parametrize("name", ["Becker", "CC BY 4.0", "not there yet"])
def test_the_readme_says(name: str) -> None:
    assert name in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "file", sorted(f.name for f in resource("hierarchies", "adult").glob("*.csv"))
)
def test_every_built_in_hierarchy_is_described(file: str) -> None:
    lines = resource("hierarchies", "adult", file).read_text(encoding="utf-8").splitlines()
    values, steps = str(len(lines)), str(lines[0].count(";"))
    assert [f"`adult/{file}`", values, steps] in table_rows(text("hierarchies.md"))


@pytest.mark.parametrize("code", every_block("python"))
def test_python_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, changed(publish={"file": "people_anon.csv"}))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})


VARIABLES = {"SQLANON_KEY": "sixteen letters!", "WARD": "postgresql://nightly@db/ward"}


@pytest.mark.parametrize("content", every_block("yaml"))
def test_policies_are_valid(content: str) -> None:
    parse_policy(yaml.safe_load(content), environment=VARIABLES)


@pytest.mark.parametrize("content", every_block("json"))
def test_json_is_valid(content: str) -> None:
    document = json.loads(content)
    assert "columns" in document or "solutions" in document


def test_no_block_is_left_unchecked() -> None:
    known = {"python", "yaml", "json", "sh", "text", "csv", "sql"}  # sql: see test_publish_postgres
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        assert {tag for tag, _ in BLOCK.findall(content)} <= known
        assert content.count("```") == 2 * len(BLOCK.findall(content))


def test_the_example_by_hand() -> None:
    """The tables of docs/scores.md, which were calculated by hand, and what sqlanon says."""
    page = DOCS / "scores.md"
    (csv,), (policy,), (scheme,) = (blocks(page, each) for each in ("csv", "yaml", "json"))
    assert csv == CSV
    assert yaml.safe_load(policy) == POLICY
    assert json.loads(scheme)["columns"] == SCHEME["columns"]
    rows = table_rows(text("scores.md").split("## By hand")[1])
    tables = [rows[start : start + len(descriptions())] for start in (2, len(descriptions()) + 4)]
    stricter = {**POLICY, "privacy": {"k": 3}, "suppression": {"limit": 0.4}}
    for written, document in zip(tables, (POLICY, stricter), strict=True):
        with sqlanon.load(document, data=pd.read_csv(io.StringIO(csv))) as anonymizer:
            scores = anonymizer.measure(SCHEME).scores
        expected = {row[0].strip("`"): row[2] for row in written}
        shown = {name: format_score(value) for name, value in scores.items() if value is not None}
        assert shown == expected


def test_the_readme_shows_the_table_of_its_first_five_minutes() -> None:
    assert blocks(ROOT / "README.md", "csv") == [CSV]


def test_no_page_is_forgotten() -> None:
    ours = {ROOT / folder for folder in ("docs", "examples", "hierarchies", "sql", "sqlanon")}
    found = {path for folder in ours for path in folder.rglob("*.md")} | set(ROOT.glob("*.md"))
    assert found == set(LINKING)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT)
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, target


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures; code shows some that lead nowhere."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def _anchor(heading: str) -> str:
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(listed(site["nav"])) == sorted(str(page.relative_to(ROOT)) for page in LINKING)


def listed(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from listed(target)


@pytest.mark.parametrize("folder", ["decisions", "tutorials"])
def test_every_page_of_a_folder_is_in_its_table(folder: str) -> None:
    table = DOCS / folder / "README.md"
    pages = {path.name for path in (DOCS / folder).glob("*.md")} - {"README.md"}
    assert pages
    assert pages <= set(links(table))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_is_in_the_readme(page: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.name == "README.md" or f"(docs/{page.name})" in readme
