"""Questions on a terminal take no answer from text typed before them, a paste, or a held key."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.command_line import DEADLINE, CommandLine
from tests.cli.terminal import Terminal, terminal
from tests.cli.test_chat import Vendor
from tests.llm.wire import openai_chat
from tests.llm.wire.script import Hold, Say, call

pytestmark = pytest.mark.acceptance  # starts many programs, one after the other
ECHO = call(("small__echo", {"text": "Ada"}))
CHOICES = "[y] once"
INTERRUPTED_AT = """
import os, signal, sys
import toolcrib.cli

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv.pop()
sys.argv.append("servers")
sys.meta_path.insert(0, Interrupting())
toolcrib.cli.main()
"""


@contextmanager
def asked(toolcrib: CommandLine, *typed_before: str) -> Iterator[tuple[Terminal, Vendor]]:
    """A chat whose model wants a call that needs an approval; some text is typed before it is asked about."""
    toolcrib.add("small")
    with Vendor(openai_chat, ECHO, Say("That was it.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        words = ("ask", "Echo Ada.", "--model", openai_chat.model, "--mode", "always")
        with terminal(toolcrib, *words, real=True) as screen:
            for text in typed_before:
                screen.type(text)
            screen.expect("Allow this call?")
            yield screen, vendor


def was_denied(vendor: Vendor) -> bool:
    """Whether the model was told that its call did not run."""
    return openai_chat.results(vendor.script.requests[-1])[0].failed


def rules(toolcrib: CommandLine) -> int:
    """How many rules there are."""
    return len(toolcrib("policy", "--json").json["rules"])


@pytest.mark.parametrize("typed", ["y", "a", "always\n", "a\nalways\n", "yyyyyyyy\n\n", "t\r"])
def test_what_is_typed_before_and_while_a_question_appears_is_no_answer(
    toolcrib: CommandLine, typed: str
) -> None:
    with asked(toolcrib, typed) as (screen, vendor):
        screen.type(typed)
        screen.expect(CHOICES)
        assert screen.process.poll() is None
        screen.type("n")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert was_denied(vendor)
    assert rules(toolcrib) == 0


@pytest.mark.parametrize("pasted", ["y\ny\n", "always\nyes please\n", "a\x1b[200~\nalways\n"])
def test_a_paste_is_no_answer(toolcrib: CommandLine, pasted: str) -> None:
    with asked(toolcrib) as (screen, vendor):
        screen.expect(CHOICES)
        screen.type(pasted)
        screen.expect("press a single key")
        screen.type("n")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert was_denied(vendor)
    assert rules(toolcrib) == 0


def test_a_held_key_is_no_answer(toolcrib: CommandLine) -> None:
    released = threading.Event()
    with asked(toolcrib) as (screen, vendor):

        def hold() -> None:
            while not released.wait(0.03):
                screen.type("a")

        holding = threading.Thread(target=hold)
        holding.start()
        try:
            with pytest.raises(AssertionError):
                screen.expect(CHOICES, patience=3.0)
        finally:
            released.set()
            holding.join()
        screen.expect(CHOICES)
        screen.type("n")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert was_denied(vendor)
    assert rules(toolcrib) == 0


def test_a_lasting_rule_needs_its_word_and_enter(toolcrib: CommandLine) -> None:
    with asked(toolcrib) as (screen, vendor):
        screen.expect(CHOICES)
        screen.type("a")
        screen.expect("Type always and press Enter")
        screen.type("always")
        screen.expect("always: always")
        assert rules(toolcrib) == 0
        screen.type("\n")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert not was_denied(vendor)
    assert rules(toolcrib) == 1


def test_an_arrow_key_that_arrives_in_parts_is_no_escape(toolcrib: CommandLine) -> None:
    with asked(toolcrib) as (screen, vendor):
        screen.expect(CHOICES)
        screen.type("\x1b")
        screen.type("[")
        screen.type("A")
        screen.type("y")
        screen.expect("That was it.")
        assert screen.wait() == 0
    assert not was_denied(vendor)


@pytest.mark.parametrize(
    ("words", "question"),
    [(("remove", "demo"), "Remove demo?"), (("secret", "remove", "TOKEN"), "Delete the secret TOKEN")],
)
def test_a_confirmation_takes_nothing_that_was_typed_ahead(
    toolcrib: CommandLine, words: tuple[str, ...], question: str
) -> None:
    toolcrib("servers")
    toolcrib("secret", "set", "TOKEN", stdin="x")
    with terminal(toolcrib, *words) as screen:
        screen.type("y\n")
        screen.expect(question)
        screen.type("y\ny\n")
        screen.expect("[y/N]")
        screen.type("n\n")
        assert screen.wait() == 4
    assert "demo" in toolcrib.config()["mcpServers"]


def test_several_pasted_lines_confirm_nothing(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    with terminal(toolcrib, "remove", "demo") as screen:
        screen.expect("[y/N]")
        screen.type("y\nsome other line\n")
        screen.expect("Type y or n, then press Enter. [y/N]")
        screen.type("n\n")
        assert screen.wait() == 4
    assert "demo" in toolcrib.config()["mcpServers"]


def test_ctrl_c_discards_a_typed_line_and_leaves_an_empty_one(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "chat", "--model", "demo") as screen:
        screen.expect("› ")
        screen.type("What is 1 plus 1?")
        screen.expect("What is 1 plus 1?")
        screen.type("\x03")
        screen.expect("^C")
        screen.expect("› ", after="^C")
        screen.type("What is 20 plus 22?\n")
        screen.expect("20 plus 22 is 42.")
        assert "1 plus 1 is 2" not in screen.seen
        screen.type("/usage\n")
        screen.expect("tokens in")
        screen.expect("› ", after="tokens in")
        screen.type("\x03")
        assert screen.wait() == 0
        assert screen.settings() == screen.before
    assert "Traceback" not in screen.seen


def test_an_interrupted_chat_says_so_and_is_continued(toolcrib: CommandLine) -> None:
    with Vendor(openai_chat, Hold("Once upon a time there was"), Say("The end.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
            screen.expect("Ctrl-D quits.")
            screen.type("Tell me a story.\n")
            screen.expect("Once upon")
            until_stored(toolcrib)
            screen.process.kill()
            screen.process.wait()
        assert toolcrib("chat", "--list", "--json").json[0]["state"] == "interrupted"
        assert "interrupted" in toolcrib("chat", "--list").out
        with terminal(toolcrib, "chat", "--continue") as screen:
            screen.expect("The last answer was interrupted. /continue resumes it.")
            screen.expect("› ")
            screen.type("/continue\n")
            screen.expect("The end.")
            screen.type("/exit\n")
            assert screen.wait() == 0
    assert "Once upon" in toolcrib("chat", "--export", "last").out
    assert vendor.script.complaints == []


def until_stored(toolcrib: CommandLine) -> None:
    """Wait until the chat has something of the answer under way."""
    waited = threading.Event()
    for _ in range(int(DEADLINE / 0.1)):
        found = toolcrib("chat", "--export", "last", "--json").json["entries"]
        if any(one["kind"] == "partial" for one in found):
            return
        waited.wait(0.1)
    raise AssertionError("nothing was stored")


@pytest.mark.parametrize("module", ["click", "toolcrib.cli.commands.servers", "toolcrib.cli.host_connection"])
def test_an_early_ctrl_c_shows_no_traceback(toolcrib: CommandLine, module: str) -> None:
    """The program is interrupted while it loads the module."""
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT, module],
        env=toolcrib.environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )

    assert process.returncode == 130
    assert process.stderr.strip() == ""
