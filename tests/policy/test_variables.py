"""Variables of the environment in a policy: filled in, and never shown."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command_line import Run, message, process
from hypothesis import given
from hypothesis import strategies as st
from policy_mistakes import BASE, mistakes
from small_table import CSV, changed, write_folder

import sqlanon
from sqlanon.errors import EngineError, PolicyError
from sqlanon.policy.policy import Policy, parse_policy

SECRET = "correct horse battery staple"
HIDDEN = "The database refused. The reason is not shown, because it would tell a part of ${V}."


def document(connection: Any = None, key: Any = None, to: Any = None) -> dict[str, Any]:
    """A policy with texts in the three places that may hold variables."""
    made: dict[str, Any] = copy.deepcopy(BASE)
    made["source"] = {"connection": connection, "table": "people"}
    if key is not None:
        made["columns"]["id"] = {"role": "pseudonym", "stable": True, "key": key}
    if to is not None:
        made["publish"] = {"to": "people_anon", "connection": to}
    return made


def read(made: dict[str, Any], **environment: str) -> Policy:
    return parse_policy(made, environment=environment)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("duckdb:///ware.duckdb", "duckdb:///ware.duckdb"),
        ("${DB}", "duckdb:///x"),
        ("postgresql://${USER}:${PW}@host/${USER}", "postgresql://me:p$${USER}@host/me"),
        ("duckdb:///a$$b", "duckdb:///a$b"),
        ("duckdb:///$${USER}", "duckdb:///${USER}"),
        ("duckdb:///$$$$${USER}${EMPTY}", "duckdb:///$$me"),
    ],
)
def test_variables_are_filled_in_once(text: str, filled: str) -> None:
    environment = {"DB": "duckdb:///x", "USER": "me", "PW": "p$${USER}", "EMPTY": ""}
    policy = read(document(text, to=text), **environment)
    assert policy.source_connection() == filled
    assert policy.publish_connection() == filled
    assert policy.section.source.connection == text


def test_the_key_of_a_pseudonym() -> None:
    policy = read(document(key="${SQLANON_KEY}"), SQLANON_KEY=SECRET)
    assert policy.key_of("id") == SECRET
    assert policy.key_of("age") is None
    assert policy.section.columns["id"].key == "${SQLANON_KEY}"
    assert (policy.source_connection(), policy.publish_connection()) == (None, None)


def test_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLANON_KEY", SECRET)
    policy = parse_policy(document(key="${SQLANON_KEY}"))
    monkeypatch.setenv("SQLANON_KEY", "another one that is long enough")
    assert policy.key_of("id") == SECRET


def test_only_in_three_places() -> None:
    made = document("duckdb://")
    made["source"]["table"] = "${T}"
    made["columns"]["${C}"] = {"role": "insensitive", "accept": "${R}"}
    made["publish"] = {"to": "$x"}
    section = read(made).section
    assert (section.source.table, section.publish.to) == ("${T}", "$x")
    assert section.columns["${C}"].accept == "${R}"


SINGLE = "holds a single $; write $$ for a dollar, and ${NAME} for a variable"
NAMELESS = "holds a ${ without the name of a variable; write ${NAME}, or $$ for a dollar"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${NOWHERE}", ["the variable NOWHERE is not set in the environment"]),
        ("${A}${B}", [f"the variable {name} is not set in the environment" for name in "AB"]),
        ("pass$word", [SINGLE]),
        ("$NAME", [SINGLE]),
        ("a$", [SINGLE]),
        ("$$$", [SINGLE]),
        ("${", [NAMELESS]),
        ("${}", [NAMELESS]),
        ("${NAME", [NAMELESS]),
        ("${a-b}", [NAMELESS]),
        ("${NAME:-default}", [NAMELESS]),
        ("${1}", [NAMELESS]),
        ("${größe}", [NAMELESS]),
        ("${line\nbreak}", [NAMELESS]),
        ("", ["is empty; expected the address of a database"]),
        ("${EMPTY}", ["is empty; expected the address of a database"]),
    ],
)
def test_mistakes_in_variables(text: str, words: list[str]) -> None:
    found = mistakes(document(text, to=text), environment={"EMPTY": ""})
    assert found == [f"{k}.connection: {each}" for k in ("source", "publish") for each in words]


@pytest.mark.parametrize(("text", "length"), [("too short", 9), ("${SHORT}", 15), ("", 0)])
def test_a_key_is_long(text: str, length: int) -> None:
    assert mistakes(document(key=text), environment={"SHORT": "x" * 15}) == [
        f"columns.id.key: has {length} characters, expected at least 16, such as random ones"
    ]


def test_among_all_other_mistakes() -> None:
    made = {**document("${A}", "${B}", "${C}"), "others": "keep", "subject": 3}
    assert [line.split(":")[0] for line in mistakes(made, environment={"B": "short"})] == [
        "others",
        "subject",
        "source.connection",
        "columns.id.key",
        "publish.connection",
    ]


@pytest.mark.parametrize("value", [1234567890123456, ["hidden word"], {"hidden word": 1}, True])
def test_what_is_no_text_is_not_shown_either(value: Any) -> None:
    assert mistakes(document(value, value, value)) == [
        f"{place}: found no text, expected text"
        for place in ("source.connection", "columns.id.key", "publish.connection")
    ]


def test_a_column_called_key_is_no_secret() -> None:
    (line,) = mistakes({**BASE, "columns": {"key": {"role": "secret"}}})
    assert line.startswith("columns.key.role: found 'secret', expected ")


NONSENSE = st.recursive(
    st.none() | st.text() | st.integers(), lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["source", "columns", "connection", "key", "id"]), inner,
                      max_size=3), max_leaves=6,
)  # fmt: skip


@given(NONSENSE, NONSENSE, NONSENSE)
def test_nonsense_is_refused_in_words(source: Any, columns: Any, publish: Any) -> None:
    with pytest.raises(PolicyError):
        parse_policy({"source": source, "columns": columns, "publish": publish}, environment={})


SECRETS = st.text("abcdefghijklmnopqrstuvwxyzABZ019%:/@'\"\\\n\t é", min_size=16, max_size=40)


@given(SECRETS)
def test_secrets_are_in_no_message_fingerprint_or_repr(secret: str) -> None:
    made = document("${SECRET}", "${SECRET}", "${SECRET}")
    policy = read(made, SECRET=secret)
    assert policy.fingerprint == read(made, SECRET="another one, long enough").fingerprint
    shown = [repr(policy), str(policy), repr(policy.section), policy.section.model_dump_json()]
    shown += mistakes({**made, "others": "keep"}, environment={"SECRET": secret})
    shown += [policy.hide(f"Database {secret!r} at {secret}: no such {secret} file")]
    for text in shown:
        assert secret not in text
        assert repr(secret)[1:-1] not in text


def test_a_secret_that_is_written_out_is_not_shown_either() -> None:
    policy = read(document("postgresql://me:hidden@host/db", SECRET, "postgresql://me:hidden@h"))
    for text in (repr(policy), str(policy.section), str(policy.section.columns["id"])):
        assert SECRET not in text
        assert "hidden" not in text
    assert policy.fingerprint == read(document("postgresql://me:hidden@host/db", SECRET[::-1],
                                               "postgresql://me:hidden@h")).fingerprint  # fmt: skip


@pytest.mark.parametrize(
    ("value", "said", "shown"),
    [
        ("hunter2", "no user 'hunter2' here", "no user '${V}' here"),
        ("duckdb:///ware.db", "Database /home/ware.db is missing",
         "Database /home/${V} is missing"),
        ("a", "a table of a database", "${V} table of ${V} database"),
        ("p%40ssword", "wrong: p@ssword", "wrong: ${V}"),
        ("it's", 'not "it\'s"', 'not "${V}"'),
        ("", "all is well", "all is well"),
        ("duckdb:///dir/ware.db", "File ware.db is not a DuckDB database",
         "File ${V}.db is not a DuckDB database"),
        ("postgresql://nurse:hunter2@host/ward", "table 'ward.public.people' exists, not forward",
         "table '${V}.public.people' exists, not forward"),
        ("postgresql://nurse:hunter2@host/ward", 'password authentication failed for user "nurse"',
         'password authentication failed for user "${V}"'),
        ("postgresql://host/ward?user=nurse&password=hunter2", "nurse has no hunter2", HIDDEN),
        ("postgresql://nurse:hunter2%40home@host/ward", "at home", HIDDEN),
        ("host=ward password=hunter2", "there is no ward", HIDDEN),
        ("postgresql://me:hunter2@host/db", "no password 'hunter2' for postgresql",
         HIDDEN),
    ],
)  # fmt: skip
def test_hiding(value: str, said: str, shown: str) -> None:
    policy = read(document("x${V}"), V=value)
    assert policy.hide(said) == shown


@pytest.mark.parametrize(
    ("key", "said", "shown"),
    [
        ("${V}", f"near '{SECRET}'", "near '${V}'"),
        ("a${V}", f"near 'a{SECRET}'", "near '${V}'"),
        ("$$" + SECRET, f"near '${SECRET}'", "near '(the key)'"),
        (SECRET, f"near '{SECRET}'", "near '(the key)'"),
        ("${V}", "near 'correct hor…", HIDDEN),
        ("${V}", "near '…y staple'", HIDDEN),
        ("${V}", "a horse is not correct", "a horse is not correct"),
    ],
)
def test_hiding_keys(key: str, said: str, shown: str) -> None:
    assert read(document(key=key), V=SECRET).hide(said) == shown


def test_hiding_several() -> None:
    made = document("postgresql://${A}:${B}@host/db")
    policy = read(made, A="user", B="A")
    assert policy.hide("user A, user:A, userA") == "${A} ${B}, ${A}:${B}, ${A}A"
    assert read(BASE).hide("all is well") == "all is well"


def test_variables_leave_the_fingerprint_to_the_text() -> None:
    plain, variable = (read(document(each), DB="duckdb://x") for each in ("duckdb://x", "${DB}"))
    assert plain.fingerprint != variable.fingerprint
    assert plain.source_connection() == variable.source_connection()


def test_keys_that_say_the_default_leave_the_fingerprint_alone() -> None:
    said: dict[str, Any] = copy.deepcopy(BASE)
    said["columns"]["age"] |= {"output": "label", "open_ends": None, "weight": 1}
    said |= {"publish": {"mode": "table", "order": "sorted"}, "suppression": {"rows": "leave_out"}}
    assert parse_policy(said).fingerprint == parse_policy(BASE).fingerprint
    said["publish"]["order"] = "shuffled"
    assert parse_policy(said).fingerprint != parse_policy(BASE).fingerprint


def test_a_policy_can_be_copied() -> None:
    policy = read(document("${DB}"), DB="duckdb:///x")
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other == policy
        assert other.source_connection() == "duckdb:///x"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A folder with a policy whose database is named by ${WAREHOUSE}."""
    (tmp_path / "people.csv").write_text(CSV)
    with duckdb.connect(tmp_path / "hidden-name.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'people.csv'}'")
    write_folder(tmp_path, changed(source={"connection": "${WAREHOUSE}", "table": "people"}))
    return tmp_path


