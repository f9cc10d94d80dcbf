"""Reading a policy file: YAML in, a checked `Policy` out, all mistakes reported at once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError, create_model

from sqlanon.documents import parse_yaml, read_text
from sqlanon.engines import DATABASE_FILES, SUFFIXES, without_password
from sqlanon.errors import PolicyError
from sqlanon.policy.mistakes import contradictions, describe, line_at
from sqlanon.policy.sections import (
    ColumnSection,
    PolicySection,
    Role,
    WorkspaceSection,
    policy_section,
)
from sqlanon.policy.variables import (
    ADDRESSES,
    POPULATION,
    PUBLISH,
    SOURCE,
    Expansion,
    expand,
    key_place,
)
from sqlanon.privacy import PrivacySection, privacy_section
from sqlanon.wording import brief_list

DATA = (*SUFFIXES, *DATABASE_FILES)
"""How names of files end that hold data. Of these nothing is read, and so nothing shown."""


@dataclass(frozen=True, repr=False)
class Policy:
    """A valid policy. Relative paths in it start at `folder`; `origin` is for messages.

    The section holds addresses and keys as they are written, with their variables. What the
    variables held when the policy was read is returned by the methods below only: keep it
    out of messages, and pass messages that may contain it through `hide`.
    """

    section: PolicySection
    folder: Path
    origin: str
    _expansion: Expansion = field(default=Expansion(), compare=False)

    def __repr__(self) -> str:
        columns = [f"{name} {each.role}" for name, each in self.section.columns.items()]
        return f"<Policy {brief_list([self.origin], width=100)}: {brief_list(columns)}>"

    def source_connection(self) -> str | None:
        """The address of the source's database, variables filled in."""
        return self._expansion.texts.get(SOURCE)

    def publish_connection(self) -> str | None:
        """The address of another database for the release, variables filled in."""
        return self._expansion.texts.get(PUBLISH)

    def population_connection(self) -> str | None:
        """The address of the population's database, variables filled in."""
        return self._expansion.texts.get(POPULATION)

    def key_of(self, column: str) -> str | None:
        """The secret of a column of stable pseudonyms; None where each release makes a new one."""
        return self._expansion.texts.get(key_place(column))

    def hide(self, message: str) -> str:
        """The message without what the variables of the policy hold."""
        return self._expansion.hide(message)

    def columns_with(self, role: Role) -> dict[str, ColumnSection]:
        """The columns of one role, in the order of the file."""
        return {name: c for name, c in self.section.columns.items() if c.role is role}

    @property
    def workspace(self) -> WorkspaceSection | None:
        """The file that keeps measurements, with its path, and for how long."""
        given = self.section.workspace
        if given is None:
            return None
        section = WorkspaceSection(file=given) if isinstance(given, str) else given
        return section.model_copy(update={"file": str(self.folder / section.file)})

    @property
    def label(self) -> str | None:
        """The class label that classification error is measured against."""
        return next(iter(self.columns_with(Role.LABEL)), None)

    @cached_property
    def fingerprint(self) -> str:
        """Names what the policy says, however it is written, with its variables as variables.

        Keys that say what is the default anyway do not count, so that new keys leave the
        fingerprints of older policies alone. Nor do the secrets of pseudonyms: a fingerprint
        is shown, and one that is written out could be guessed with it; nor, for the same reason,
        the passwords in addresses. Nor do `memory` and `workspace`, which change no release.
        """
        return _hashed(self._content)

    @property
    def parts(self) -> dict[str, str]:
        """The same by column and by other key, short: shows where two policies differ."""
        parts = {key: value for key, value in self._content.items() if key != "columns"}
        parts |= {f"columns.{name}": each for name, each in self._content["columns"].items()}
        return {name: _hashed(part)[:16] for name, part in parts.items()}

    @property
    def _content(self) -> dict[str, Any]:
        left_out: Any = {"columns": {"__all__": {"key"}}, "memory": True, "workspace": True}
        content = self.section.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude=left_out
        )
        for section, key in ADDRESSES:
            if address := content.get(section, {}).get(key):
                content[section][key] = without_password(address)
        return content


def _hashed(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_policy(path: str | Path) -> Policy:
    """The policy in a YAML file."""
    path = Path(path)
    if path.name.lower().endswith(DATA):
        raise PolicyError(
            f"{path}: is a table by its name, not a policy; write a policy, such as policy.yml, "
            "that names it as its source"
        )
    document = parse_yaml(read_text(path, PolicyError), str(path), PolicyError)
    return parse_policy(document, folder=path.parent, origin=str(path))


def parse_policy(
    document: Any,
    *,
    folder: Path | None = None,
    origin: str = "policy",
    environment: Mapping[str, str] = os.environ,
) -> Policy:
    """The policy in a mapping, such as a YAML file or a Python program holds.

    `environment` holds the variables that addresses and keys may name as ${NAME}.
    """
    if not isinstance(document, Mapping):
        # Without its content: it may be a file of data that was named by mistake.
        found = _KINDS.get(type(document), "something else")
        raise PolicyError(
            f"{origin}: is not a policy; expected keys such as `columns:`, found {found}"
        )
    problems: list[str] = []
    try:
        document = _plain(document, ())
        expansion, wrong = expand(document, environment)
        problems += [line_at(place, words) for place, words in wrong]
        section = policy_section().model_validate(document)
    except _UnusableError as error:
        raise refusal(origin, [line_at(error.place, error.words)]) from None
    except RecursionError:
        raise PolicyError(f"{origin}: is nested too deeply") from None
    except ValidationError as error:
        lines = [*describe(error, document), *problems, *contradictions(error, document)]
        raise refusal(origin, lines) from None
    if problems:
        raise refusal(origin, problems)
    return Policy(section, folder or Path(), origin, expansion)


def parse_privacy(given: Mapping[Any, Any]) -> PrivacySection:
    """The section `privacy` of a policy by itself; without `k` it is 1."""
    whole: Any = create_model("Privacy", privacy=(privacy_section(), ...))
    document = {"privacy": {"k": 1, **given}}
    try:
        section: PrivacySection = whole.model_validate(_plain(document, ())).privacy
    except _UnusableError as error:
        raise PolicyError(line_at(error.place, error.words)) from None
    except ValidationError as error:
        raise PolicyError("\n".join(describe(error, document))) from None
    return section


_KINDS = {type(None): "nothing", str: "plain text", list: "a list"}


def refusal(origin: str, problems: list[str]) -> PolicyError:
    """What to raise for the mistakes of a policy, one line each."""
    count = f"{len(problems)} mistakes" if len(problems) > 1 else "a mistake"
    lines = "\n".join(f"  {problem}" for problem in problems)
    return PolicyError(f"{origin}: {count} in the policy\n{lines}")


MOST_DIGITS = 38
"""Of whole numbers; no database has longer ones, and arithmetic with them may fail anywhere."""


class _UnusableError(Exception):
    def __init__(self, place: tuple[int | str, ...], words: str) -> None:
        self.place, self.words = place, words


def _plain(value: Any, place: tuple[int | str, ...]) -> Any:
    """The same in dicts and lists, which is what the schema reads.

    Refuses what no key can take, so that no later step has to.
    """
    if isinstance(value, Mapping):
        return {key: _plain(below, (*place, str(key))) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(below, (*place, number)) for number, below in enumerate(value)]
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        raise _UnusableError(place, f"a whole number has at most {MOST_DIGITS} digits")
    if isinstance(value, str) and "\0" in value:
        raise _UnusableError(place, "text cannot hold the character NUL")
    return value
