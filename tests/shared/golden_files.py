"""Text that is asserted as a file in tests/golden.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def assert_golden(name: str, sql: str) -> None:
    path = GOLDEN / f"{name}.sql"
    text = sql.strip() + "\n"
    if os.environ.get("SQLANON_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
