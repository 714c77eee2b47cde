"""`toolcrib add websearch`: a server that comes with Toolcrib is added by its name, without a question."""

from __future__ import annotations

from tests.cli.command_line import CommandLine


def _entry(toolcrib: CommandLine, name: str) -> object:
    return toolcrib.config()["mcpServers"][name]


def test_a_bundled_server_is_added_by_its_name(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "discord", "--json", "--no-test")

    assert answer.code == 0
    assert _entry(toolcrib, "discord") == {"type": "inprocess", "module": "toolcrib.bundled.discord"}


def test_its_options_follow_the_dashes(toolcrib: CommandLine) -> None:
    toolcrib("add", "websearch", "--replace", "--no-test", "--", "--searxng", "http://127.0.0.1:8888")

    assert _entry(toolcrib, "websearch") == {
        "type": "inprocess",
        "module": "toolcrib.bundled.websearch",
        "args": ["--searxng", "http://127.0.0.1:8888"],
    }


def test_it_can_have_another_name(toolcrib: CommandLine) -> None:
    assert toolcrib("add", "sums", "demo", "--no-test").code == 0

    assert _entry(toolcrib, "sums") == {"type": "inprocess", "module": "toolcrib.bundled.demo"}


def test_after_a_name_and_dashes_it_is_a_command(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "sums", "--yes", "--json", "--", "demo")

    assert (answer.code, answer.error["kind"]) == (2, "usage")


def test_one_that_needs_an_account_says_how_to_add_it(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "mail", "--no-test")

    assert "toolcrib account add imap NAME" in answer.err


def test_the_terminal_is_turned_on_in_the_settings(toolcrib: CommandLine) -> None:
    assert toolcrib("add", "terminal").code == 0

    assert toolcrib.config()["toolcrib"]["terminal"]["enabled"] is True
    assert "terminal" not in toolcrib.config()["mcpServers"]


def test_the_catalog_lists_bundled_servers_first(toolcrib: CommandLine) -> None:
    servers = toolcrib("search-servers", "--json").json["servers"]

    bundled = [server["bundled"] for server in servers]
    assert bundled == sorted(bundled, reverse=True)
    mail = next(server for server in servers if server["name"] == "mail")
    assert (mail["add"], mail["needs_account"]) == ("toolcrib add mail", ["google", "imap"])


def test_options_that_it_cannot_use_are_refused(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "discord", "--no-test", "--env", "KEY=value", "--json")

    assert (answer.code, answer.error["kind"]) == (2, "usage")


def test_adding_one_again_turns_it_on_and_keeps_its_options(toolcrib: CommandLine) -> None:
    plain = {"type": "inprocess", "module": "toolcrib.bundled.websearch"}

    toolcrib("disable", "websearch")
    again = toolcrib("add", "websearch", "--no-test")
    assert (again.code, _entry(toolcrib, "websearch")) == (0, plain)

    toolcrib("add", "websearch", "--no-test", "--", "--searxng", "http://127.0.0.1:8888")
    refused = toolcrib("add", "websearch", "--no-test", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "usage")
    assert _entry(toolcrib, "websearch") == {**plain, "args": ["--searxng", "http://127.0.0.1:8888"]}


def test_options_of_the_server_and_of_the_command_may_be_mixed(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "desktop", "--headless", "800x600", "--no-test", "--json")

    assert answer.code == 0
    assert _entry(toolcrib, "desktop")["args"] == ["--headless", "800x600"]
