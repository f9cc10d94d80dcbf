"""The page about the SQL shows what is really written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
EXCERPTS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_every_excerpt_is_in_a_golden_file(excerpt: str) -> None:
    files = (ROOT / "tests" / "golden" / "release").rglob("*.sql")
    assert any(excerpt in path.read_text(encoding="utf-8") for path in files)
