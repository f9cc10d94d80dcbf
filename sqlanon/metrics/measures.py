"""Every measure of information loss and bias on one scale: 0 is the ideal, 1 the worst there is.

Of a loss, at 0 nothing is lost and at 1 everything is hidden or left out; of a bias, at 0 all are
protected alike. DCN begins at 1/rows, and CE counts labels.
"""

from __future__ import annotations

import numpy as np

from sqlanon.measurement import Floats
from sqlanon.metrics.further import FURTHER
from sqlanon.metrics.scores import Scores
from sqlanon.model import BiasName, LossName

__all__ = ["FURTHER", "MEANINGS", "scaled"]

MEANINGS: dict[LossName | BiasName, str] = {
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
