"""Standard output that may be full or closed, without harm to the work that is reported there."""

from __future__ import annotations

import errno
import io
import sys
from typing import Any, TextIO


class Stream(io.RawIOBase):
    """A standard stream that takes everything, and remembers the first error of writing it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.error: OSError | None = None

    def write(self, data: Any) -> int | None:
        if self.error is None:
            try:
                written: int | None = self._raw.write(data)
                return written
            except OSError as error:
                self.error = error
        return len(data)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        return bool(self._raw.isatty())

    @property
    def failure(self) -> str | None:
        """Why something was not written. A reader who went away, as head does, had enough."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)


def guard_streams() -> Stream | None:
    """Puts a Stream under standard output and standard error; answers with the former.

    None where standard output is none of the system's: replaced by a program, or closed.
    """
    output, sys.stdout = _guarded(sys.stdout)
    _, sys.stderr = _guarded(sys.stderr)
    return output


def _guarded(text: TextIO) -> tuple[Stream | None, TextIO]:
    if not isinstance(text, io.TextIOWrapper):
        return None, text
    # For encodings that lack a sign.
    text.reconfigure(errors="backslashreplace")
    if type(text) is not io.TextIOWrapper:
        return None, text
    text.flush()
    stream = Stream(getattr(text.buffer, "raw", text.buffer))
    return stream, io.TextIOWrapper(
        io.BufferedWriter(stream),
        encoding=text.encoding,
        errors=text.errors,
        line_buffering=text.line_buffering,
        write_through=text.write_through,
    )
