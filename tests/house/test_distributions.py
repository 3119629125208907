"""The source distribution has the files of a clone and makes a wheel that runs by itself."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.checkout import copy_checkout, files_of_checkout

OF_GIT_ONLY = (".ci/", ".github/", ".pre-commit-config.yaml")
STRAY = (".venv/lib/a.py", "ngramscan/__pycache__/a.pyc", "docs/examples/counts.csv", "dist/a.whl")
NEEDED = (
    "ngramscan/shipped_patterns/f1.yaml",
    "ngramscan/reporting/page/templates/style.css",
    "evalcore/benchmarks/financemath.yaml",
)


class Built(NamedTuple):
    source: list[str]
    wheel: Path


def build(kind: str, folder: Path, into: Path) -> Path:
    """Build a distribution of a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (made,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The names in a source distribution of a clone with stray files, and the wheel made of it."""
    folder = tmp_path_factory.mktemp("distributions")
    clone = folder / "clone"
    copy_checkout(clone)
    for name in STRAY:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("stray")
    with tarfile.open(build("sdist", clone, folder / "dist")) as archive:
        archive.extractall(folder, filter="data")
        names = [member.name.partition("/")[2] for member in archive if not member.isdir()]
    (unpacked,) = folder.glob("ngramscan-*")
    return Built(names, build("wheel", unpacked, folder / "dist"))


def test_the_source_distribution_has_the_files_of_a_clone_and_no_others(built: Built) -> None:
    expected = {name for name in files_of_checkout() if not name.startswith(OF_GIT_ONLY)}
    assert set(built.source) - {"PKG-INFO"} == expected


def test_the_wheel_has_the_modules_and_data_of_both_packages(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    patterns = {f"ngramscan/shipped_patterns/{name}.yaml" for name in ("f1", "verify")}
    assert names == {*files_of_checkout("ngramscan", "evalcore"), *patterns}
    assert names.issuperset(NEEDED)


def test_the_wheel_runs_outside_the_checkout(built: Built, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(tmp_path / "packages")
    (tmp_path / "a.txt").write_text("let's think step by step")
    libraries = sysconfig.get_paths()["purelib"]
    paths = os.pathsep.join([str(tmp_path / "packages"), libraries])
    # Without `site`, no .pth file leads to an editable checkout.
    command = [sys.executable, "-S", "-P", "-m", "ngramscan", "count", "f1", "--format", "csv"]
    done = subprocess.run(
        [*command, "--index", "scan:a.txt"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "step by step,1,1" in done.stdout
