"""A paste on a terminal is one text: nothing of it is lost, and nothing in it acts as a key."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.cli.command_line import DEADLINE, PROGRAM, CommandLine
from tests.cli.terminal import terminal
from tests.cli.test_chat import Vendor
from tests.cli.test_typing_ahead import CHOICES, asked, rules, was_denied
from tests.llm.wire import openai_chat
from tests.llm.wire.script import Hold, Say
from toolcrib.cli.keyboard import ALT_ENTER, ENTER, KeyDecoder, PastedText, typed_ahead

BEGIN, END = "\x1b[200~", "\x1b[201~"
LINES = "first line\rsecond line\rthird line"
ONE_TEXT = "first line\nsecond line\nthird line"


def questions(vendor: Vendor) -> list[str]:
    """What the model was asked in its latest request."""
    return [one["content"] for one in vendor.script.requests[-1]["messages"] if one["role"] == "user"]


@pytest.mark.parametrize(
    "typed",
    [
        f"{LINES}\r",
        f"{LINES}\r".replace("\r", "\n"),
        f"{BEGIN}{LINES}{END}\r",
        f"{BEGIN}{LINES}\r{END}\r",
        f"{BEGIN}first line\x03\r\x1bsecond line\r\x04third line\x03{END}\r",
        f"{LINES}\r".replace("\r", "\r\n"),
        f"{BEGIN}{LINES}{END}\r".replace("\rs", "\r\ns").replace("\rt", "\r\nt"),
        f"{BEGIN}first\0 line\r\x1b[31msecond\x1b[0m line\r\x1b]8;;a\x1b\\third\x1b]8;;\x1b\\ line{END}\r",
        "\x1b[31mfirst\x1b[0m line\rsecond line\rthird line\r",
        f"{BEGIN}first line\r{END}{BEGIN}second line\rthird line{END}\r",
        *(f"first line{keys}second line{keys}third line\r" for keys in ALT_ENTER),
    ],
)
def test_a_paste_and_lines_typed_with_alt_enter_are_one_message(toolcrib: CommandLine, typed: str) -> None:
    with Vendor(openai_chat, Say("I see.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
            screen.expect("› ")
            screen.type(typed)
            screen.expect("I see.")
            screen.expect("› ", after="I see.")
            screen.type("/exit\r")
            assert screen.wait() == 0
    assert questions(vendor) == [ONE_TEXT]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        (f"{LINES}\r", ""),
        (LINES.replace("\r", "\r\n") + "\r", ""),
        (f"{BEGIN}{LINES}{END}", "\r"),
        (f"{BEGIN}first line\rsecond line\x03", ""),
    ],
)
def test_a_paste_while_an_answer_runs_is_the_next_message(
    toolcrib: CommandLine, typed: str, sent: str
) -> None:
    with Vendor(openai_chat, Hold("Once upon a time"), Say("I see.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
            screen.expect("› ")
            screen.type("Tell me a story.\r")
            screen.expect("Once upon")
            screen.type(typed)
            if not typed.endswith((END, "\r")):
                screen.type(f"\r\x03third line{END}\r")  # The end of a paste that came in two parts.
            screen.type("\x1b")
            screen.expect("Stopped.")
            screen.type(sent)
            screen.expect("I see.")
            screen.type("/exit\r")
            assert screen.wait() == 0
    assert questions(vendor)[-1] == ONE_TEXT


@pytest.mark.parametrize("marks", [(BEGIN, END), ("", "")])
def test_a_paste_longer_than_a_terminal_line_arrives_whole(
    toolcrib: CommandLine, marks: tuple[str, str]
) -> None:
    text = "\r".join(f"line {number} {'x' * 70}" for number in range(300))
    with Vendor(openai_chat, Hold("Once upon a time"), Say("I see.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
            screen.expect("› ")
            screen.type("Tell me a story.\r")
            screen.expect("Once upon")
            screen.type(f"{marks[0]}{text}{marks[1]}\r")
            screen.type("\x1b")
            screen.expect("I see.")
            screen.type("/exit\r")
            assert screen.wait() == 0
    assert questions(vendor)[-1] == text.replace("\r", "\n")


@pytest.mark.parametrize("pasted", ["y", "y\r", "a\ralways\r", "\x1b[Ay", "\x03y"])
def test_a_marked_paste_answers_no_approval(toolcrib: CommandLine, pasted: str) -> None:
    with asked(toolcrib) as (screen, vendor):
        screen.expect(CHOICES)
        for part in (BEGIN, *pasted, END):  # One byte at a time, as a slow connection delivers it.
            screen.type(part)
        screen.expect("press a single key")
        screen.type("n")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert was_denied(vendor)
    assert rules(toolcrib) == 0


def test_a_marked_paste_confirms_nothing(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    with terminal(toolcrib, "remove", "demo") as screen:
        screen.expect("[y/N]")
        screen.type(f"{BEGIN}y{END}\r")
        screen.expect("Type y or n, then press Enter. [y/N]")
        screen.type("n\r")
        assert screen.wait() == 4
    assert "demo" in toolcrib.config()["mcpServers"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("s3cret\r", "s3cret"),
        (f"{BEGIN}s3cret\r{END}\r", "s3cret"),
        (f"{BEGIN}-----BEGIN-----\rabc\r-----END-----\r{END}\r", "-----BEGIN-----\nabc\n-----END-----"),
        ("-----BEGIN-----\rabc\r-----END-----\r", "-----BEGIN-----\nabc\n-----END-----"),
        (f"{BEGIN}{'k' * 6000}{END}\r", "k" * 6000),
        ("not\x7f\x7f\x7fs3cret\r", "s3cret"),
    ],
)
def test_a_pasted_secret_is_stored_whole(toolcrib: CommandLine, typed: str, value: str) -> None:
    with terminal(toolcrib, "secret", "set", "TOKEN") as screen:
        screen.expect("Value of TOKEN: ")
        for part in re.split("(\x7f)", typed):
            screen.type(part)
        assert screen.wait() == 0
        assert "s3cret" not in screen.seen
    assert json.loads((toolcrib.home / "secrets.json").read_text())["secrets"]["TOKEN"] == value


def test_an_unknown_command_is_named(toolcrib: CommandLine) -> None:
    done = toolcrib("chat", "--model", "demo", stdin="/nosuch\n")

    assert "There is no command /nosuch." in done.err
    assert "/continue" in done.err


def test_a_mistyped_command_is_answered_with_the_nearest_one(toolcrib: CommandLine) -> None:
    done = toolcrib("chat", "--model", "demo", stdin="/modle\n")

    assert done.err.splitlines()[-1] == "There is no command /modle. Did you mean /model?"


def test_lines_from_a_pipe_may_end_as_on_windows_and_have_any_bytes(toolcrib: CommandLine) -> None:
    done = subprocess.run(
        [PROGRAM, "chat", "--model", "demo"],
        input=b"What is 1 plus 1? \xe9\r\n/usage\r\n/exit\r\n",
        env=toolcrib.environment,
        capture_output=True,
        timeout=DEADLINE,
        check=True,
    )

    assert b"1 plus 1 is 2." in done.stdout
    assert b"tokens in" in done.stderr
    assert b"There is no command" not in done.stderr


def test_spaces_and_joiners_of_all_scripts_are_no_control_characters() -> None:
    text = "10\u202f000\u00a0km 東京\u3000大阪 می\u200cخواهم 👩\u200d👧"

    assert typed_ahead(KeyDecoder().feed(f"{text}\r".encode())) == f"{text}{ENTER}"
    assert typed_ahead(KeyDecoder().feed("\u00a0".encode())) == "\u00a0"


def test_a_line_break_may_be_split_between_two_reads() -> None:
    decoder = KeyDecoder()

    assert typed_ahead([*decoder.feed(b"a\r"), *decoder.feed(b"\nb\r\n")]) == f"a{ENTER}b{ENTER}"


def test_bytes_of_a_paste_may_arrive_in_any_parts() -> None:
    sent = f"{BEGIN}a\r\nb\x1b[Ä{END}\r".encode()
    for size in range(1, len(sent) + 1):
        decoder = KeyDecoder()
        parts = [sent[at : at + size] for at in range(0, len(sent), size)]
        pieces = [piece for part in parts for piece in decoder.feed(part)]
        assert typed_ahead(pieces) == f"a\nb[Ä{ENTER}"
        assert "a" not in pieces


def test_a_paste_without_its_end_is_kept() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(f"{BEGIN}y".encode()) == []
    assert decoder.wait is not None
    assert decoder.end() == [PastedText("y", marked=True)]
    assert decoder.feed(b"n") == ["n"]
