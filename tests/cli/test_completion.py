"""Shell completion: the scripts, and the names they are given without anything being started."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.cli.command_line import CommandLine
from tests.databases.postgres import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]


def complete(toolcrib: CommandLine, *words: str) -> list[str]:
    """What bash would be offered for the last of these words."""
    line = " ".join(("toolcrib", *words))
    answer = toolcrib(_TOOLCRIB_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words)))
    assert answer.err == ""
    return [found.partition(",")[2] for found in answer.out.splitlines() if found]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(toolcrib: CommandLine, shell: str) -> None:
    answer = toolcrib("completion", shell)

    assert answer.code == 0
    assert f"_TOOLCRIB_COMPLETE={shell}_complete" in answer.out


@pytest.mark.parametrize(
    ("shell", "changed"),
    [("bash", "compopt -o nospace"), ("zsh", "compadd -U -S ''"), ("fish", 'string split -m 1 ","')],
)
def test_a_completed_parameter_is_followed_by_its_value(
    toolcrib: CommandLine, shell: str, changed: str
) -> None:
    assert changed in toolcrib("completion", shell).out


def test_bash_puts_no_space_after_a_parameter(toolcrib: CommandLine) -> None:
    script = toolcrib("completion", "bash").out
    program = """
complete() { :; }
compopt() { echo "compopt $2"; }
toolcrib() { :; }
env() { printf 'plain,a=\\n'; }
%s
COMP_WORDS=(toolcrib call demo__divide a); COMP_CWORD=3
_toolcrib_completion toolcrib
echo "${COMPREPLY[@]}"
env() { printf 'plain,call\\n'; }
COMPREPLY=()
_toolcrib_completion toolcrib
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", program % script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["compopt nospace", "a=", "call"]


def test_the_bash_script_is_one_that_bash_reads(toolcrib: CommandLine) -> None:
    bash = shutil.which("bash")
    assert bash is not None

    done = subprocess.run([bash, "-n"], input=toolcrib("completion", "bash").out, text=True, check=False)

    assert done.returncode == 0


def test_the_shell_in_use_is_the_default(toolcrib: CommandLine) -> None:
    assert toolcrib("completion", SHELL="/bin/zsh").out == toolcrib("completion", "zsh").out
    assert toolcrib("completion", "--json", SHELL="").code == 2


def test_commands_and_options_are_completed(toolcrib: CommandLine) -> None:
    assert complete(toolcrib, "serv") == ["serve", "servers", "service"]
    assert "--json" in complete(toolcrib, "servers", "--")
    assert set(complete(toolcrib, "secret", "")) >= {"list", "set", "remove"}


def test_servers_tools_and_parameters_are_completed(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    toolcrib("tools")

    assert complete(toolcrib, "test", "sm") == ["small"]
    assert complete(toolcrib, "call", "small__e") == ["small__echo"]
    assert complete(toolcrib, "call", "small__echo", "te") == ["text="]
    assert set(complete(toolcrib, "logs", "")) == {"demo", "filesystem", "websearch", "small"}


def test_the_tools_of_a_removed_server_are_no_longer_offered(toolcrib: CommandLine) -> None:
    toolcrib("tools")
    toolcrib("remove", "demo", "--yes")

    assert complete(toolcrib, "call", "demo") == []


def test_completing_starts_and_makes_nothing(toolcrib: CommandLine) -> None:
    assert complete(toolcrib, "test", "") == []
    assert complete(toolcrib, "call", "") == []
    assert list(toolcrib.home.iterdir()) == []


def test_a_broken_home_is_silent(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text("{")
    (toolcrib.home / "data").mkdir()
    (toolcrib.home / "data" / "toolcrib.db").write_text("no database")
    (toolcrib.home / "secrets.json").write_text("[]")

    assert complete(toolcrib, "test", "") == []
    assert complete(toolcrib, "call", "") == []
    assert complete(toolcrib, "secret", "remove", "") == []


def test_names_in_a_shared_database_are_completed(toolcrib: CommandLine, postgres_url: str) -> None:
    assert toolcrib("profiles", "add", "team", "--tool", "demo__*").code == 0
    assert toolcrib("tools").code == 0
    assert toolcrib("database", "move", postgres_url, "--yes").code == 0

    assert complete(toolcrib, "call", "demo__ad") == ["demo__add"]
    assert complete(toolcrib, "call", "demo__add", "a") == ["a="]
    assert complete(toolcrib, "profiles", "remove", "te") == ["team"]


def test_a_shared_database_that_is_gone_is_silent(toolcrib: CommandLine) -> None:
    settings = {"toolcrib": {"database": "postgresql://nobody@127.0.0.1:9/none"}, "mcpServers": {"demo": {}}}
    (toolcrib.home / "mcp.json").write_text(json.dumps(settings))

    assert complete(toolcrib, "call", "demo") == []
    assert complete(toolcrib, "profiles", "remove", "") == []
    assert complete(toolcrib, "test", "de") == ["demo"]
