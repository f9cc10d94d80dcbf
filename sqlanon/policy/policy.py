"""Reading a policy file: YAML in, a checked `Policy` out, all mistakes reported at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sqlanon.errors import PolicyError
from sqlanon.policy.problems import describe
from sqlanon.policy.schema import ColumnSection, PolicySection, Role


@dataclass(frozen=True)
class Policy:
    """A valid policy. Relative paths in it start at `folder`; `origin` is for messages."""

    section: PolicySection
    folder: Path
    origin: str

    def columns_with(self, role: Role) -> dict[str, ColumnSection]:
        """The columns of one role, in the order of the file."""
        return {name: c for name, c in self.section.columns.items() if c.role is role}

    @property
    def label(self) -> str | None:
        """The class label that classification error is measured against."""
        return next(iter(self.columns_with(Role.LABEL)), None)

    @cached_property
    def fingerprint(self) -> str:
        """Names what the policy says, however it is written."""
        content = self.section.model_dump(mode="json", by_alias=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_policy(path: str | Path) -> Policy:
    """The policy in a YAML file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{path}: is not UTF-8 text") from None
    try:
        document = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise PolicyError(f"{path}: is not valid YAML: {error}") from None
    return parse_policy(document, folder=path.parent, origin=str(path))


def parse_policy(document: Any, *, folder: Path | None = None, origin: str = "policy") -> Policy:
    """The policy in a mapping, such as a YAML file or a Python program holds."""
    if not isinstance(document, Mapping):
        raise PolicyError(f"{origin}: expected keys such as `columns:`, found {document!r}")
    try:
        section = PolicySection.model_validate(document)
    except ValidationError as error:
        problems = describe(error, document)
        count = f"{len(problems)} mistakes" if len(problems) > 1 else "a mistake"
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise PolicyError(f"{origin}: {count} in the policy\n{lines}") from None
    return Policy(section, folder or Path(), origin)


class _Loader(yaml.SafeLoader):
    """Refuses a key given twice, of which YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)
