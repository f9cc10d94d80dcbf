"""Privacy models: what every class of a release must satisfy beyond its number of people."""

from __future__ import annotations

from sqlanon.privacy.l_diversity import (  # isort: skip  # registered in the order of a policy
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from sqlanon.privacy.t_closeness import Closeness, Distance  # isort: skip
from sqlanon.privacy.beta_likeness import BetaLikeness  # isort: skip
from sqlanon.privacy.delta_disclosure import DeltaDisclosure  # isort: skip
from sqlanon.privacy.alpha_k import AlphaAnonymity  # isort: skip
from sqlanon.privacy.k_map import KMap  # isort: skip
from sqlanon.privacy.model import (
    DIGITS,
    MODELS,
    TOLERANCE,
    AuditedColumn,
    Cell,
    ClassCounts,
    Figure,
    ForColumns,
    Model,
    PrivacySection,
    Reached,
    Released,
    SensitiveColumn,
    SourceValues,
    ValueRows,
    bound_models,
    certified_model,
    figures,
    keys,
    listed,
    privacy_section,
    register,
)
