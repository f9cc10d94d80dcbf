"""A table of 150 people with columns of all families, to search quickly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

JOBS = """\
cook;service;*
waiter;service;*
guard;service;*
smith;craft;*
joiner;craft;*
judge;office;*
clerk;office;*
"""
POLICY: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "columns": {
        "age": {"role": "quasi", "range": [20, 70], "granularity": 5},
        "job": {"role": "quasi", "hierarchy": "jobs.csv"},
        "zip": {"role": "quasi", "hierarchy": {"mask": {}}, "family": "full-domain"},
        "sex": {"role": "quasi", "values": ["F", "M"]},
        "outcome": {"role": "label"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 4},
    "preference": {"nwp": 0.2, "necd": 1.0},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "auto": {"exact": 0, "evaluations": 3_000},
    "nsga2": {"population": 40, "evaluations": 800},
    "genitor": {"population": 40, "evaluations": 600, "brood": 20},
    "poka": {"depth": 2},
    "front": {},
    "exhaustive": {},
    "optimal": {},
}
"""Short searches, one a method."""


def table() -> str:
    rng = np.random.default_rng(5)
    jobs = [line.split(";")[0] for line in JOBS.splitlines()]
    lines = ["age,job,zip,sex,outcome"]
    for _ in range(150):
        age = int(np.clip(rng.normal(42, 12), 20, 70))
        job = jobs[min(int(rng.exponential(2)), 6)]
        lines.append(f"{age},{job},z{rng.integers(20, 36)},{rng.choice(['F', 'M'])},{age > 40}")
    return "\n".join(lines) + "\n"


def policy_with(search: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """The policy with a section for the search and other values of some keys."""
    policy = {**POLICY, "search": search} | keys
    return {key: value for key, value in policy.items() if value is not None}


def write_search_folder(folder: Path, search: dict[str, Any], **keys: Any) -> Path:
    """people.csv, jobs.csv and policy.yml in a folder; the path of the policy."""
    (folder / "people.csv").write_text(table(), encoding="utf-8")
    (folder / "jobs.csv").write_text(JOBS, encoding="utf-8")
    file = folder / "policy.yml"
    file.write_text(yaml.safe_dump(policy_with(search, **keys), sort_keys=False), encoding="utf-8")
    return file


def without_time(document: dict[str, Any]) -> str:
    """A result as text without the time it took; all else must be the same."""
    return json.dumps({key: value for key, value in document.items() if key != "seconds"})
