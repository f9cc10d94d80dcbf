"""The files around the code agree with one another."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent

TOP_LEVEL = {
    ".ci",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "docs",
    "examples",
    "hierarchies",
    "pyproject.toml",
    "requirements-lowest.lock",
    "requirements.lock",
    "sql",
    "sqlanon",
    "tests",
    "zensical.toml",
}

LEAKS = {
    "an address": r"[a-z+]+://",
    "a direct reference": r"\s@\s",
    "an index or find-links option": r"^--",
    "an absolute path": r"(^|[\s=\"'(])/[\w.]",
}


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


LOCKS = ["requirements.lock", "requirements-lowest.lock"]


@pytest.fixture(scope="module")
def lock() -> dict[str, str]:
    return entries_of("requirements.lock")


def entries_of(name: str) -> dict[str, str]:
    """Package name -> its whole entry (pin and hashes, continuation lines joined)."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    return {canonical(entry): entry for entry in entries}


def canonical(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, f"not a requirement: {requirement!r}"
    return re.sub(r"[-_.]+", "-", match.group()).lower()


def readme_command(name: str) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^<!-- {name} -->\n```sh\n(.+)\n```$", readme, flags=re.MULTILINE)
    assert len(blocks) == 1, f"README.md needs one single-line block under <!-- {name} -->"
    return str(blocks[0])


def test_readme_names_the_demo_command() -> None:
    assert readme_command("demo-command") == "python -m pip install . && sqlanon demo"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_ci_runs_the_test_command_of_the_readme() -> None:
    shown = subprocess.run(
        [ROOT / ".ci" / "run", "--show"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.rstrip("\n") == readme_command("test-command")


def test_test_command_installs_the_lock() -> None:
    steps = readme_command("test-command").split(" && ")
    assert steps == [
        "python -m pip install -r requirements.lock",
        "python -m pip install --no-deps -e .",
        "python -m pytest",
    ]


@pytest.mark.parametrize("name", LOCKS)
@pytest.mark.parametrize("what", LEAKS)
def test_lock_holds_no(what: str, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = [line for line in text.splitlines() if re.search(LEAKS[what], line)]
    assert not found


@pytest.mark.parametrize("lock_name", LOCKS)
def test_lock_pins_and_hashes_every_requirement(lock_name: str) -> None:
    lock = entries_of(lock_name)
    assert lock
    for name, entry in lock.items():
        assert re.match(r"[\w.-]+==[\w.!+-]+( ;|\s)", entry), f"{name} is not pinned"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), f"{name} has no hash"


def test_lock_covers_every_dependency(pyproject: dict[str, Any], lock: dict[str, str]) -> None:
    project = pyproject["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["docs"]]
    assert {canonical(requirement) for requirement in wanted} <= lock.keys()


def test_the_second_lock_pins_the_lowest_versions(pyproject: dict[str, Any]) -> None:
    pins = entries_of("requirements-lowest.lock")
    for requirement in pyproject["project"]["dependencies"]:
        name, _, bound = requirement.partition(">=")
        assert re.fullmatch(r"[\d.]+", bound), f"{name} has no lower bound"
        pinned = re.search(r"==([\d.]+)", pins[canonical(name)])
        assert pinned
        assert re.fullmatch(rf"{re.escape(bound)}(\.0)*", pinned[1]), name


def test_the_hooks_of_a_commit_are_steps_of_ci() -> None:
    """They take their programs from the environment, so they need no network."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [each["repo"] for each in config["repos"]] == ["local"]
    hooks = [hook for each in config["repos"] for hook in each["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    programs = {hook["entry"].split()[0] for hook in hooks}
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert programs == {"ruff", "mypy", "lint-imports"}
    assert programs <= set(re.findall(r"^step ([\w-]+)", run, flags=re.MULTILINE))


def test_layers_hold() -> None:
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert program, "lint-imports is missing: install the test extra"
    done = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_layers_name_modules_that_exist(pyproject: dict[str, Any]) -> None:
    """A name without parentheses is a promise; import-linter says so less clearly."""
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in contracts if each["type"] == "layers"]
    names = [name.strip() for line in contract["layers"] for name in re.split("[:|]", line)]
    firm = [name for name in names if not name.startswith("(")]
    package = ROOT / "sqlanon"
    missing = [
        name
        for name in firm
        if not (package / f"{name}.py").exists() and not (package / name).is_dir()
    ]
    assert not missing


def test_top_level_of_the_repository_stays_small() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    top = {path.split("/", 1)[0] for path in listed.stdout.split("\0") if path}
    assert top <= TOP_LEVEL


def whereabouts() -> list[Any]:
    """The rows of the map in CONTRIBUTING: what, where, and the name defined there."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Where is it?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| `(sqlanon/.+?)` \| `(\w+)` \|$", section, flags=re.MULTILINE)
    return [pytest.param(path, name, id=what) for what, path, name in rows]


def defined_in(path: Path) -> set[str]:
    """Names that a module or its classes define."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize(("path", "name"), whereabouts())
def test_the_map_of_the_code_is_true(path: str, name: str) -> None:
    assert name in defined_in(ROOT / path)


def test_the_map_of_the_code_answers_every_question() -> None:
    assert len(whereabouts()) >= 15


def test_the_guide_to_the_queries_is_true() -> None:
    """It names files that exist, and all of the room that it explains file by file."""
    page = (ROOT / "sql" / "README.md").read_text(encoding="utf-8")
    linked = {path for path in re.findall(r"\]\(([^)]+)\)", page) if not path.startswith("http")}
    assert linked
    assert not [path for path in linked if not (ROOT / "sql" / path).exists()]
    scoring = {f"evaluate/{path.name}" for path in (ROOT / "sql" / "evaluate").iterdir()}
    assert scoring <= linked