def test_a_source_named_by_a_variable(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", "duckdb:///hidden-name.duckdb")
    with sqlanon.load(warehouse / "policy.yml") as anonymizer:
        result = anonymizer.search()
    assert result.solutions
    assert "hidden-name" not in str(result.to_dict())


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("duckdb:///hidden-file.duckdb", "/${WAREHOUSE} does not exist"),
        ("duckdb://hidden-file.duckdb", "'${WAREHOUSE}' lacks a slash"),
        ("hidden-file", "'${WAREHOUSE}' is not the address of a database"),
        ("mysql://user:hidden-file@host/db", "'mysql' in '${WAREHOUSE}' is not a known engine"),
        ("duckdb:///hidden-file/../people.csv", "/${WAREHOUSE} "),
    ],
)
def test_a_database_that_cannot_be_opened(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("WAREHOUSE", address)
    with pytest.raises(EngineError) as caught:
        sqlanon.load(warehouse / "policy.yml")
    assert said in str(caught.value)
    assert "hidden-file" not in str(caught.value)


def test_no_secret_in_the_output_of_a_command(warehouse: Path, run: Run) -> None:
    arguments = ("-v", "measure", "policy.yml", "--scheme", "scheme.json")
    done = process(warehouse, *arguments, WAREHOUSE="duckdb:///hidden-name.duckdb")
    assert done.status == 0
    assert "hidden-name" not in done.out + done.err
    said = message(1, run("measure", "policy.yml", "--scheme", "scheme.json"))
    assert said.splitlines()[1:] == [
        "  source.connection: the variable WAREHOUSE is not set in the environment"
    ]
