"""Ctrl-C while a search's own database works on the main thread."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.engines.registry import open_source
from sqlanon.engines.statements import keeping_interrupts
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.evaluate.workbench import Workbench


def slowly(sql: str) -> str:
    """The same rows, after seconds of counting."""
    endless = "SELECT count(*) FROM range(100000000) AS a, range(100000) AS b"
    return f"SELECT * FROM ({sql.strip().rstrip(';')}) WHERE ({endless}) > 0"


def test_a_query_that_is_interrupted_ends_in_keyboard_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = Workbench.sql
    monkeypatch.setattr(Workbench, "sql", lambda *args, **keys: slowly(plain(*args, **keys)))
    source = open_source(data=pa.table({"age": [1, 1, 2, 2]}))
    histogram = count(source, [Quasi("age", Family.CONTIGUOUS, 1.0)])
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Evaluator(histogram) as evaluator:
            whole = evaluator.space.batch_of_bits(np.zeros((1, 1), dtype=bool))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                evaluator.score(whole)
            monkeypatch.undo()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
        source.engine.close()


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="something else"), keeping_interrupts():
        raise RuntimeError("something else")
