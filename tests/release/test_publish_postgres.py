"""Publishing on PostgreSQL: what a release keeps, what is refused, and what other connections see.

Expected classes are counted by hand: towns a and b have four people each, town c has one.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from golden_files import assert_golden
from postgres_server import Database

import sqlanon
from sqlanon.engines import Engine, open_engine
from sqlanon.engines.postgres import PostgresEngine
from sqlanon.errors import EngineError, PublishError, UnknownOutcomeError
from sqlanon.release.pending import table_holds

PEOPLE = [(n, 20 + n, "aaaabbbbc"[n], "xyzw"[n % 4]) for n in range(9)]
KEPT = [
    ("a", "w"),
    ("a", "x"),
    ("a", "y"),
    ("a", "z"),
    ("b", "w"),
    ("b", "x"),
    ("b", "y"),
    ("b", "z"),
]


@pytest.fixture
def people(postgres: Database) -> Database:
    postgres.run("CREATE TABLE people (id int PRIMARY KEY, age int, town text NOT NULL, ill text)")
    postgres.insert("people", PEOPLE)
    return postgres


def policy(database: Database, user: str = "postgres", **changes: Any) -> dict[str, Any]:
    return {
        "source": {"connection": database.server.address(database.name, user), "table": "people"},
        "columns": {
            "id": {"role": "identifying"},
            "age": {"role": "quasi", "range": [20, 30], "granularity": 10},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 2, "l_diversity": {"l": 2}},
        "suppression": {"limit": 0.2},
        "publish": {"to": "anon"},
    } | changes


def publish(document: dict[str, Any], folder: Path | None = None) -> sqlanon.Release:
    with sqlanon.load(document) as anonymizer:
        return anonymizer.publish(anonymizer.search(seed=1), certificates=folder)


REPLACE = {"publish": {"mode": "replace"}}


def rights(database: Database, table: str) -> list[tuple[str, str]]:
    return sorted(
        database.rows(
            "SELECT COALESCE(CAST(r.rolname AS text), 'public'), a.privilege_type "
            "FROM pg_class AS c "
            "CROSS JOIN LATERAL aclexplode(c.relacl) AS a "
            "LEFT JOIN pg_roles AS r ON r.oid = a.grantee "
            f"WHERE c.oid = to_regclass('{table}') AND a.grantee <> c.relowner"
        )
    )


@pytest.fixture
def roles(people: Database) -> Database:
    people.run(
        "DROP ROLE IF EXISTS analyst", "DROP ROLE IF EXISTS snoop", "DROP ROLE IF EXISTS owner",
        "CREATE ROLE analyst LOGIN", "CREATE ROLE snoop LOGIN", "CREATE ROLE owner LOGIN",
        "GRANT USAGE, CREATE ON SCHEMA public TO owner",
    )  # fmt: skip
    return people


@pytest.fixture
def run_as_owner(roles: Database) -> str:
    """A role that owns the table, and not the database."""
    roles.run("ALTER TABLE people OWNER TO owner")
    return "owner"


def test_a_table_a_view_and_a_replaced_table_hold_the_same_rows(
    people: Database, tmp_path: Path
) -> None:
    for mode in ("table", "view"):
        place = {"to": f"a_{mode}", "mode": mode}
        for _ in range(2):  # the second one replaces the first
            release = publish(policy(people, publish=place), tmp_path)
            assert (release.rows, release.left_out, release.k) == (8, 1, 4)
        assert sorted(people.rows(f"SELECT town, ill FROM a_{mode}")) == KEPT
    options = "SELECT CAST(reloptions AS text) FROM pg_class WHERE relname = 'a_view'"
    assert people.rows(options) == [("{security_barrier=true}",)]
    with pytest.raises(PublishError, match=r"bound to it .*the view public\.a_view, which needs"):
        publish(policy(people, **REPLACE))
    people.run("DROP VIEW a_view")
    assert publish(policy(people, **REPLACE), tmp_path).rows == 8
    assert sorted(people.rows("SELECT town, ill FROM people")) == KEPT
    found = sqlanon.checking.recheck(
        people.address, tmp_path / "people.certificate.json", table="people"
    )
    assert found.holds


def test_a_replaced_table_keeps_owner_rights_comments_and_indexes(roles: Database) -> None:
    roles.run(
        "CREATE INDEX by_ill ON people (ill) WHERE ill <> 'q'",
        "CREATE INDEX by_age ON people (age)",
        "CREATE UNIQUE INDEX by_all ON people (id, ill)",
        "COMMENT ON TABLE people IS 'the ward'",
        "COMMENT ON COLUMN people.ill IS 'ICD'",
        "GRANT SELECT ON people TO analyst WITH GRANT OPTION",
        "GRANT UPDATE (ill) ON people TO snoop",
        "ALTER TABLE people OWNER TO owner",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO snoop",
    )
    before = rights(roles, "people")
    assert before == [("analyst", "SELECT")]
    with sqlanon.load(policy(roles, **REPLACE)) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        foreseen = anonymizer.losses(scheme)
        release = anonymizer.publish(scheme)
    assert rights(roles, "people") == before
    assert roles.rows(
        "SELECT CAST(tableowner AS text) FROM pg_tables WHERE tablename = 'people'"
    ) == [("owner",)]
    assert roles.rows("SELECT indexdef FROM pg_indexes WHERE tablename = 'people'") == [
        ("CREATE INDEX by_ill ON public.people USING btree (ill) WHERE (ill <> 'q'::text)",)
    ]
    assert roles.rows(
        "SELECT obj_description(a.attrelid), col_description(a.attrelid, a.attnum), a.attnotnull, "
        "CAST(a.attname AS text), CAST(a.attacl AS text) FROM pg_attribute AS a "
        "WHERE a.attrelid = to_regclass('people') AND a.attnum > 0 AND NOT a.attisdropped "
        "ORDER BY a.attnum"
    ) == [
        ("the ward", None, False, "age", None),
        ("the ward", None, True, "town", None),
        ("the ward", "ICD", False, "ill", "{snoop=w/owner}"),
    ]
    lost = ["the constraint people_pkey PRIMARY KEY (id) is gone",
            "the index 'by_age' is gone", "the index 'by_all' is gone"]  # fmt: skip
    assert list(release.lost) == lost
    assert [text for text in foreseen if text in lost] == lost


BOUND = [
    ("CREATE VIEW seen AS SELECT * FROM people", "the view public.seen, which needs 'age', 'id'"),
    ("CREATE MATERIALIZED VIEW kept AS SELECT age FROM people",
     "the materialized view public.kept, which needs 'age' as before"),
    ("CREATE RULE quiet AS ON DELETE TO people DO INSTEAD NOTHING", "the rule quiet"),
    ("CREATE POLICY own ON people USING (age > 3)", "the row security policy own, which needs"),
    ("CREATE PUBLICATION feed FOR TABLE people", "the publication feed"),
    ("CREATE TABLE child () INHERITS (people)", "the inheritance of"),
    ("CREATE TABLE other (p people)", "column p of table"),
    ("CREATE TRIGGER t AFTER UPDATE OF age ON people FOR EACH ROW EXECUTE FUNCTION "
     "suppress_redundant_updates_trigger()", "the trigger t, which needs 'age' as before"),
    ("CREATE FUNCTION n() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT COUNT(*) FROM people; "
     "END", "function"),
    ("ANALYZE people", None),
    ("ALTER TABLE people ALTER town SET STATISTICS 0", "the statistics target 0 of column town"),
    ("CREATE TABLE visits (id int REFERENCES people)", "foreign keys of other tables"),
]  # fmt: skip


def test_what_is_bound_to_a_replaced_table_is_refused_by_name(people: Database) -> None:
    with sqlanon.load(policy(people)) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
    with sqlanon.load(policy(people, **REPLACE)) as anonymizer:
        for statement, named in BOUND:
            people.run(statement)
            if named is None:
                continue
            with pytest.raises(PublishError, match="cannot be replaced") as caught:
                anonymizer.publish(scheme)
            assert named in str(caught.value), statement
            assert people.rows("SELECT COUNT(*) FROM people") == [(9,)]


def test_what_fits_the_release_stays_bound_to_its_table(roles: Database) -> None:
    """The rows are replaced within the table; no trigger and no copy keeps or spreads them."""
    roles.run(
        "CREATE TABLE log (was text)",
        "CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO log VALUES (TG_OP); RETURN NULL; END $$",
        "CREATE TRIGGER logs AFTER INSERT OR DELETE OR UPDATE ON people "
        "FOR EACH ROW EXECUTE FUNCTION logged()",
        "CREATE TRIGGER empties AFTER TRUNCATE ON people EXECUTE FUNCTION logged()",
        "ALTER TABLE people ENABLE ALWAYS TRIGGER empties",
        "CREATE TRIGGER off AFTER INSERT ON people EXECUTE FUNCTION logged()",
        "ALTER TABLE people DISABLE TRIGGER off",
        "ALTER TABLE people ADD CHECK (ill <> 'q'), ADD CHECK (age > 3)",
        "CREATE INDEX by_ill ON people (ill)",
        "CREATE INDEX by_both ON people (ill, age)",
        "CREATE STATISTICS pairs ON town, ill FROM people",
        "ALTER TABLE people ALTER ill SET DEFAULT 'none', ALTER age SET DEFAULT 7",
        "CREATE VIEW seen AS SELECT town, COUNT(*) AS n FROM people GROUP BY town",
        "CREATE MATERIALIZED VIEW kept AS SELECT ill FROM people",
        "CREATE MATERIALIZED VIEW sums AS SELECT MAX(n) AS n FROM seen",
        "ANALYZE",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON people TO analyst USING (town = 'a')",
        "GRANT SELECT ON people TO analyst",
    )
    same = "SELECT CAST(to_regclass('people') AS oid)"
    before = roles.rows(same)
    stats = (
        "SELECT concat(most_common_vals, histogram_bounds) FROM pg_stats "
        "WHERE tablename IN ('people', 'kept')"
    )
    raw = re.compile(r"\b2[1-8]\b|\bc\b")
    assert any(raw.search(row) for (row,) in roles.rows(stats))
    with sqlanon.load(policy(roles, **REPLACE)) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        foreseen = anonymizer.losses(scheme)
        statements = anonymizer.dry_run(scheme)
        release = anonymizer.publish(scheme)
    assert re.sub("_stage_[0-9a-f]+", "_stage", "\n".join(release.statements)) == "\n".join(
        statements[1:-1]
    )
    assert roles.rows(same) == before
    assert sorted(roles.rows("SELECT town, ill FROM people")) == KEPT
    assert roles.rows("SELECT town, n FROM seen ORDER BY 1") == [("a", 4), ("b", 4)]
    assert len(roles.rows("SELECT ill FROM kept")) == 8
    assert roles.rows("SELECT n FROM sums") == [(4,)]
    assert {each for (each,) in roles.rows("SELECT town FROM people", user="analyst")} == {"a"}
    assert roles.rows("SELECT * FROM log") == []
    assert roles.rows(
        "SELECT CAST(tgname AS text), CAST(tgenabled AS text) FROM pg_trigger "
        "WHERE tgrelid = to_regclass('people') ORDER BY 1"
    ) == [("empties", "A"), ("logs", "O"), ("off", "D")]
    assert [row for (row,) in roles.rows(stats) if raw.search(row)] == []
    lost = [
        "the constraint people_age_check CHECK ((age > 3)) is gone",
        "the constraint people_pkey PRIMARY KEY (id) is gone",
        "the index 'by_both' is gone",
        "the default 7 of column 'age' is gone",
        "the view public.seen stays as it is",
        "the materialized view public.kept is refreshed",
        "the materialized view public.sums is refreshed",
        "the trigger empties stays, but does not run for this change",
        "the trigger logs stays, but does not run for this change",
        "the trigger off stays, but does not run for this change",
        "the row security policy own stays as it is",
        "row level security stays as it is",
    ]
    assert list(release.lost) == lost
    assert [text for text in foreseen if text in lost] == lost
    assert roles.rows("SELECT COUNT(*) FROM pg_statistic_ext") == [(1,)]
    roles.run("INSERT INTO people (town) VALUES ('a')")
    assert roles.rows("SELECT was FROM log") == [("INSERT",)]
    assert ("none",) in roles.rows("SELECT ill FROM people")


def files_with(database: Database, text: bytes) -> list[Path]:
    """The files of a database on the disk that hold a text."""
    database.run("CHECKPOINT")
    ((number,),) = database.rows(
        f"SELECT CAST(oid AS text) FROM pg_database WHERE datname = '{database.name}'"
    )
    folder = database.server.folder / "data" / "base" / number
    return [each for each in folder.iterdir() if text in each.read_bytes()]


@pytest.fixture
def named(people: Database) -> Database:
    """Names of people in the table, its statistics and a materialized view."""
    people.run(
        "ALTER TABLE people ADD name text",
        "UPDATE people SET name = 'the-name-of-' || id",
        "ANALYZE people",
    )
    return people


@pytest.mark.parametrize("bound", [None, "CREATE VIEW seen AS SELECT town FROM people"])
@pytest.mark.parametrize("rewrite", [True, False])
def test_a_rewrite_leaves_no_raw_value_in_the_files(
    named: Database, bound: str | None, rewrite: bool
) -> None:
    document = policy(named, **REPLACE)
    document["columns"]["name"] = {"role": "identifying"}
    if bound:
        named.run(bound)
    assert files_with(named, b"the-name-of-")
    with sqlanon.load(document) as anonymizer:
        release = anonymizer.publish(anonymizer.search(seed=1), rewrite=rewrite)
    assert ("until it is vacuumed" in " ".join(release.remains)) is not rewrite
    assert bool(files_with(named, b"the-name-of-")) is not rewrite


def test_a_rewrite_that_fails_leaves_the_release_and_says_so(
    named: Database, run_as_owner: str
) -> None:
    document = policy(named, run_as_owner, **REPLACE)
    document["columns"]["name"] = {"role": "identifying"}
    with sqlanon.load(document) as anonymizer:
        found = anonymizer.search(seed=1)
        with pytest.raises(EngineError, match=r"was published as .*owner of the database") as error:
            anonymizer.publish(found, rewrite=True)
    assert "VACUUM FULL pg_catalog.pg_statistic" in str(error.value)
    assert "Nothing was changed" not in str(error.value)
    assert sorted(named.rows("SELECT town, ill FROM people")) == KEPT


def test_a_rewrite_says_what_still_sees_the_former_rows(named: Database) -> None:
    document = policy(named, **REPLACE)
    document["columns"]["name"] = {"role": "identifying"}
    with closing(named.connect()) as other, closing(other.cursor()) as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT 1")
        cursor.fetchall()
        with (
            sqlanon.load(document) as anonymizer,
            pytest.raises(EngineError, match=r"was published as .* the session with process id"),
        ):
            anonymizer.publish(anonymizer.search(seed=1), rewrite=True)
    assert sorted(named.rows("SELECT town, ill FROM people")) == KEPT


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("ALTER TABLE people ADD CONSTRAINT one UNIQUE (town, ill, age)", None),
        ("ALTER TABLE people ADD CONSTRAINT one UNIQUE (id)", None),
        ("CREATE UNIQUE INDEX one ON people (ill) WHERE town = 'c'", None),
        ("ALTER TABLE people ADD CONSTRAINT few CHECK (ill <> 'w') NOT VALID", "few"),
    ],
)
def test_a_constraint_that_stays_holds_for_the_release(
    people: Database, change: str, found: str | None
) -> None:
    people.run(change, "CREATE VIEW seen AS SELECT town FROM people")
    if found is None:
        assert publish(policy(people, **REPLACE)).rows == 8
        return
    with pytest.raises(PublishError, match=found):
        publish(policy(people, **REPLACE))
    assert people.rows("SELECT COUNT(*), MAX(age) FROM people") == [(9, 28)]


def test_a_release_in_place_agrees_with_its_certificate(people: Database, tmp_path: Path) -> None:
    """Also where the answer to COMMIT is lost: the next run finishes the certificate."""
    people.run("CREATE VIEW seen AS SELECT town FROM people")
    release = publish(policy(people, **REPLACE), tmp_path)
    assert [each.name for each in release.columns] == ["town", "ill", "age"]
    path = tmp_path / "people.certificate.json"
    assert sqlanon.checking.recheck(people.address, path, table="people").holds
    with closing(open_engine(people.address)) as engine:
        table = engine.table("people")
        assert table_holds(engine, table, release.certificate) == release.table_hash
    people.run("UPDATE people SET ill = 'x' WHERE ctid = (SELECT MIN(ctid) FROM people WHERE ill "
               "<> 'x')")  # fmt: skip
    assert not sqlanon.checking.recheck(people.address, path, table="people").holds


def test_generated_and_identity_columns_in_place(people: Database) -> None:
    people.run(
        "ALTER TABLE people ADD twice int GENERATED ALWAYS AS (age * 2) STORED",
        "ALTER TABLE people ADD n int GENERATED ALWAYS AS IDENTITY",
        "CREATE VIEW seen AS SELECT n FROM people",
    )
    document = policy(people, **REPLACE)
    document["columns"] |= {
        "twice": {"role": "insensitive"},
        "n": {"role": "insensitive"},
    }
    release = publish(document)
    assert "the generated column 'twice' holds plain values now" in release.lost
    assert [row[0] for row in people.rows("SELECT n FROM seen ORDER BY 1")] == list(range(1, 9))
    assert people.rows("SELECT MIN(twice), MAX(twice) FROM people") == [(40, 54)]


def test_a_publication_whose_columns_stay_replicates_the_release(people: Database) -> None:
    people.run(
        "ALTER TABLE people DROP id, DROP age",
        "CREATE PUBLICATION feed FOR TABLE people WITH (publish = 'insert')",
    )
    document = policy(people, **REPLACE)
    del document["columns"]["id"], document["columns"]["age"]
    with pytest.raises(PublishError, match="the publication feed"):
        publish(document)
    people.run("ALTER PUBLICATION feed SET (publish = 'insert, truncate')")
    assert "the publication feed stays as it is" in publish(document).lost
    assert sorted(people.rows("SELECT town, ill FROM people")) == KEPT
    assert people.rows("SELECT CAST(tablename AS text) FROM pg_publication_tables") == [("people",)]


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("json", '{"a": 1}'),
        ("xml", "<a/>"),
        ("point", "(1,2)"),
        ("int[]", "{1,2}"),
        ("interval", "1 mon"),
        ("bytea", "x"),
        ("jsonpath", "$.a"),
    ],
)
@pytest.mark.parametrize("limit", [0, 0.2])
def test_columns_of_every_type_are_released_as_they_are(
    people: Database, type_: str, value: str, limit: float
) -> None:
    people.run(f"ALTER TABLE people ADD extra {type_} DEFAULT '{value}'")
    document = policy(people, suppression={"limit": limit})
    document["columns"]["extra"] = {"role": "insensitive"}
    if not limit:
        people.run("DELETE FROM people WHERE town = 'c'")
    assert publish(document).rows == 8
    assert people.rows(
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT CAST(extra AS text)) AS d FROM anon "
        f"WHERE CAST(extra AS text) = CAST(CAST('{value}' AS {type_}) AS text)"
    ) == [(8, 1)]


def test_a_table_that_is_a_part_or_has_parts_cannot_be_replaced(people: Database) -> None:
    people.run(
        "ALTER TABLE people RENAME TO whole_1",
        "CREATE TABLE people (id int, age int, town text, ill text) PARTITION BY LIST (town)",
        "ALTER TABLE whole_1 ALTER town DROP NOT NULL",
        "ALTER TABLE people ATTACH PARTITION whole_1 DEFAULT",
    )
    with pytest.raises(PublishError, match="its partitions"):
        publish(policy(people, **REPLACE))
    part = policy(people, **REPLACE)
    part["source"]["table"] = "whole_1"
    with pytest.raises(PublishError, match="the inheritance of"):
        publish(part)
    assert publish(policy(people)).rows == 8


def test_a_release_keeps_the_rights_of_the_former_and_takes_no_others(roles: Database) -> None:
    publish(policy(roles))
    roles.run("GRANT SELECT ON anon TO analyst")
    roles.run("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO snoop")
    publish(policy(roles))
    assert rights(roles, "anon") == [("analyst", "SELECT")]
    publish(policy(roles, publish={"to": "seen", "mode": "view"}))
    roles.run("REVOKE ALL ON seen FROM snoop", "GRANT SELECT ON seen TO analyst")
    publish(policy(roles, publish={"to": "seen", "mode": "view"}))
    assert rights(roles, "seen") == [("analyst", "SELECT")]


def test_subjects_and_keys_leave_no_trace_in_the_table(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dropped column stays in the file of a table: the release has never had one."""
    monkeypatch.setenv("KEY", "0123456789abcdef-key-of-the-ward")
    people.run("INSERT INTO people SELECT id + 100, age, town, ill FROM people")
    people.run("ALTER TABLE people ADD who int", "UPDATE people SET who = id % 100")
    document = policy(people, subject="who")
    document.pop("one_row_per_person")
    document["columns"]["who"] = {
        "role": "pseudonym",
        "stable": True,
        "key": "${KEY}",
        "accept": "a test",
    }
    document["columns"]["id"] = {"role": "identifying"}
    for mode in ("table", "replace"):
        place = {"to": "anon"} if mode == "table" else {}
        release = publish(document | {"publish": {"mode": mode} | place})
        assert (release.rows, release.facts.audited.people, release.k) == (16, 8, 4)
        name = "anon" if mode == "table" else "people"
        assert people.rows(
            "SELECT COUNT(*) FILTER (WHERE attisdropped) FROM pg_attribute "
            f"WHERE attrelid = to_regclass('{name}')"
        ) == [(0,)]
        (found,) = people.rows(f"SELECT MIN(length(who)), COUNT(DISTINCT who) FROM {name}")
        assert found == (32, 8)
    # SHA-256 of the key and of SHA-256 of key and value, by PostgreSQL itself.
    assert people.rows(
        "WITH k AS (SELECT '0123456789abcdef-key-of-the-ward' AS k), i AS (SELECT k, "
        "encode(sha256(convert_to(k || '0', 'UTF8')), 'hex') AS h FROM k) SELECT COUNT(*) FROM i "
        "JOIN people ON who = left(encode(sha256(convert_to(k || h, 'UTF8')), 'hex'), 32)"
    ) == [(2,)]


