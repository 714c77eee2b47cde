"""What a person at a terminal sees and is asked."""

from __future__ import annotations

import re
import signal
import sys

from tests.cli.command_line import SMALL_SERVER, CommandLine
from tests.cli.terminal import terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


def test_the_live_table_follows_the_servers_and_leaves_the_terminal_as_it_was(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    with terminal(toolcrib, "up", real=True) as screen:
        screen.expect("small")
        screen.expect("2025-06-18")
        screen.expect("call demo__add a=1 b=2")

        toolcrib("stop", "small")
        screen.expect("Stopped by the user")
        screen.type("\x03")

        assert screen.wait() == 0
        assert "Stopping the servers" in screen.seen
        assert screen.seen.rfind(SHOW_CURSOR) > screen.seen.rfind(HIDE_CURSOR) >= 0
        assert screen.settings() == screen.before


def test_a_small_terminal_shows_the_servers_in_trouble_first(toolcrib: CommandLine) -> None:
    for number in range(6):
        toolcrib.add(f"good-{number}", options=("--disabled",))
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    with terminal(toolcrib, "up", rows=14, columns=60) as screen:
        screen.expect("failed")
        screen.expect("… and 8 more")
        screen.process.send_signal(signal.SIGTERM)
        assert screen.wait() == 0


def test_a_broken_edit_is_shown_while_the_host_goes_on(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "up") as screen:
        screen.expect("ready")
        (toolcrib.home / "mcp.json").write_text("{")
        screen.expect("Config not applied")
        screen.type("\x03")
        assert screen.wait() == 0


def test_a_host_whose_terminal_goes_away_ends_in_order(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "up") as screen:
        screen.expect("ready")
        screen.process.send_signal(signal.SIGHUP)
        assert screen.wait() == 0


def test_states_are_coloured_unless_no_color_is_set(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "servers") as screen:
        screen.wait()
        assert "\x1b[32mready" in screen.seen
    toolcrib.extra["NO_COLOR"] = "1"
    with terminal(toolcrib, "servers") as screen:
        screen.wait()
        assert COLOUR.search(screen.seen) is None


def test_errors_are_coloured_unless_no_color_is_set(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "servrs") as screen:
        assert screen.wait() == 2
        assert "\x1b[31merror:\x1b[0m" in screen.seen
    toolcrib.extra["NO_COLOR"] = "1"
    with terminal(toolcrib, "servrs") as screen:
        screen.wait()
        assert "\x1b" not in screen.seen


def test_the_live_table_heeds_no_color(toolcrib: CommandLine) -> None:
    toolcrib.extra["NO_COLOR"] = "1"
    with terminal(toolcrib, "up") as screen:
        screen.expect("ready")
        screen.type("\x03")
        assert screen.wait() == 0
        assert not re.search(r"\x1b\[(?:\d+;)*3[0-7]m", screen.seen)


def test_a_table_fits_the_terminal(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "tools", columns=60) as screen:
        screen.wait()
        shown = COLOUR.sub("", screen.seen).splitlines()
        assert all(len(line) <= 60 for line in shown if not line.startswith("12 tools"))
        assert any(line.endswith("…") for line in shown)


def test_a_person_is_asked_before_a_server_is_added(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    words = ("add", "small", "--", sys.executable, str(SMALL_SERVER))
    with terminal(toolcrib, *words, columns=300) as screen:
        screen.expect(f"{sys.executable} {SMALL_SERVER}")
        screen.expect("[y/N]")
        assert "small" not in toolcrib.config()["mcpServers"]
        screen.type("n\n")
        assert screen.wait() == 4
    assert "small" not in toolcrib.config()["mcpServers"]
    with terminal(toolcrib, *words, columns=300) as screen:
        screen.expect("[y/N]")
        screen.type("y\n")
        assert screen.wait() == 0
        # Whoever said yes wants to see whether it works.
        assert "handshake" in screen.seen
    assert "small" in toolcrib.config()["mcpServers"]


def test_a_person_may_keep_a_key_in_the_file(toolcrib: CommandLine) -> None:
    with terminal(
        toolcrib, "add", "small", "--no-test", "--env", "API_KEY=0123456789", "--", "true"
    ) as screen:
        screen.expect("[Y/n]")
        screen.type("n\n")
        screen.expect("whenever Toolcrib runs? [y/N]")
        screen.type("y\n")
        assert screen.wait() == 0
        assert "0123456789" not in screen.seen
    assert toolcrib.config()["mcpServers"]["small"]["env"] == {"API_KEY": "0123456789"}


def test_a_secret_is_typed_unseen(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "secret", "set", "TOKEN") as screen:
        screen.expect("Value of TOKEN:")
        screen.type("open sesame\n")
        assert screen.wait() == 0
        assert "open sesame" not in screen.seen
    assert toolcrib("secret", "--json").json[0]["name"] == "TOKEN"


def test_an_interrupted_question_is_no_yes(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    with terminal(toolcrib, "remove", "demo") as screen:
        screen.expect("[y/N]")
        screen.type("\x03")
        assert screen.wait() == 130
    assert "demo" in toolcrib.config()["mcpServers"]


def test_text_of_a_server_moves_no_cursor_and_sets_no_title(toolcrib: CommandLine) -> None:
    toolcrib.extra["NO_COLOR"] = "1"
    toolcrib.add("small", "--say", "a\x1b[31mred\x1b[0m\x1b]0;title\x07b")
    toolcrib("test", "small")

    for words in (("call", "small__colours"), ("logs", "small"), ("call", "small__colours", "--json")):
        with terminal(toolcrib, *words) as screen:
            assert screen.wait() == 0
            assert "\x1b" not in screen.seen
            assert "\x07" not in screen.seen
            assert "red" in screen.seen
    # A program that reads the output gets it unchanged.
    assert "\x1b[31m" in toolcrib("call", "small__colours").out


def test_progress_is_shown_while_a_call_runs(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    with terminal(toolcrib, "call", "small__count") as screen:
        screen.expect("… 3 of 3 step 3")
        assert screen.wait() == 0
        assert "three" in screen.seen
