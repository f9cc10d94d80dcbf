"""Publishing on a disk that is really full: nothing is lost, and it works once there is space.

    python tests/attacks/full_disk.py --json

A small file system of its own is mounted (tmpfs, as root or in a user namespace) and filled but for
a few bytes. Then each mode is published over a former release, with more and more space left, so
that the disk is full at different stages. Each time

- the command ends with exit status 1 and a message of its own, or does it all;
- source and former release are as they were, or the new release is there as a whole;
- with space again the next run succeeds and leaves nothing behind.

Where nothing can be mounted, the size of files is limited instead, and `disk` in the document says
so. Exit status 1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kills import DATABASE, MODES, Field

SIZE = 64 * 2**20
FREE = (0, 4 * 2**10, 64 * 2**10, 256 * 2**10, 512 * 2**10, 2**20, 2 * 2**20)
"""Bytes that are left; a block of DuckDB has 256 kB."""
PUBLISHED = "was published"
"""What a message says that comes after the swap."""
INSIDE = "SQLANON_FULL_DISK_INSIDE"


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of its own in that folder; whether it could be had."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    mounted = _succeeds(mount)
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class FullDisk:
    """One mode, published again and again with less space than it needs."""

    def __init__(self, mode: str, disk: Path, kept: Path, is_mounted: bool) -> None:
        self.field = Field(mode, disk, kept)
        self.ballast = disk / "ballast"
        self.is_mounted = is_mounted

    def attempt(self, free: int) -> dict[str, Any]:
        """Publishes with so many bytes left; what came of it, and what is wrong with that."""
        field = self.field
        field.restore()
        done = self._full(free)
        message = " ".join(done.stderr.split())
        is_new, wrong = field.content_losses()
        if done.returncode not in (0, 1) or "Traceback" in message:
            wrong.append("the command does not end with a message of its own")
        if done.returncode == 1 and ("error:" not in message or is_new != (PUBLISHED in message)):
            wrong.append("the message does not say what happened")
        if done.returncode == 0 and not is_new:
            wrong.append("the release is not there")
        wrong += field.next_run_losses(is_new)
        return {"mode": field.mode, "free": free, "status": done.returncode,
                "message": message[-600:], "wrong": wrong}  # fmt: skip

    def _full(self, free: int) -> subprocess.CompletedProcess[str]:
        if not self.is_mounted:
            largest = (self.field.folder / DATABASE).stat().st_size
            return self._publish(partial(_limit_files, largest + free))
        space = os.statvfs(self.ballast.parent)
        self.ballast.write_bytes(bytes(max(0, space.f_bavail * space.f_bsize - free)))
        try:
            return self._publish()
        finally:
            self.ballast.unlink()

    def _publish(
        self, prepare: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sqlanon", "publish", "policy.yml", "--scheme",
                   "scheme.json", "--yes", "--quiet"]  # fmt: skip
        return subprocess.run(
            command, cwd=self.field.folder, preexec_fn=prepare, capture_output=True, text=True,
            check=False,
        )  # fmt: skip


def _limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run(modes: tuple[str, ...], free: tuple[int, ...]) -> dict[str, Any]:
    """Publishes each mode with each space left, and what came of it as a document."""
    attempts = []
    with (
        tempfile.TemporaryDirectory() as disk,
        tempfile.TemporaryDirectory() as kept,
        small_disk(Path(disk)) as is_mounted,
    ):
        for mode in modes:
            full = FullDisk(mode, Path(disk), Path(kept), is_mounted)
            attempts += [full.attempt(each) for each in free]
    return {
        "disk": "a full tmpfs" if is_mounted else "files limited in size",
        "attempts": attempts,
        "refused": sum(each["status"] != 0 for each in attempts),
        "losses": [each for each in attempts if each["wrong"]],
    }


def inside_a_namespace() -> int | None:
    """Runs this program again as root of a user namespace, where it can mount; its status."""
    if os.geteuid() == 0 or INSIDE in os.environ:
        return None
    within = ["unshare", "--user", "--map-root-user", "--mount"]
    if not _succeeds([*within, "true"]):
        return None
    command = [*within, sys.executable, *sys.argv]
    return subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--free", nargs="+", type=int, default=FREE, help="bytes left")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if (status := inside_a_namespace()) is not None:
        return status
    document = run(tuple(options.modes), tuple(options.free))
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        for each in document["attempts"]:
            print(each["mode"], each["free"], each["status"], each["message"], each["wrong"] or "")
        print(f"{document['disk']}: {len(document['attempts'])} attempts, "
              f"{document['refused']} refused, {len(document['losses'])} losses")  # fmt: skip
    return 1 if document["losses"] or not document["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
