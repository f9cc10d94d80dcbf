"""Six people, a policy and a scheme for them, whose scores are worked out in docs/scores.md."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

CSV = """\
age,sex,outcome
21,F,yes
23,F,no
27,M,yes
34,M,no
38,M,no
39,F,yes
"""
POLICY: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "columns": {
        "age": {"role": "quasi", "range": [20, 40], "granularity": 5, "weight": 2},
        "sex": {"role": "quasi", "values": ["F", "M"]},
        "outcome": {"role": "label"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 2},
    "preference": {"nwp": 0.5, "necd": 0.5},
}
SCHEME: dict[str, Any] = {
    "version": 1,
    "columns": {"age": {"cuts": [35]}, "sex": {"groups": [["F", "M"]]}},
}
# Ages 20 to 34 are three of four atoms and hold four rows, 35 to 40 one atom and two rows.
SCORES = {
    "k": 2,
    "k_max": 4,
    "classes": 2,
    "suppressed": 0,
    "nwp": 17 / 27,
    "necd": 2 / 5,
    "ach": 0.5 * (17 / 27 + 1e-6),
    "pref_dev": 17 / 27 + 2 / 5 - 1,
    "glm": 26 / 3,
    "glm_share": 13 / 18,
    "dcn": 20,
    "ce": 1 / 2,
    "class_size": (6 / 2 - 1) / (6 - 1),
    # Without hierarchies a group is one atom or lost: four ages and six sexes of twelve cells.
    "precision": 10 / 12,
    # Ages 20 to 34 are 2, 1 and 1 people, 1.5 bits; all ages are 2, 1, 1 and 2 people.
    "entropy": (4 * 1.5 / (6 * (math.log2(6) - 2 * 2 / 6)) + 1) / 2,
    # The four may be of three ages and two sexes, the two of one age and two sexes.
    "ambiguity": math.log((4 * 6 + 2 * 2) / 6) / math.log(4 * 2),
    # Class sizes 4, 4, 4, 4, 2, 2: a mean of 10/3 and a variance of 8/9.
    "gini": 2 * 8 * 2 / (2 * 36 * 10 / 3),
    "variation": math.sqrt(8) / 10 / (1 + math.sqrt(8) / 10),
    "minimum": 4 / 6,
}
FURTHER = ("class_size", "precision", "entropy", "ambiguity", "gini", "variation", "minimum")
"""What is measured of a single scheme, and by a search only where it is for that."""


def without_further(scores: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scores.items() if name not in FURTHER}


def changed(**keys: Any) -> dict[str, Any]:
    """The policy with other values of some keys; None takes a key away."""
    policy = copy.deepcopy(POLICY) | keys
    return {key: value for key, value in policy.items() if value is not None}


def write_folder(folder: Path, policy: dict[str, Any] | None = None, csv: str = CSV) -> Path:
    """people.csv, policy.yml and scheme.json in a folder; the path of the policy."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text(csv, encoding="utf-8")
    (folder / "scheme.json").write_text(json.dumps(SCHEME), encoding="utf-8")
    file = folder / "policy.yml"
    file.write_text(yaml.safe_dump(policy or POLICY, sort_keys=False), encoding="utf-8")
    return file
