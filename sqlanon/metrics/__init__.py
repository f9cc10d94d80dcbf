"""Scores of generalizations: measures of information loss and of bias, from raw integers."""

from __future__ import annotations

from sqlanon.metrics.ambiguity import Ambiguity
from sqlanon.metrics.ce import Ce
from sqlanon.metrics.class_size import AverageClassSize
from sqlanon.metrics.dcn import Dcn
from sqlanon.metrics.entropy import Entropy
from sqlanon.metrics.gini import Gini
from sqlanon.metrics.glm import Glm
from sqlanon.metrics.group_costs import (
    AtomCost,
    ColumnLoss,
    CostModel,
    GroupCost,
    Ids,
    rows_by_group,
)
from sqlanon.metrics.measurement import (
    DIGITS,
    EVERY_CLASS,
    Detail,
    Floats,
    Ints,
    Measurement,
    Measurements,
)
from sqlanon.metrics.metric import (
    METRICS,
    SLACK,
    Metric,
    ReleaseCounts,
    added,
    asked_of,
    biases,
    divided,
    formula,
    further,
    losses,
    recounted,
    register,
)
from sqlanon.metrics.minimum import Minimum
from sqlanon.metrics.necd import Necd
from sqlanon.metrics.nwp import Nwp
from sqlanon.metrics.precision import Precision
from sqlanon.metrics.preference import LossKey, Preference, PreferenceSection
from sqlanon.metrics.scores import Scores, scaled, score
from sqlanon.metrics.suppression import (
    UNBOUNDED,
    EachForItsK,
    Remaining,
    Rule,
    Suppression,
    reachable,
)
from sqlanon.metrics.variation import Variation

# The order is that of tables and of the values of policy keys.
LOSSES = (Nwp, Glm, Dcn, Ce, AverageClassSize, Precision, Entropy, Ambiguity)
BIASES = (Necd, Gini, Variation, Minimum)
for _metric in (*LOSSES, *BIASES):
    register(_metric)
