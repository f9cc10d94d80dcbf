"""All or nothing: a publish in one transaction, of its own or of the caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.engines import PublishingEngine
from sqlanon.errors import EngineError, PublishError

UNCHANGED = "Nothing was changed."


@contextmanager
def transaction(engine: PublishingEngine) -> Iterator[bool]:
    """A transaction around the block; yields whether it is one that the caller has begun.

    A transaction of our own is committed at the end of the block, or rolled back when an
    exception leaves it. One of the caller is neither begun nor ended here.
    """
    if engine.in_transaction():
        with _explained("The transaction is yours: roll it back."):
            yield True
        return
    engine.run("BEGIN TRANSACTION")
    try:
        with _explained(UNCHANGED):
            yield False
            engine.run("COMMIT")
    except BaseException:
        roll_back(engine)
        raise


@contextmanager
def _explained(outcome: str) -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise PublishError(f"{error} {outcome}") from error


def roll_back(engine: PublishingEngine) -> None:
    """Ends a transaction that has failed, if it is still there after the failure."""
    try:
        engine.run("ROLLBACK")
    except EngineError:
        return
