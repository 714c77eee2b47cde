from __future__ import annotations

import os
import subprocess
import sys

from toolcrib.config.entries import parse_entry
from toolcrib.config.environment import child_environment, entry_environment

HOST = {
    "HOME": "/home/me",
    "PATH": "/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C",
    "TZ": "UTC",
    "XDG_CONFIG_HOME": "/c",
    "https_proxy": "http://proxy",
    "NO_PROXY": "localhost",
    "SSL_CERT_FILE": "/ca.pem",
    "NODE_EXTRA_CA_CERTS": "/ca.pem",
    "OPENAI_API_KEY": "k1",
    "AWS_SECRET_ACCESS_KEY": "k2",
    "GITHUB_TOKEN": "k3",
    "LD_PRELOAD": "/evil.so",
    "NODE_OPTIONS": "--require evil",
    "PYTHONPATH": "/evil",
    "BASH_ENV": "/evil",
    "TOOLCRIB_TOKEN": "k4",
    "TOOLCRIB_HOME": "/h",
    "LC_EVIL": "() { :; }; echo pwned",
    "LANGUAGE": "()",
}


def test_keys_and_code_of_the_host_are_not_inherited() -> None:
    seen = child_environment(HOST)

    assert set(seen) == {
        "HOME",
        "PATH",
        "LANG",
        "LC_ALL",
        "TZ",
        "XDG_CONFIG_HOME",
        "https_proxy",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
    }


def test_what_the_entry_allows_passes_but_our_own_never() -> None:
    seen = child_environment(HOST, allow=["GITHUB_TOKEN", "TOOLCRIB_TOKEN", "NOT_SET"])

    assert seen["GITHUB_TOKEN"] == "k3"
    assert "TOOLCRIB_TOKEN" not in seen
    assert "NOT_SET" not in seen


def test_a_shell_function_passes_under_no_name() -> None:
    assert "F" not in child_environment({"F": "() { :; }"}, allow=["F"])


def test_the_entrys_own_variables_win() -> None:
    seen = child_environment(HOST, own={"PATH": "/opt/bin", "NEW": "1", "https_proxy": None})

    assert seen["PATH"] == "/opt/bin"
    assert seen["NEW"] == "1"
    assert "https_proxy" not in seen


def test_an_entry_says_what_it_may_see_and_what_not() -> None:
    raw = {"command": "x", "env": {"HOME": None, "OWN": "1"}, "envAllow": ["GITHUB_TOKEN"]}

    seen = entry_environment(parse_entry("s", raw), HOST)

    assert seen == child_environment(HOST, allow=["GITHUB_TOKEN"], own={"HOME": None})
    assert "OWN" not in seen


def test_a_real_process_sees_nothing_else() -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "k1"}

    shown = subprocess.run(
        [sys.executable, "-c", "import os; print(*os.environ, sep='\\n')"],
        env=child_environment(environ),
        capture_output=True,
        text=True,
        check=True,
    )

    assert "PATH" in shown.stdout.split()
    assert "OPENAI_API_KEY" not in shown.stdout
