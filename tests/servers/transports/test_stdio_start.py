"""Commands that cannot be run: each is named, with what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.children import linked, misbehaving, open_descriptors
from toolcrib.errors import ConnectionLost, SpawnFailed
from toolcrib.servers.transports import stdio

pytestmark = pytest.mark.usefixtures("tidy")
BOTH_LOOPS = True
NOTE = {"jsonrpc": "2.0", "method": "x"}


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("npx", "Node.js"),
        ("uvx", "uv"),
        ("docker", "Docker"),
        ("no-such-program", "full path"),
        ("npx -y some-server", "args"),
    ],
)
async def test_a_command_that_is_not_on_the_path_says_where_it_was_looked_for(command: str, hint: str):
    with pytest.raises(SpawnFailed, match=r"was not found on the PATH \(/nowhere\)") as caught:
        async with linked(stdio.StdioSpec(command=command), environment={"PATH": "/nowhere"}):
            pass
    assert hint in caught.value.hint


async def _failure(spec: stdio.StdioSpec) -> SpawnFailed:
    with pytest.raises(SpawnFailed) as caught:
        async with linked(spec):
            pass
    assert caught.value.hint
    return caught.value


async def test_each_way_of_not_being_runnable_is_named(tmp_path: Path):
    plain = tmp_path / "plain.txt"
    plain.write_text("hello")
    script = tmp_path / "script"
    script.write_text("#!/no/such/python\n")
    script.chmod(0o755)
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\x7fELF not really")
    garbage.chmod(0o755)
    for command, words, hint in [
        (str(tmp_path / "missing"), "was not found", "Fix `command`"),
        (str(plain), "is not executable", "chmod"),
        (str(tmp_path), "is not executable", "chmod"),
        (str(script), "needs an interpreter that is missing", "first line"),
        (str(garbage), "cannot run on this machine", "architecture"),
    ]:
        error = await _failure(stdio.StdioSpec(command=command))
        assert words in error.message
        assert hint in error.hint


async def test_failures_to_run_leave_no_descriptor_behind(tmp_path: Path):
    spec = stdio.StdioSpec(command=str(tmp_path / "missing"))
    await _failure(spec)
    before = open_descriptors()
    for _ in range(20):
        await _failure(spec)
    assert open_descriptors() <= before


@pytest.mark.parametrize("kind", ["missing", "file"])
async def test_a_folder_that_is_none_is_named(tmp_path: Path, kind: str):
    folder = tmp_path / kind
    if kind == "file":
        folder.write_text("")
    error = await _failure(stdio.StdioSpec(command=sys.executable, cwd=str(folder)))
    assert f"The working folder {str(folder)!r} does not exist" in error.message
    assert "cwd" in error.hint


@pytest.mark.parametrize(
    "keys",
    [
        {"args": ("a\0b",)},
        {"env": {"A": "b\0c"}},
        {"env": {"A\0": "b"}},
        {"cwd": "/tmp\0"},
        {"command": "/bin/true\0"},
    ],
)
async def test_a_zero_byte_is_refused_and_never_cuts_a_value_short(keys: dict[str, Any]):
    error = await _failure(stdio.StdioSpec(**{"command": sys.executable, **keys}))
    assert "null byte" in error.message


async def test_too_long_a_command_line_is_named():
    error = await _failure(stdio.StdioSpec(command=sys.executable, args=("x" * 3_000_000,)))
    assert "Argument list too long" in error.message


@pytest.mark.parametrize(("code", "words"), [(127, "was not found"), (126, "is not executable")])
async def test_a_shell_that_could_not_run_it_counts_as_not_runnable(code: int, words: str):
    async with linked(misbehaving("end", code, "sh: 1: nope: not found")) as (_, ear):
        error = await ear.loss()
    assert isinstance(error, SpawnFailed)
    assert words in error.message
    assert "nope: not found" in error.message


async def test_a_server_that_ran_and_ends_with_127_was_there():
    async with linked(misbehaving("answer_then_end", 127)) as (_, ear):
        error = await ear.loss()
    assert type(error) is ConnectionLost
