"""Privacy models: what every class of a release must satisfy beyond its number of people.

k-anonymity itself (L. Sweeney, k-anonymity: a model for protecting privacy, 2002; P. Samarati,
TKDE 2001) is always there and stated by its k alone: every class has at least k people. Merging
classes adds people, so it is monotone under generalization.
"""

from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import DIGITS, TOLERANCE, Measure, Model, Statistic
from sqlanon.privacy.t_closeness import Closeness, Distance

__all__ = [
    "DIGITS",
    "TOLERANCE",
    "AlphaAnonymity",
    "BetaLikeness",
    "Closeness",
    "DeltaDisclosure",
    "Distance",
    "DistinctDiversity",
    "EntropyDiversity",
    "KMap",
    "Measure",
    "Model",
    "RecursiveDiversity",
    "Statistic",
]
