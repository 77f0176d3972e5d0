"""Workflows and templates are valid YAML, call what exists, and test what the package says it supports."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip(
    "yaml", reason="workflows are read with PyYAML, which comes with the extra docs"
)

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_says_when_where_and_with_which_rights(path):
    workflow = read(path)
    assert workflow[True]  # YAML reads the key "on" as a truth value
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert 0 < job["timeout-minutes"] <= 180
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_calls_targets_that_exist(path):
    called = [
        step["run"] for step in steps_of(read(path)) if step.get("run", "").startswith("make ")
    ]
    assert called
    assert [target for line in called for target in line.split()[1:] if target not in TARGETS] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_pins_the_actions_that_it_uses(path):
    used = [step["uses"] for step in steps_of(read(path)) if "uses" in step]
    assert [
        action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", action)
    ] == []


def test_tests_run_on_three_systems_and_every_python_that_is_declared():
    matrix = read(GITHUB / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    assert matrix["python"] == declared
    assert project["requires-python"] == f">={declared[0]}"
    assert {system.partition("-")[0] for system in matrix["system"]} == {
        "ubuntu",
        "macos",
        "windows",
    }


def test_only_a_tag_is_published_and_only_that_job_may_prove_who_it_is():
    jobs = read(GITHUB / "workflows" / "publish.yml")["jobs"]
    assert jobs["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "permissions" not in jobs["build"]
