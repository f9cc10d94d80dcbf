"""A short version of kills_postgres.py."""

from __future__ import annotations

from kills_postgres import attack
from postgres_server import Server


def test_no_kill_of_client_or_backend_loses_anything(server: Server) -> None:
    found = attack(server, kills=4, seed=7)
    assert (found["kills"], found["losses"]) == (8, [])
