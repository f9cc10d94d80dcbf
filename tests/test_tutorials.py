"""Every command of the tutorials runs, and prints what the page shows below it.

`<!-- file: NAME -->` before a block writes it to a file. A line of an `sh` block ends with status
0, or with the one in a comment behind it. The `text` block after an `sh` block is what the last
command prints that prints anything, with its messages where it fails.
SQLANON_UPDATE_GOLDEN=1 writes these blocks anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import Done, Run

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "tutorials"
FIRST = FOLDER / "first-release.md"
PAGES = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "README.md"})
BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<tag>\w+)\n(?P<content>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
STATUS = re.compile(r"  # exit status (\d)$")
CHANGING = re.compile(r"(?<=\bin )\d+\.\d(?= s\b)|\b[0-9a-f]{16,64}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z\b")
"""Seconds, ids and hashes, and times."""


@dataclass(frozen=True)
class Block:
    file: str | None
    tag: str
    content: str


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(each["file"], each["tag"], each["content"]) for each in found]


class Reader:
    """Follows a page in a folder: writes its files and runs its commands."""

    def __init__(self, folder: Path, run: Run, capture: pytest.CaptureFixture[str]) -> None:
        self._folder, self._run, self._capture = folder, run, capture
        self._path = re.compile(r"\n?".join(map(re.escape, str(folder))))  # may be broken

    def write(self, block: Block) -> None:
        assert block.file is not None
        (self._folder / block.file).write_text(block.content, encoding="utf-8")

    def do(self, commands: str) -> str:
        """What the commands print, without the folder's path."""
        shown = []
        for line in commands.splitlines():
            status = STATUS.search(line)
            expected = int(status[1]) if status else 0
            done = self._done(STATUS.sub("", line))
            assert done.status == expected, f"{line}: {done.status}\n{done.out}{done.err}"
            text = done.out + done.err if expected else done.out
            shown.append(self._path.sub("…", text))
        return "".join(shown)

    def _done(self, line: str) -> Done:
        first, *arguments = line.split()
        plain = not re.search(r"[|&>\"']", line)
        if first == "sqlanon" and plain:
            return self._run(*arguments)
        if first == "python" and plain:
            runpy.run_path(arguments[0], run_name="__main__")
            captured = self._capture.readouterr()
            return Done(0, captured.out, captured.err)
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self._folder,
            env={**os.environ, "PATH": f"{self._programs()}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def _programs(self) -> Path:
        """A folder with a `sqlanon` of this interpreter, whatever is installed elsewhere."""
        folder = self._folder.parent / "programs"
        folder.mkdir(exist_ok=True)
        program = folder / "sqlanon"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sqlanon "$@"\n')
        program.chmod(0o755)
        return folder


def comparable(text: str) -> str:
    """Without what differs from run to run, and where lines with long paths are broken."""
    return "".join(CHANGING.sub("…", text).split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(
    page: Path,
    tmp_path: Path,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.chdir(folder)
    reader = Reader(folder, run, capsys)
    for block in blocks(FIRST) if page != FIRST else ():
        if block.file in ("patients.csv", "policy.yml"):
            reader.write(block)
    printed: list[str] = []
    shown: list[str] = []
    waiting = None
    for block in blocks(page):
        if block.file is not None:
            reader.write(block)
        elif block.tag == "sh":
            waiting = reader.do(block.content)
        else:
            assert block.tag == "text", f"a block of {block.tag} that is no file"
            assert waiting is not None, "a text without commands before it"
            shown.append(block.content)
            printed.append(waiting)
            waiting = None
    if os.environ.get("SQLANON_UPDATE_GOLDEN") == "1":
        _write_anew(page, printed)
    else:
        assert [comparable(each) for each in printed] == [comparable(each) for each in shown]


def _write_anew(page: Path, printed: list[str]) -> None:
    rest = iter(printed)

    def anew(block: re.Match[str]) -> str:
        if block["tag"] != "text" or block["file"] is not None:
            return block[0]
        lines = [line.rstrip() for line in next(rest).splitlines()]
        return "```text\n" + "\n".join(lines).strip("\n") + "\n```"

    page.write_text(BLOCK.sub(anew, page.read_text(encoding="utf-8")), encoding="utf-8")


def test_every_page_shows_something() -> None:
    assert len(PAGES) >= 5
    for page in PAGES:
        tags = [block.tag for block in blocks(page) if block.file is None]
        assert {"sh", "text"} <= set(tags)
        assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks(page))
