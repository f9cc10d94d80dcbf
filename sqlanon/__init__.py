"""sqlanon: makes a table safe to share, inside the database where it lives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.anonymizer import Anonymizer, count_sql, load
    from sqlanon.audit import CheckResult
    from sqlanon.checking import check
    from sqlanon.domain import Scheme
    from sqlanon.errors import SqlanonError
    from sqlanon.release.pipeline import Release
    from sqlanon.release.verification import Verification
    from sqlanon.search import Progress, SearchResult, Solution, Watch
    from sqlanon.utility import Utility

__version__ = "0.1.0"

__all__ = [
    "Anonymizer",
    "CheckResult",
    "Progress",
    "Release",
    "Scheme",
    "SearchResult",
    "Solution",
    "SqlanonError",
    "Utility",
    "Verification",
    "Watch",
    "__version__",
    "check",
    "count_sql",
    "load",
]

_HOME = {
    "Anonymizer": "sqlanon.anonymizer",
    "CheckResult": "sqlanon.audit",
    "Progress": "sqlanon.search",
    "Release": "sqlanon.release.pipeline",
    "Scheme": "sqlanon.domain",
    "SearchResult": "sqlanon.search",
    "Solution": "sqlanon.search",
    "SqlanonError": "sqlanon.errors",
    "Utility": "sqlanon.utility",
    "Verification": "sqlanon.release.verification",
    "Watch": "sqlanon.search",
    "check": "sqlanon.checking",
    "count_sql": "sqlanon.anonymizer",
    "load": "sqlanon.anonymizer",
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are first asked for.

    Databases and numbers take a second to import. The command must be able to answer Ctrl-C in
    that second, so this module imports nothing heavy by itself.
    """
    if name in __all__:
        found = getattr(import_module(_HOME[name]), name)
        globals()[name] = found
        return found
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
