"""How useful a release is: for counts, for somebody's own queries, and for a model.

Nothing here decides anything: a search minimizes losses that are quick to compute, and these
measures say what such a loss means to those who work with the release.
"""

from sqlanon.utility.classes import Classes, released_classes
from sqlanon.utility.classify import MODELS, Accuracy, Labelled, accuracy, is_available
from sqlanon.utility.queries import Answer, answer, statements_in
from sqlanon.utility.reconstruct import reconstruction
from sqlanon.utility.result import Utility
from sqlanon.utility.workload import Workload, workload

__all__ = [
    "MODELS",
    "Accuracy",
    "Answer",
    "Classes",
    "Labelled",
    "Utility",
    "Workload",
    "accuracy",
    "answer",
    "is_available",
    "reconstruction",
    "released_classes",
    "statements_in",
    "workload",
]
