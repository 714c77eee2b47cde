"""`toolcrib chat`: a talk at a terminal, or through a pipe."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.terminal import terminal
from tests.llm.wire import openai_chat
from tests.llm.wire.script import Hold, Say, Script, Step, call, serving

ESCAPE = "\x1b"


class Vendor:
    """A vendor on loopback, in a thread of its own."""

    def __init__(self, protocol: ModuleType, *steps: Step) -> None:
        self._protocol = protocol
        self._steps = steps
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    async def _serve(self) -> None:
        self.script = Script(*self._steps)
        async with serving(self._protocol, self.script) as base:
            self.base = base
            self._ready.set()
            await self._end.wait()

    def __enter__(self) -> Vendor:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *details: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(60)
        self._loop.close()

    def environment(self) -> dict[str, str]:
        protocol = self._protocol
        return {protocol.variable: protocol.address(self.base), protocol.key: f"key-of-{protocol.name}"}


@pytest.fixture
def story() -> Iterator[Vendor]:
    with Vendor(openai_chat, Hold("Once upon a time there was a crib"), Say("The **end**.")) as vendor:
        yield vendor


def test_questions_through_a_pipe_are_answered_in_one_chat(toolcrib: CommandLine) -> None:
    done = toolcrib("chat", "--model", "demo", stdin="What is 1 plus 2?\n\nAnd 8 plus 1?\n")

    assert (done.code, done.out) == (0, "1 plus 2 is 3.\n8 plus 1 is 9.\n")
    assert len(toolcrib("chat", "--list", "--json").json) == 1


def test_the_first_talk_says_what_there_is_and_offers_the_demo(toolcrib: CommandLine) -> None:
    toolcrib.extra["OLLAMA_HOST"] = "127.0.0.1:9"
    with terminal(toolcrib, "chat") as screen:
        screen.expect("toolcrib secret set ANTHROPIC_API_KEY")
        screen.expect("Enter for demo")
        screen.type("\n")
        screen.expect("Model: demo")
        screen.type("What is 20 plus 22?\n")
        screen.expect("20 plus 22 is 42.")
        screen.type("/exit\n")

        assert screen.wait() == 0


@pytest.mark.parametrize("key", [ESCAPE, "\x03"], ids=["escape", "ctrl-c"])
@pytest.mark.parametrize("host", ["own", "running"])
def test_a_key_stops_the_answer_and_the_chat_goes_on(
    toolcrib: CommandLine, story: Vendor, key: str, host: str, request: pytest.FixtureRequest
) -> None:
    if host == "running":
        request.getfixturevalue("up")
    toolcrib.extra.update(story.environment())  # A host that runs already knows nothing of it.
    with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
        screen.expect("Ctrl-D quits.")
        screen.type("Tell me a story.\n")
        screen.expect("Once upon")
        screen.type(key)
        screen.expect("Stopped.")
        screen.type("Go on.\n")
        screen.expect("end")
        screen.type("/exit\n")

        assert screen.wait() == 0
        assert screen.settings() == screen.before
    assert story.script.complaints == []
    assert "Once upon" in str(story.script.requests[-1]["messages"])


def test_what_is_typed_during_an_answer_is_the_next_question(toolcrib: CommandLine, story: Vendor) -> None:
    toolcrib.extra.update(story.environment())
    with terminal(toolcrib, "chat", "--model", openai_chat.model) as screen:
        screen.expect("Ctrl-D quits.")
        screen.type("Tell me a story.\n")
        screen.expect("Once upon")
        screen.type("Go on.\n")
        screen.type(ESCAPE)
        screen.expect("end")
        screen.type("/exit\n")

        assert screen.wait() == 0
    assert story.script.requests[-1]["messages"][-1]["content"] == "Go on."


@pytest.mark.parametrize(("key", "outcome"), [("y", "ok"), ("n", "denied")])
def test_a_call_that_needs_a_yes_asks_for_one(toolcrib: CommandLine, key: str, outcome: str) -> None:
    toolcrib.add("small")
    with Vendor(openai_chat, call(("small__echo", {"text": "Ada"})), Say("That was it.")) as vendor:
        toolcrib.extra.update(vendor.environment())
        with terminal(
            toolcrib, "ask", "Echo Ada.", "--model", openai_chat.model, "--mode", "always"
        ) as screen:
            screen.expect("Allow this call?")
            screen.expect("[y] once")
            screen.type(key)
            screen.expect("That was it.")

            assert screen.wait() == 0
    told = openai_chat.results(vendor.script.requests[-1])[0]
    assert told.failed == (outcome == "denied")


def test_the_last_question_is_answered_again_and_changed(toolcrib: CommandLine) -> None:
    lines = "/retry\nWhat is 1 plus 2?\n/retry\n/edit\n/edit What is 4 plus 5?\n"
    done = toolcrib("chat", "--model", "demo", stdin=lines)

    assert done.out.splitlines() == ["1 plus 2 is 3.", "1 plus 2 is 3.", "4 plus 5 is 9."]
    assert "There is no question yet." in done.err
    assert "Write the new question after /edit" in done.err
    listed = toolcrib("chat", "--list", "--json").json
    assert [chat["title"] for chat in listed] == ["What is 4 plus 5?"]
