"""Runs a test that needs root in a user namespace of its own, where the user is not root."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
DEADLINE = 120.0
REASON = """This test needs root, or a user namespace (it {what}).
Run `make needs`, which installs newuidmap (Debian: uidmap), allow user namespaces, and give this user a range
in /etc/subuid and /etc/subgid; or run the tests as root.
"""


def run_as_root(item: pytest.Item, what: str, *, other_users: bool) -> None:
    """Run the test once more, as root of a new namespace; it fails here as it fails there."""
    command = [*UNSHARE, "--map-auto"] if other_users else list(UNSHARE)
    _check(command, REASON.format(what=what))
    # What belongs to another user inside can only be deleted inside.
    options = ("-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=none", "-m", "")
    done = subprocess.run(
        [*command, sys.executable, "-m", "pytest", "-q", *options, item.nodeid],
        cwd=item.config.rootpath,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"As root of a user namespace:\n{done.stdout}{done.stderr}", pytrace=False)


def _check(command: list[str], reason: str) -> None:
    try:
        done = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=DEADLINE)
    except FileNotFoundError as error:
        pytest.fail(f"{reason}{error}", pytrace=False)
    if done.returncode:
        pytest.fail(f"{reason}{done.stderr}", pytrace=False)
