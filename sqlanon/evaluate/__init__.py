"""Scores schemes: batches become GROUP BY queries on the histogram."""

from __future__ import annotations

from sqlanon.evaluate.best_cuts import BestCuts, Care, CutColumn
from sqlanon.evaluate.evaluator import Effort, Evaluator
from sqlanon.evaluate.pulse import Part, Pulse, Unfinished
from sqlanon.evaluate.tree_scores import score_tree
from sqlanon.evaluate.value_counts import Demands, ValueSets
from sqlanon.evaluate.workspace import (
    CONTENTS,
    KEPT_DAYS,
    Search,
    Workspace,
    is_workspace,
    refuse_other_database,
    remove_own_folder,
)
