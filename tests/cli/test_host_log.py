"""The host's own log: lines that programs can read, in files that stay small and private."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcrib.cli import host_log
from toolcrib.tools.masker import Masker

logger = logging.getLogger("toolcrib.tests.host_log")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    host_log.keep_log(tmp_path / "host.log", Masker().text)
    yield tmp_path / "host.log"
    for handler in [one for one in root.handlers if one not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_has_the_message_and_its_facts(log: Path):
    logger.warning("it was %s", "slow", extra={"server": "demo", "seconds": 3})
    (line,) = lines(log)
    assert line["message"] == "it was slow"
    assert (line["level"], line["logger"]) == ("warning", "toolcrib.tests.host_log")
    assert (line["server"], line["seconds"]) == ("demo", 3)


def test_half_a_character_and_a_traceback_are_written_too(log: Path):
    try:
        raise ValueError("\ud800")
    except ValueError as error:
        facts = {"msg": "odd", "exc_info": (ValueError, error, error.__traceback__)}
    # Handed over directly: whoever reports on this test could not write half a character.
    handlers = logging.getLogger().handlers
    ours = next(one for one in handlers if getattr(one, "baseFilename", None) == str(log))
    ours.handle(logging.makeLogRecord({**facts, "levelname": "ERROR", "levelno": logging.ERROR}))
    assert "ValueError" in str(lines(log)[0]["traceback"])


def test_a_large_file_is_set_aside_and_only_so_many_are_kept(log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(host_log, "MAX_BYTES", 1000)
    for number in range(100):
        logger.info("x" * 100, extra={"number": number})
    files = sorted(log.parent.iterdir())
    assert [file.name for file in files] == ["host.log", "host.log.1", "host.log.2", "host.log.3"]
    assert all(file.stat().st_size < 1300 for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    kept = [line["number"] for file in [*files[:0:-1], log] for line in lines(file)]
    assert kept == list(range(100 - len(kept), 100))


@pytest.mark.parametrize("library", ["httpx2", "httpcore2.http11", "mcp.client.auth", "toolcribish"])
def test_a_library_logs_only_warnings_whatever_its_level(log: Path, library: str) -> None:
    logging.getLogger().setLevel(logging.DEBUG)
    theirs = logging.getLogger(library)
    before = theirs.level
    theirs.setLevel(logging.DEBUG)
    try:
        theirs.info("HTTP Request: GET https://x.example/?opaque=value")
        theirs.debug("authorization: value")
        theirs.warning("failed for https://x.example/?api_key=value")
        logger.info("ours")
    finally:
        theirs.setLevel(before)

    assert [line["message"] for line in lines(log)][1:] == ["ours"]
    assert "value" not in log.read_text()


def test_debugging_shows_our_own_messages_and_only_warnings_of_libraries() -> None:
    code = (
        "import logging; from toolcrib.cli.entry import _set_up_logging; _set_up_logging(True);"
        "logging.getLogger('toolcrib.x').debug('ours');"
        "logging.getLogger('httpx2').info('HTTP Request: GET https://x.example/?opaque=value');"
        "logging.getLogger('httpcore2').debug('authorization: value')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "ours" in done.stderr
    assert "value" not in done.stderr
