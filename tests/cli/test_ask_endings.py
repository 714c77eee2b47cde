"""`toolcrib ask` says how an answer ended, and its exit code says whether there is a whole one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.terminal import terminal
from tests.llm.wire import openai_chat
from tests.web.vendor import Refuse, Say, vendor

PIXELS = b"\x89PNG\r\n\x1a\n not much of a picture"


@pytest.mark.parametrize(
    ("stop", "code", "told"),
    [("end", 0, ""), ("length", 5, "output limit"), ("refused", 5, "refused"), ("filtered", 5, "filter")],
)
def test_the_exit_code_says_whether_the_answer_is_whole(
    toolcrib: CommandLine, stop: str, code: int, told: str
) -> None:
    with vendor(Say("Some words.", stop=stop)) as found:
        done = toolcrib("ask", "--model", openai_chat.model, "hello", OPENAI_BASE_URL=found.address)

    assert (done.code, done.out) == (code, "Some words.\n")
    assumed, *notes = done.err.splitlines()
    assert assumed.startswith("The context length of openai:gpt-test is not known")
    assert told in "".join(notes)
    assert bool(notes) == bool(told)


@pytest.mark.parametrize(
    ("stop", "ending"), [("length", "cut"), ("refused", "refused"), ("filtered", "filtered")]
)
def test_the_json_says_how_it_ended(toolcrib: CommandLine, stop: str, ending: str) -> None:
    with vendor(Say("Some words.", stop=stop)) as found:
        done = toolcrib("ask", "--json", "--model", openai_chat.model, "hello", OPENAI_BASE_URL=found.address)

    assert done.code == 5
    assert (done.json["ending"], done.json["answer"]) == (ending, "Some words.")


def test_a_user_at_a_terminal_sees_that_the_answer_was_cut(toolcrib: CommandLine) -> None:
    with vendor(Say("Some words.", stop="length")) as found:
        toolcrib.extra["OPENAI_BASE_URL"] = found.address
        with terminal(toolcrib, "ask", "hello", "--model", openai_chat.model) as screen:
            assert screen.wait() == 5
            assert "Some words." in screen.seen
            assert "output limit" in screen.seen


def test_a_user_is_told_of_a_picture_that_the_model_cannot_see(toolcrib: CommandLine, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(PIXELS)

    done = toolcrib("ask", "--model", "demo", "What is 1 plus 1?", "--image", str(picture))

    assert done.out == "1 plus 1 is 2.\n"
    assert "cannot see pictures" in done.err


def test_a_user_is_told_of_a_picture_that_the_vendor_refused(toolcrib: CommandLine, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(PIXELS)

    with vendor(Refuse(400, "Could not process image"), Say("Nothing.")) as found:
        words = ("ask", "--model", openai_chat.model, "look", "--image", str(picture))
        done = toolcrib(*words, OPENAI_BASE_URL=found.address)

    assert done.out == "Nothing.\n"
    assert "without pictures" in done.err
