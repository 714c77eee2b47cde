"""`toolcrib call`: values typed by the schema, results shown, failures told."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.cli.small_server import PICTURE
from tests.cli.waiting import eventually, lines_of


def echoed(toolcrib: CommandLine, *words: str, stdin: str = "") -> dict[str, Any]:
    answer = toolcrib("call", "small__echo", *words, stdin=stdin)
    assert answer.code == 0, answer
    found: dict[str, Any] = json.loads(answer.out)
    return found


def test_the_json_is_the_mcp_result(toolcrib: CommandLine) -> None:
    result = toolcrib("call", "demo__add", "a=1", "b=2", "--json").json

    assert result["content"] == [{"type": "text", "text": "3"}]
    assert result["structuredContent"] == {"result": 3}
    assert result["isError"] is False


def test_the_text_is_the_result_and_nothing_else(toolcrib: CommandLine) -> None:
    assert toolcrib("call", "demo__add", "a=1", "b=2").out == "3\n"


def test_values_are_typed_by_the_schema(toolcrib: CommandLine, tmp_path: Path) -> None:
    toolcrib.add("small")
    file = tmp_path / "note.txt"
    file.write_text("from a file")

    given = echoed(
        toolcrib,
        *("text=12", "count=12", "ratio=1.5", "loud=yes", "numbers=1", "numbers=2"),
        *('options={"deep": [1]}', "level=2", "maybe=null"),
    )

    assert given == {
        "text": "12",
        "count": 12,
        "ratio": 1.5,
        "loud": True,
        "numbers": [1, 2],
        "options": {"deep": [1]},
        "level": 2,
        "maybe": None,
    }
    assert echoed(toolcrib, f"text=@{file}") == {"text": "from a file"}
    assert echoed(toolcrib, 'text:="a=b"') == {"text": "a=b"}
    assert echoed(toolcrib, "text=a=b") == {"text": "a=b"}
    assert echoed(toolcrib, "text=@-", stdin="from stdin") == {"text": "from stdin"}
    assert echoed(toolcrib, "--args", '{"count": 1}', "text=x") == {"count": 1, "text": "x"}
    assert echoed(toolcrib, "--args", "-", stdin='{"count": 1}') == {"count": 1}


def test_a_value_of_the_wrong_type_is_refused_by_name(toolcrib: CommandLine) -> None:
    answer = toolcrib("call", "demo__add", "a=one", "b=2", "--json")

    assert (answer.code, answer.error["kind"]) == (2, "invalid_arguments")
    assert '"a"' in answer.error["message"]


@pytest.mark.parametrize(
    "words", [("a",), ("a:={",), ("a=@/no/such/file",), ("--args", "[1]"), ("--args", "{")]
)
def test_words_that_cannot_be_read_are_wrong_use(toolcrib: CommandLine, words: tuple[str, ...]) -> None:
    answer = toolcrib("call", "demo__add", *words, "--json")

    assert (answer.code, answer.error["kind"]) == (2, "usage")


def test_a_tool_that_fails_exits_with_six_and_its_result(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    as_json, as_text = toolcrib("call", "small__fail", "--json"), toolcrib("call", "small__fail")

    assert (as_json.code, as_json.json["isError"]) == (6, True)
    assert (as_text.code, as_text.out) == (6, "it went wrong\n")


def test_an_unknown_tool_is_guessed_at(toolcrib: CommandLine) -> None:
    answer = toolcrib("call", "demo__ad", "--json")

    assert (answer.code, answer.error["kind"]) == (3, "unknown_tool")
    assert "demo__add" in answer.error["hint"]


def test_a_tool_of_a_server_that_is_off_is_unavailable(toolcrib: CommandLine) -> None:
    toolcrib("disable", "demo")

    answer = toolcrib("call", "demo__add", "--json")

    assert answer.code == 5
    assert "enable demo" in answer.error["hint"]


def test_only_the_server_that_is_meant_starts(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    toolcrib.add("other", "--say", "started")

    assert echoed(toolcrib, "count=1") == {"count": 1}
    assert toolcrib("logs", "other", "--json").json["lines"] == []


def test_pictures_are_summed_up_or_saved(toolcrib: CommandLine, tmp_path: Path) -> None:
    toolcrib.add("small")
    picture = base64.b64decode(PICTURE)

    assert toolcrib("call", "small__picture").out == f"[image/png {len(picture)} B]\n"
    for number in (1, 2):
        answer = toolcrib("call", "small__picture", "--save", str(tmp_path / "pictures"))
        saved = tmp_path / "pictures" / f"small__picture-{number}.png"
        assert answer.out == f"saved: {saved}\n"
        assert saved.read_bytes() == picture


def test_a_call_ends_at_its_deadline(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    answer = toolcrib("call", "small__never", "--timeout", "0.3", "--json")

    assert (answer.code, answer.error["kind"]) == (6, "timeout")


def test_a_call_through_the_running_host_is_the_same(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")

    assert echoed(toolcrib, "count=3", "numbers=[1,2]") == {"count": 3, "numbers": [1, 2]}
    assert toolcrib("call", "small__fail", "--json").code == 6
    assert toolcrib("call", "small__nothing", "--json").error["kind"] == "unknown_tool"
    assert toolcrib("call", "demo__add", "a=x", "b=1", "--json").error["kind"] == "invalid_arguments"


def test_a_caller_that_goes_away_cancels_the_call(toolcrib: CommandLine, up: Process, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    toolcrib.add("small", "--notes", str(notes))
    caller = toolcrib.start("call", "small__never")
    eventually(lambda: "called never" in lines_of(notes))

    caller.terminate()

    assert caller.wait(60) == 128 + 15
    eventually(lambda: "cancelled" in lines_of(notes))
    assert toolcrib("audit", "--outcome", "cancelled", "--json").json[0]["tool"] == "small__never"
    caller.communicate()


def test_a_result_of_many_megabytes_passes_the_socket(
    toolcrib: CommandLine, up: Process, tmp_path: Path
) -> None:
    toolcrib.add("small")
    file = tmp_path / "large.txt"
    file.write_text("x" * 10_000_000)

    given = echoed(toolcrib, f"text=@{file}")

    assert len(given["text"]) == 10_000_000
