"""Every measure of information loss and bias on one scale: 0 is the ideal, 1 the worst there is."""

from __future__ import annotations

import numpy as np

from sqlanon.measurement import Floats
from sqlanon.metrics.further import FURTHER
from sqlanon.metrics.scores import Scores
from sqlanon.model import BiasName, LossName

__all__ = ["FURTHER", "describe", "scaled"]

DESCRIPTIONS: dict[LossName | BiasName, str] = {
    LossName.NWP: "normalized weighted penalty: mean share of the atoms a cell may be, by weight",
    LossName.GLM: "general loss metric: mean share of the atoms a cell may be",
    LossName.DCN: "discernibility: mean share of the rows that a row cannot be told from",
    LossName.CE: "classification error: share of rows that lose their label",
    LossName.CLASS_SIZE: "average class size beside the whole table",
    LossName.PRECISION: "1 - Prec: mean share of its hierarchy that a cell was raised",
    LossName.ENTROPY: "entropy: mean share of the information in a cell that is lost",
    LossName.AMBIGUITY: "ambiguity: tuples that a row may come from, as a logarithm",
    BiasName.NECD: "normalized equivalence class dispersion: largest class less smallest",
    BiasName.GINI: "Gini coefficient of the class sizes that people have",
    BiasName.VARIATION: "cv / (1 + cv), cv the coefficient of variation of people's class sizes",
    BiasName.MINIMUM: "share of rows in classes larger than the smallest",
}
ENDS: dict[LossName | BiasName, tuple[str, str]] = {
    LossName.DCN: ("1/rows when no two rows are alike", "all rows alike or left out"),
    LossName.CE: ("all keep their label", "none does"),
    LossName.CLASS_SIZE: ("no two rows are alike", "all rows alike or left out"),
}


def scaled(name: LossName | BiasName, scores: Scores, rows: int) -> Floats:
    """A measure of every scheme, scaled to [0, 1] with ideal 0.

    `rows` are those of the source. NaN where it was not asked for, or has no label to go by.
    """
    match name:
        case LossName.NWP:
            return scores.nwp
        case LossName.GLM:
            return scores.glm_share
        case LossName.DCN:
            return np.asarray(scores.dcn / float(rows) ** 2)
        case LossName.CE:
            return scores.ce
        case BiasName.NECD:
            return scores.necd
    return np.asarray(scores.further[:, FURTHER.index(name)])


def describe(name: LossName | BiasName) -> str:
    """One line: what it is, and what the ends of its scale mean."""
    if isinstance(name, BiasName):
        ends = ("all are protected alike", "as unequal as can be")
    else:
        ends = ENDS.get(name, ("nothing is lost", "all is hidden"))
    return f"{DESCRIPTIONS[name]}; 0 ideal ({ends[0]}) to 1 ({ends[1]})"
