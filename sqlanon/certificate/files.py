"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from sqlanon.errors import CertificateError


def write_text(path: str | Path, text: str, *, private: bool) -> None:
    """Writes a file by way of a temporary one beside it, `.sqlanon-*.tmp`.

    A private file is readable by its owner only, from its first byte on; others are as the
    user's umask says. What was at `path` before is replaced, with its permissions.
    """
    final = Path(path)
    temporary = final.parent / f".sqlanon-{secrets.token_hex(8)}.tmp"
    try:
        # O_EXCL: never write through a link that someone else has put there.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(temporary, flags, 0o600 if private else 0o666)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(final)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise CertificateError(f"{path}: cannot be written ({error.strerror})") from None
