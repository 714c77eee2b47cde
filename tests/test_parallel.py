"""Several processes run every test once and report it; a test that ends its process is itself a failure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEADLINE = 120.0
TESTS = """
import os
import pytest

@pytest.fixture(scope="module")
def number():
    yield 1
    print("the module ended")

@pytest.mark.parametrize("case", range(40))
def test_counts(case, number, tmp_path):
    (tmp_path / "file").write_text(str(case))
    print("case", case)
    assert case != 7

@pytest.mark.skip(reason="left out")
def test_skipped():
    pass
"""
ENDING = """
import os

def test_ends_the_process():
    os._exit(3)

def test_after_it():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_many.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    plugins = ("-p", "tests.parallel", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *plugins, "-q", "-rfEs", "--jobs", "3"]
    return subprocess.run(
        [*command, "-c", str(folder / "pytest.ini"), *options, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def test_every_test_runs_once_and_a_failure_is_shown_with_its_output(folder: Path) -> None:
    done = run(folder)

    assert done.returncode == 1, done.stdout
    assert re.search(r"1 failed, 39 passed, 1 skipped", done.stdout)
    assert "case 7\n" in done.stdout
    assert "case 8\n" not in done.stdout


def test_a_test_that_ends_its_process_fails_and_the_others_run(folder: Path) -> None:
    (folder / "test_ending.py").write_text(ENDING)

    done = run(folder)

    assert done.returncode == 1
    assert "2 failed, 40 passed, 1 skipped" in done.stdout, done.stdout
    assert "The process of the test ended with 3." in done.stdout


def test_no_further_part_is_given_out_after_the_last_failure_allowed(folder: Path) -> None:
    (folder / "test_many.py").write_text(TESTS.replace("range(40)", "range(4000)"))

    done = run(folder, "-x")

    assert done.returncode == 1
    assert "stopping after 1 failures" in done.stdout, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) < 1000
