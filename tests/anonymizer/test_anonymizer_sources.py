"""Where `load` finds its table, and what it says when policy and table do not agree."""

from __future__ import annotations

import io
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from small_table import CSV, POLICY, SCHEME, SCORES, changed, write_folder

import sqlanon
from sqlanon.errors import EngineError, HierarchyError, PolicyError

TABLE = changed(source={"table": "people"})


@pytest.fixture
def people() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(CSV))


def check(anonymizer: sqlanon.Anonymizer) -> None:
    with anonymizer:
        assert anonymizer.measure(SCHEME).scores == pytest.approx(SCORES)


def test_a_file_relative_to_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_folder(tmp_path / "project")
    monkeypatch.chdir(tmp_path)
    check(sqlanon.load(file))
    check(sqlanon.load(str(file)))
    check(sqlanon.load("project/policy.yml"))


def test_a_mapping_is_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    check(sqlanon.load(POLICY))
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(EngineError, match=r"File people\.csv does not exist in "):
        sqlanon.load(POLICY)


def test_a_database_relative_to_the_policy(
    tmp_path: Path, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(tmp_path / "ware.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM people")
    monkeypatch.chdir(tmp_path.parent)
    for address in ("duckdb:///ware.duckdb", f"duckdb:///{tmp_path / 'ware.duckdb'}"):
        source = {"connection": address, "table": "people"}
        check(sqlanon.load(write_folder(tmp_path, changed(source=source))))


def test_a_query_needs_no_database() -> None:
    query = "SELECT * FROM (VALUES (21, 'F', 'yes'), (23, 'F', 'no')) AS t(age, sex, outcome)"
    for address in (None, "duckdb://", "duckdb:///", "duckdb:///:memory:"):
        source = {"query": query} | ({"connection": address} if address else {})
        with sqlanon.load(changed(source=source)) as anonymizer:
            assert anonymizer.measure(SCHEME).k == 2


def test_data_in_this_process(people: pd.DataFrame) -> None:
    check(sqlanon.load(changed(source=None), data=people))
    check(sqlanon.load(POLICY, data=pa.Table.from_pandas(people)))


class Once:
    """Data with an Arrow stream that ends after one reading."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader()
        self.readings = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.readings += 1
        return self._reader.__arrow_c_stream__(requested_schema)


def test_an_arrow_stream_is_read_once(people: pd.DataFrame) -> None:
    """Counting and publishing both read the source."""
    once = Once(pa.Table.from_pandas(people))
    with sqlanon.load(changed(source=None, publish=None), data=once) as anonymizer:
        assert anonymizer.measure(SCHEME).k == 2
        released = anonymizer.publish(SCHEME).to_pandas()
    assert once.readings == 1
    assert sorted(released["age"].value_counts()) == [2, 4]
    assert set(released["sex"]) == {"*"}


def test_whatever_has_an_arrow_stream(people: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(people)
    with duckdb.connect() as connection:
        for data in (
            connection.from_arrow(table),
            table.to_reader(),
            table.to_batches()[0],
        ):
            check(sqlanon.load(POLICY, data=data))
        with sqlanon.load(POLICY, data=connection.from_arrow(table)) as anonymizer:
            connection.close()  # the data were read before
            assert anonymizer.measure(SCHEME).k == 2


def test_an_arrow_stream_that_cannot_be_read() -> None:
    with duckdb.connect() as connection:
        gone = connection.sql("SELECT 1 AS age")
    with pytest.raises(EngineError, match="DuckDBPyRelation cannot be read as a table"):
        sqlanon.load(POLICY, data=gone)


def test_a_lent_connection_stays_as_it_is(people: pd.DataFrame) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS FROM people")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO people VALUES (39, 'M', 'no')")
        with sqlanon.load(TABLE, connection=connection) as anonymizer:
            assert anonymizer.measure(SCHEME).k == 3  # it sees what the transaction sees
        with pytest.raises(PolicyError):
            sqlanon.load(changed(source={"table": "people"}, subject="x", one_row_per_person=None),
                         connection=connection)  # fmt: skip
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM people").fetchall() == [(6,)]
        names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert names == [("people",)]


def test_a_connection_needs_a_table() -> None:
    with duckdb.connect() as connection:
        with pytest.raises(PolicyError, match=r"source: with a connection it needs .* a file$"):
            sqlanon.load(POLICY, connection=connection)
        with pytest.raises(PolicyError, match=r"source: with a connection .* found neither$"):
            sqlanon.load(changed(source=None), connection=connection)
        with pytest.raises(EngineError, match="a connection or data, not both"):
            sqlanon.load(TABLE, connection=connection, data=pd.DataFrame())


def test_no_source_at_all() -> None:
    with pytest.raises(PolicyError, match="source: says no table, query or file to read"):
        sqlanon.load(changed(source=None))


def test_columns_that_are_not_there(people: pd.DataFrame) -> None:
    renamed = people.rename(columns={"sex": "SEX", "age": "years"})
    with pytest.raises(PolicyError) as caught:
        sqlanon.load(POLICY, data=renamed)
    assert str(caught.value).splitlines() == [
        "policy: 3 things do not fit the table",
        "  column 'age' is not in DataFrame",
        "  column 'sex' is not in DataFrame; did you mean 'SEX'?",
        "  DataFrame has columns that the policy does not mention: 'years', 'SEX'; give "
        "each a role, or say `others: drop` or `others: insensitive`",
    ]


def test_a_subject_that_is_not_there(people: pd.DataFrame) -> None:
    policy = changed(one_row_per_person=None, subject="outcom")
    with pytest.raises(PolicyError) as caught:
        sqlanon.load(policy, data=people)
    line = "policy: column 'outcom' is not in DataFrame; did you mean 'outcome'?"
    assert str(caught.value) == line


def test_columns_that_the_policy_does_not_mention(people: pd.DataFrame) -> None:
    people["notes"] = "x"
    with pytest.raises(PolicyError, match="does not mention: 'notes'; give each a role"):
        sqlanon.load(changed(others="refuse"), data=people)
    for others in ("drop", "insensitive"):
        check(sqlanon.load(changed(others=others), data=people))


def test_the_subject_needs_no_role(people: pd.DataFrame) -> None:
    people["id"] = range(6)
    check(sqlanon.load(changed(one_row_per_person=None, subject="id"), data=people))


def test_a_hierarchy_file_of_the_policy_comes_before_a_built_in_one(
    tmp_path: Path, people: pd.DataFrame
) -> None:
    people["sex"] = people["sex"].map({"F": "Female", "M": "Male"})
    columns = {**POLICY["columns"], "sex": {"role": "quasi", "hierarchy": "adult/sex.csv"}}
    file = write_folder(tmp_path, changed(columns=columns))
    with sqlanon.load(file, data=people) as anonymizer:
        assert anonymizer.space.columns[1].domain.left_ends == ("Female", "Male")
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "sex.csv").write_text("Male;anyone\nFemale;anyone\n")
    with sqlanon.load(file, data=people) as anonymizer:
        assert anonymizer.space.columns[1].domain.left_ends == ("Male", "Female")
        top = {"columns": {"age": {"cuts": []}, "sex": {"level": 1}}}
        assert anonymizer.scheme(top).labels("sex") == ("anyone",)


def test_a_hierarchy_file_that_is_not_there(people: pd.DataFrame) -> None:
    columns = {**POLICY["columns"], "sex": {"role": "quasi", "hierarchy": "adult/sexes.csv"}}
    with (
        sqlanon.load(changed(columns=columns), data=people) as anonymizer,
        pytest.raises(HierarchyError, match=r"adult/sexes\.csv: cannot be read .*adult/sex\.csv"),
    ):
        anonymizer.measure(SCHEME)


@pytest.mark.parametrize("name", ['a"b', "a.b", "x'; DROP TABLE people; --", "ä\n", "SELECT"])
def test_any_column_name(name: str) -> None:
    columns = {name: {"role": "quasi"}, "other": {"role": "label"}}
    policy = {"columns": columns, "one_row_per_person": True}
    table = pa.table({name: ["p", "p", "q"], "other": [1, 2, 3]})
    with sqlanon.load(policy, data=table) as anonymizer:
        assert anonymizer.measure({"columns": {name: {"level": 0}}}).k == 1


def test_a_file_stays_open_while_it_is_released(tmp_path: Path) -> None:
    """It is read by one more engine; a database may be open once only, so it is opened anew."""
    (tmp_path / "people.csv").write_text(CSV)
    place = str(tmp_path / "out.csv")
    policy = changed(source={"file": str(tmp_path / "people.csv")}, publish={"file": place})
    with sqlanon.load(policy) as anonymizer:
        source = anonymizer.source
        assert anonymizer.dry_run(SCHEME)
        assert anonymizer.source is source
        assert source.engine.columns(source.relation) == source.columns
