"""What a newcomer gets is what is tested everywhere."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROFILE = """
import tests.conftest
from hypothesis import settings
names = "max_examples", "deadline", "derandomize", "database", "suppress_health_check"
print({name: getattr(settings.default, name) for name in names})
"""


@pytest.mark.parametrize("variables", [{}, {"CI": "true"}, {"GITHUB_ACTIONS": "true"}])
def test_properties_are_tested_alike_with_and_without_ci(variables: dict[str, str]) -> None:
    # Nothing else of this environment, which may itself be CI's.
    given = {"PATH": os.defpath, **variables}
    command = [sys.executable, "-c", PROFILE]
    done = subprocess.run(
        command, cwd=ROOT, env=given, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == (
        "{'max_examples': 100, 'deadline': None, 'derandomize': True, 'database': None,"
        " 'suppress_health_check': (HealthCheck.too_slow,)}\n"
    )


def test_the_metadata_name_the_pythons_that_are_tested() -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    tested = workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one]
    assert named == tested
    assert project["requires-python"] == f">={tested[0]}"
