"""Lets the programs of this folder import the oracles when they are run by themselves."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "reference"))
