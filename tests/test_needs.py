"""Tests that need more than Python are found by what they use."""

from __future__ import annotations

import pytest

pytest_plugins = ("pytester",)
SETTINGS = """[pytest]
asyncio_default_fixture_loop_scope = function
markers =
  acceptance
  as_root
  quiet
  soak
"""
TESTS = """
import pytest
def running_postgres(): ...
@pytest.fixture
def postgres(): ...
@pytest.fixture
def database(): running_postgres()
def test_plain(tmp_path): ...
def test_by_fixture(postgres): ...
def test_by_the_function_of_a_fixture(database): ...
def test_by_a_function_inside():
    def start(): return running_postgres()
    start()
@pytest.mark.parametrize("kind", ["landlock", "bubblewrap"])
def test_by_value(kind): ...
@pytest.mark.as_root("does something")
def test_by_marker(): ...
@pytest.mark.soak
def test_long(postgres): ...
@pytest.mark.quiet
def test_alone(): ...
"""


def test_a_test_that_uses_another_program_is_run_by_acceptance(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    pytester.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nmarkers =\n  acceptance\n  as_root\n"
    )

    chosen = pytester.inline_run("-p", "tests.needs", "-m", "not acceptance").listoutcomes()[0]

    assert {report.nodeid.partition("::")[2] for report in chosen} == {
        "test_long",
        "test_plain",
        "test_by_value[landlock]",
    }
