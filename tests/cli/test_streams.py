"""Standard streams that are full, closed or missing: an error with a hint, or none, never a bug report."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.waiting import eventually
from toolcrib.cli.error_report import report
from toolcrib.schema.system_failures import explained

FULL = Path("/dev/full")


@pytest.mark.parametrize(
    "words",
    [["--version"], ["--help"], ["servers"], ["servers", "--json"], ["settings", "set", "callWait", "6"]],
)
def test_an_output_that_is_full_is_named_as_the_reason(toolcrib: CommandLine, words: list[str]) -> None:
    with FULL.open("w") as full:
        command = toolcrib.start(*words, stdout=full)
        _, err = command.communicate(timeout=60)

    assert command.returncode == 1
    assert "error: The output cannot be written: No space left on device." in err
    assert "hint: Free some space" in err
    assert "bug" not in err


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["servers", "--json"], ["nonsense", "--json"]])
def test_a_reader_that_is_gone_is_no_error_of_any_command(toolcrib: CommandLine, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = toolcrib.start(*words, stdout=writing)
    os.close(writing)

    assert (command.communicate(timeout=60)[1], command.returncode) == ("", 141)


def test_messages_that_cannot_be_shown_do_not_stop_a_command(toolcrib: CommandLine) -> None:
    with FULL.open("w") as full:
        command = toolcrib.start("audit", stderr=full)
        command.communicate(timeout=60)
    with FULL.open("w") as full:
        unknown = toolcrib.start("call", "no__tool", stderr=full)
        unknown.communicate(timeout=60)

    assert (command.returncode, unknown.returncode) == (0, 3)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_opened_and_discards_everything(
    toolcrib: CommandLine, closed: str
) -> None:
    """Otherwise the database would get its number, and what is printed would be written into the database."""
    line = f"'{PROGRAM}' audit {closed}; echo $? >&3"
    reading, writing = os.pipe()
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&{writing}; {line}"],
        env=toolcrib.environment,
        capture_output=True,
        pass_fds=[writing],
        check=False,
    )
    os.close(writing)
    with os.fdopen(reading) as code:
        assert (code.read().strip(), b"Traceback" in done.stderr + done.stdout) == ("0", False)
    with sqlite3.connect(toolcrib.home / "data" / "toolcrib.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_host_goes_on_without_any_stream(toolcrib: CommandLine) -> None:
    host = toolcrib.start(
        "up", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=_close_streams
    )
    try:
        eventually(lambda: (toolcrib.home / "run" / "host.sock").exists())
        assert toolcrib("servers", "--json").code == 0
    finally:
        host.send_signal(signal.SIGTERM)
        code = host.wait(60)
    assert code == 0


def _close_streams() -> None:
    for descriptor in (0, 1, 2):
        os.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE, errno.EIO, 9999])
def test_what_the_system_refuses_is_no_bug_and_comes_with_a_hint(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(number, "refused", "/some/file")

    assert report(error, as_data=False, debug=False) == 1
    shown = capsys.readouterr().err
    assert "error: refused: /some/file." in shown
    assert "hint: " in shown
    assert "bug in" not in shown


def test_a_user_without_a_home_is_no_bug() -> None:
    known = explained(RuntimeError("Could not determine home directory."))
    assert known is not None
    assert "TOOLCRIB_HOME" in known.hint


@pytest.mark.parametrize(
    ("statement", "kind"),
    [("PRAGMA max_page_count = 1", "database_unavailable"), ("PRAGMA query_only = 1", "database_refused")],
)
def test_a_database_that_cannot_be_written_is_no_bug(statement: str, kind: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE texts (text)")
    connection.execute(statement)
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO texts VALUES (zeroblob(100000))")

    known = explained(caught.value)
    assert known is not None
    assert (known.kind, bool(known.hint)) == (kind, True)


def test_a_statement_of_ours_that_is_wrong_stays_a_bug() -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(":memory:").execute("SELECT nonsense")
    assert explained(caught.value) is None
    assert explained(ValueError("ours")) is None
