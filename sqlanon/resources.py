"""Where the files live that are not Python: SQL templates, hierarchies, example data."""

from __future__ import annotations

from pathlib import Path

from sqlanon.errors import ResourceError

_PACKAGE = Path(__file__).resolve().parent


def path(*parts: str) -> Path:
    """Return the path of a file or folder below ``sql``, ``hierarchies`` or ``examples``.

    >>> path("hierarchies", "adult", "sex.csv").name
    'sex.csv'
    """
    found = _root().joinpath(*parts)
    if not found.exists():
        raise ResourceError(
            f"Resource {'/'.join(parts)!r} is missing: the installation of sqlanon is "
            "incomplete. Install it again from a wheel or from a full checkout."
        )
    return found


def _root() -> Path:
    """Return the folder of the resources: in a wheel inside the package, else beside it."""
    # An installed package must not look beside itself: other distributions leave folders
    # named "examples" or "sql" there.
    bundled = _PACKAGE / "_resources"
    return bundled if bundled.is_dir() else _PACKAGE.parent
