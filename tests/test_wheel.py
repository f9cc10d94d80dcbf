"""The built wheel works in a clean environment, away from the repository."""

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installed:
    wheel: Path
    bin: Path
    site_packages: Path

    def run(self, program: str, *arguments: str, cwd: Path) -> str:
        return run(self.bin / program, *arguments, cwd=cwd)


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed and must not see the checkout."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT, cwd=folder)
    (wheel,) = (folder / "dist").glob("sqlanon-*.whl")

    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    bin_ = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run(bin_ / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    site_packages = run(
        bin_ / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    )
    return Installed(wheel, bin_, Path(site_packages.strip()))


@pytest.mark.parametrize(
    "pattern",
    ["sql/**/*", "hierarchies/**/*", "examples/adult/adult.parquet", "examples/adult/README.md"],
)
def test_wheel_carries(installed: Installed, pattern: str) -> None:
    wanted = {
        f"sqlanon/_resources/{path.relative_to(ROOT).as_posix()}"
        for path in ROOT.glob(pattern)
        if path.is_file()
    }
    assert wanted
    with zipfile.ZipFile(installed.wheel) as archive:
        assert wanted <= set(archive.namelist())


def test_wheel_carries_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = archive.namelist()
    assert "sqlanon/py.typed" in names
    assert "sqlanon/release/templates/certificate.html" in names
    assert "sqlanon/release/templates/certificate.css" in names
    assert {name.split("/")[0].split("-")[0].removesuffix(".dist") for name in names} == {"sqlanon"}


def test_version(installed: Installed, tmp_path: Path) -> None:
    version = installed.wheel.name.split("-")[1]
    assert version in installed.run("sqlanon", "--version", cwd=tmp_path)


@pytest.mark.parametrize("parts", [("sql",), ("hierarchies", "adult", "workclass.csv")])
def test_resources_come_from_the_wheel(
    installed: Installed, tmp_path: Path, parts: tuple[str, ...]
) -> None:
    code = f"import sqlanon.resources as r; print(r.path(*{parts!r}))"
    found = Path(installed.run("python", "-c", code, cwd=tmp_path).strip())
    assert found.exists()
    assert found.resolve().is_relative_to(installed.site_packages.resolve())


def test_demo_runs_from_another_folder(installed: Installed, tmp_path: Path) -> None:
    installed.run("sqlanon", "demo", "--quiet", cwd=tmp_path)
