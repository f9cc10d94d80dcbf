"""What accompanies a published release: a JSON file and a page, each in two forms.

The internal form holds everything; the shareable form can be passed on with the release.
"""

from sqlanon.certificate.certificate import Certificate
from sqlanon.certificate.compare import differences
from sqlanon.certificate.facts import (
    ColumnFact,
    Facts,
    HomogeneityFact,
    Prior,
    Subgroup,
    SuppressionFact,
    Treatment,
)
from sqlanon.certificate.figures import LITTLE_IS_KEPT
from sqlanon.certificate.recounted import Recountable, recountable

__all__ = [
    "LITTLE_IS_KEPT",
    "Certificate",
    "ColumnFact",
    "Facts",
    "HomogeneityFact",
    "Prior",
    "Recountable",
    "Subgroup",
    "SuppressionFact",
    "Treatment",
    "differences",
    "recountable",
]