def before_the_swap(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], first: str = "LOCK TABLE"
) -> None:
    """Another connection acts once the release is verified, before anything is locked."""
    usual = PostgresEngine.run

    def run(self: PostgresEngine, statement: Any, parameters: Any = None) -> None:
        if str(statement).startswith(first):
            act()
        usual(self, statement, parameters)

    monkeypatch.setattr(PostgresEngine, "run", run)


@pytest.mark.parametrize(
    "change",
    [
        "REVOKE SELECT ON people FROM analyst",
        "GRANT UPDATE (town) ON people TO snoop",
        "COMMENT ON COLUMN people.age IS 'in years'",
        "CREATE INDEX later ON people (town)",
        "CREATE TRIGGER later BEFORE UPDATE ON people FOR EACH ROW "
        "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "CREATE PUBLICATION later FOR TABLE people",
    ],
)
def test_what_hangs_on_a_table_is_never_lost(
    roles: Database, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    roles.run("GRANT SELECT ON people TO analyst")
    with sqlanon.load(policy(roles, **REPLACE)) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        before_the_swap(monkeypatch, lambda: roles.run(change))
        with pytest.raises(PublishError, match=r"another connection has changed .*its rights"):
            anonymizer.publish(scheme)
        monkeypatch.undo()
    assert roles.rows("SELECT COUNT(*) FROM people") == [(9,)]


def test_another_connection_that_waits_for_the_table_is_not_waited_for(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = PostgresEngine.refuse_changed
    threads: list[threading.Thread] = []

    def refuse_changed(self: PostgresEngine, former: Any) -> None:
        change = "ALTER TABLE people ADD COLUMN extra int"
        threads.append(threading.Thread(target=people.run, args=(change,)))
        threads[0].start()
        waiting = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted"
        while people.rows(waiting) == [(0,)]:
            time.sleep(0.02)
        usual(self, former)

    monkeypatch.setattr(PostgresEngine, "refuse_changed", refuse_changed)
    start = time.monotonic()
    with pytest.raises(PublishError, match=r"or waits to do so; publish again"):
        publish(policy(people, **REPLACE))
    assert time.monotonic() - start < 15  # the server ends a wait after 20 s in the tests
    threads[0].join(30)
    found = people.rows("SELECT COUNT(extra) AS extra, COUNT(*) AS n FROM people")
    assert found == [(0, 9)]


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO people VALUES (77, 25, 'a', 'x')",
        "UPDATE people SET ill = 'new' WHERE id = 1",
        "DELETE FROM people WHERE id = 1",
    ],
)
def test_rows_that_come_in_meanwhile_are_never_lost(
    people: Database, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    document = policy(people, **REPLACE)
    with sqlanon.load(document) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        before_the_swap(monkeypatch, lambda: people.run(change))
        with pytest.raises(PublishError, match=r"another connection has changed .*people"):
            anonymizer.publish(scheme)
    monkeypatch.undo()
    expected = {"I": 10, "U": 9, "D": 8}[change[0]]
    assert people.rows("SELECT COUNT(*) FROM people") == [(expected,)]
    assert people.rows("SELECT COUNT(*) FROM pg_class WHERE relname LIKE 'sqlanon%'") == [(0,)]


def test_a_release_is_of_one_moment(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others write after it was begun is not in it, and does not hinder it."""
    usual = PostgresEngine.run

    def run(self: PostgresEngine, statement: Any, parameters: Any = None) -> None:
        if str(statement).startswith("CREATE TABLE"):
            people.run("DELETE FROM people WHERE id < 4")
        usual(self, statement, parameters)

    monkeypatch.setattr(PostgresEngine, "run", run)
    assert publish(policy(people)).rows == 8


def test_a_table_that_took_the_name_meanwhile_stays(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = "CREATE TABLE anon AS SELECT 'mine' AS a"
    before_the_swap(monkeypatch, lambda: people.run(mine), "ALTER TABLE")
    with pytest.raises(PublishError, match='relation "anon" already exists'):
        publish(policy(people))
    monkeypatch.undo()
    assert people.rows("SELECT a FROM anon") == [("mine",)]


def end_backend(engine: Engine, database: Database) -> None:
    (row,) = engine.fetch("SELECT pg_catalog.pg_backend_pid() AS pid").to_pylist()
    database.rows(f"SELECT pg_terminate_backend({row['pid']}, 10000)")


@pytest.mark.parametrize("committed", [True, False])
def test_a_lost_answer_to_commit_leaves_the_certificate_to_the_next_run(
    people: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    usual = PostgresEngine.run

    def run(self: PostgresEngine, statement: Any, parameters: Any = None) -> None:
        if statement == "COMMIT":
            if committed:
                usual(self, statement, parameters)
            end_backend(self, people)
            statement = "COMMIT"
        usual(self, statement, parameters)

    monkeypatch.setattr(PostgresEngine, "run", run)
    with pytest.raises(UnknownOutcomeError, match="may be published or not"):
        publish(policy(people), tmp_path)
    monkeypatch.undo()
    (kept,) = tmp_path.iterdir()
    assert (kept / "anon.certificate.json").exists()
    assert people.rows("SELECT COUNT(*) FROM pg_class WHERE relname = 'anon'") == [(committed,)]
    release = publish(policy(people), tmp_path)
    assert len(release.certificate.document.lineage.earlier) == committed
    assert len(list(tmp_path.iterdir())) == 4
    found = sqlanon.checking.recheck(
        people.address, tmp_path / "anon.certificate.json", table="anon"
    )
    assert found.holds


def test_a_transaction_that_failed_unseen_is_not_called_published(
    people: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL answers its COMMIT with ROLLBACK, and no error."""
    usual = PostgresEngine.commit

    def commit(self: PostgresEngine) -> None:
        with pytest.raises(EngineError):
            self.run("SELECT 1 / 0")
        usual(self)

    monkeypatch.setattr(PostgresEngine, "commit", commit)
    with pytest.raises(PublishError, match=r"25P02.*Nothing was changed"):
        publish(policy(people), tmp_path)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import json, os, signal, sys
import sqlanon
def kill(stage):
    if stage == "committing":
        os.kill(os.getpid(), signal.SIGKILL)
with sqlanon.load(json.loads(sys.argv[1])) as anonymizer:
    anonymizer.publish(anonymizer.search(seed=1), certificates=sys.argv[2], on_stage=kill)
"""


@pytest.mark.parametrize("mode", ["table", "view"])
def test_a_first_release_that_was_killed_hinders_no_other(
    people: Database, tmp_path: Path, mode: str
) -> None:
    document = policy(people, publish={"to": "anon", "mode": mode})
    arguments = [json.dumps(document), str(tmp_path)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    release = publish(document, tmp_path)
    assert (release.rows, release.certificate.document.lineage.earlier) == (8, ())
    assert len(list(tmp_path.iterdir())) == 4


def test_writers_wait_for_the_swap_alone(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the lock another connection reads and writes; during it readers go on."""
    seen: list[str] = []
    usual = PostgresEngine.refuse_changed

    def refuse_changed(self: PostgresEngine, table: Any) -> None:
        seen.append(f"read {people.rows('SELECT COUNT(*) FROM people')[0][0]}")
        with pytest.raises(Exception, match="lock timeout"):
            people.run("SET lock_timeout = '100ms'", "DELETE FROM people")
        seen.append("waited")
        usual(self, table)

    before_the_swap(monkeypatch, lambda: people.run("UPDATE other SET a = a"))
    monkeypatch.setattr(PostgresEngine, "refuse_changed", refuse_changed)
    people.run("CREATE TABLE other AS SELECT 1 AS a")
    publish(policy(people, **REPLACE))
    assert seen == ["read 9", "waited"]


def test_a_reader_with_an_open_transaction_is_waited_for(people: Database) -> None:
    """The swap waits for readers, and they go on with what they saw."""
    with sqlanon.load(policy(people, **REPLACE)) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        with closing(people.connect()) as reader, closing(reader.cursor()) as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT COUNT(*) FROM people")
            thread = threading.Thread(target=anonymizer.publish, args=(scheme,))
            thread.start()
            time.sleep(0.5)
            assert thread.is_alive()
            cursor.execute("SELECT COUNT(*) AS n FROM people")
            assert cursor.fetch_arrow_table().to_pylist() == [{"n": 9}]
            cursor.execute("COMMIT")
            thread.join(30)
    assert people.rows("SELECT COUNT(*) FROM people") == [(8,)]


def test_inside_a_transaction_of_the_caller(people: Database, tmp_path: Path) -> None:
    document = policy(people)
    document["source"] = {"table": "people"}
    with closing(people.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN")
        with sqlanon.load(document, connection=connection) as anonymizer:
            scheme = anonymizer.search(seed=1).solution.scheme
            with pytest.raises(EngineError, match="ISOLATION LEVEL REPEATABLE READ"):
                anonymizer.publish(scheme)
            cursor.execute("ROLLBACK")
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            release = anonymizer.publish(scheme)
            assert people.rows("SELECT COUNT(*) FROM pg_class WHERE relname = 'anon'") == [(0,)]
            cursor.execute("COMMIT")
            release.write_certificate(tmp_path)
        assert people.rows("SELECT COUNT(*) FROM anon") == [(8,)]
        with sqlanon.load(document, connection=connection) as anonymizer:
            assert anonymizer.publish(scheme).rows == 8  # in a transaction of its own


def test_places_that_a_release_cannot_go_to(people: Database, tmp_path: Path) -> None:
    publish(policy(people))
    for place, said in (
        ({"to": "public.people"}, "is the source itself"),
        ({"file": str(tmp_path / "a.csv")}, r"\\copy of psql"),
        ({"to": "a", "connection": "duckdb:///other.duckdb"}, "are of two engines"),
        ({"to": "anon", "mode": "view"}, "is a table, not a view"),
        ({"to": "nowhere.anon"}, "no schema 'nowhere'"),
    ):
        with pytest.raises((PublishError, EngineError), match=said):
            publish(policy(people, publish=place))
    people.run("CREATE TABLE mine (a int)")
    with pytest.raises(PublishError, match="was not made by sqlanon"):
        publish(policy(people, publish={"to": "mine"}))


LEAST = [
    "GRANT CONNECT ON DATABASE {database} TO {role}",
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT ON people TO {role}",
]
"""What counting, searching and checking need; publishing needs what follows too."""
TO_PUBLISH = [
    "GRANT TEMPORARY ON DATABASE {database} TO {role}",
    "CREATE SCHEMA shared AUTHORIZATION {role}",
]


def test_a_role_with_few_rights_is_enough(people: Database) -> None:
    """The rights are those that docs/postgresql.md lists."""
    page = Path(__file__).parents[2] / "docs" / "postgresql.md"
    names = {"database": people.name, "role": "nightly"}
    people.run(
        "DROP ROLE IF EXISTS nightly",
        "CREATE ROLE nightly LOGIN",
        f"REVOKE ALL ON DATABASE {people.name} FROM PUBLIC",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        *(each.format_map(names) for each in LEAST),
    )
    for each in (*LEAST, *TO_PUBLISH):
        shown = each.format(database="ward", role="nightly").replace(
            "ON people", "ON public.people"
        )
        assert shown in page.read_text(encoding="utf-8")
    document = policy(people, "nightly", publish={"to": "shared.anon"})
    address = document["source"]["connection"]
    with sqlanon.load(document) as anonymizer:
        scheme = anonymizer.search(seed=1).solution.scheme
        with pytest.raises((EngineError, PublishError), match="shared"):
            anonymizer.publish(scheme)
        people.run(*(each.format_map(names) for each in TO_PUBLISH))
        assert anonymizer.publish(scheme).rows == 8
        assert anonymizer.publish(scheme).rows == 8
    assert sqlanon.check(address, ["age", "town"], table="shared.anon").k == 4
    with pytest.raises((EngineError, PublishError), match=r"must be owner|permission denied"):
        publish(policy(people, "nightly", **REPLACE))


def test_leftovers_of_other_kinds_of_runs_are_dropped(people: Database) -> None:
    from sqlanon.release.pending import remove_leftovers

    people.run(
        "CREATE TABLE sqlanon_stage_1 (a int)",
        "COMMENT ON TABLE sqlanon_stage_1 IS 'sqlanon: a release in the making, safe to drop'",
        "CREATE TABLE sqlanon_stage_2 (a int)",
    )
    engine: Engine = PostgresEngine.open(people.address, read_only=False, folders=())
    with closing(engine):
        assert remove_leftovers(engine) == [f"{people.name}.public.sqlanon_stage_1"]


@pytest.mark.parametrize("mode", ["table", "view", "replace"])
def test_the_statements_of_a_publish(people: Database, mode: str) -> None:
    """As text, and executed: those that the release has run, but for the stage's name."""
    place = {} if mode == "replace" else {"to": "anon"}
    document = policy(people, publish={"mode": mode} | place)
    with sqlanon.load(document) as anonymizer:
        columns = anonymizer.space.columns
        scheme = sqlanon.Scheme(columns, (columns[0].coarsest, columns[1].finest))
        if mode == "replace":
            people.run(
                "GRANT SELECT ON people TO pg_monitor", "CREATE INDEX by_ill ON people (ill)"
            )
        planned = "\n\n".join(f"{each};" for each in anonymizer.dry_run(scheme))
        release = anonymizer.publish(scheme)
    named = planned.replace(people.name, "ward")
    assert_golden(f"postgres/{mode}", named)
    if mode == "view":  # it names the groups that its rows show
        return
    run = "\n\n".join(f"{each};" for each in release.statements).replace(people.name, "ward")
    run = re.sub(r"sqlanon_stage_[0-9a-f]+", "sqlanon_stage", run)
    assert f"BEGIN ISOLATION LEVEL REPEATABLE READ;\n\n{run}\n\nCOMMIT;" == named
