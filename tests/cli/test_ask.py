"""`toolcrib ask`: one question, one answer, through pipes and for programs."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import CommandLine, Process
from tests.cli.terminal import terminal


def test_an_answer_goes_to_stdout_alone(toolcrib: CommandLine) -> None:
    done = toolcrib("ask", "What is 17 plus 25?", "--model", "demo")

    assert (done.code, done.out, done.err) == (0, "17 plus 25 is 42.\n", "")


def test_the_json_has_the_calls_and_what_it_took(toolcrib: CommandLine) -> None:
    found = toolcrib("ask", "--json", "--model", "demo", "What is 17 plus 25?").json

    assert found["answer"] == "17 plus 25 is 42."
    assert found["rounds"] == 2
    assert [{key: call[key] for key in ("tool", "arguments", "outcome")} for call in found["calls"]] == [
        {"tool": "demo__add", "arguments": {"a": 17, "b": 25}, "outcome": "ok"}
    ]
    assert found["calls"][0]["ms"] >= 0
    assert found["usage"]["requests"] == 2


def test_a_running_host_answers(toolcrib: CommandLine, up: Process) -> None:
    assert toolcrib("ask", "1 / 4", "--model", "demo").out.startswith("1 divided by 4 is 0.25")


def test_what_comes_through_a_pipe_belongs_to_the_question(toolcrib: CommandLine) -> None:
    assert toolcrib("ask", "--model", "demo", stdin="What is 2 plus 3?\n").out == "2 plus 3 is 5.\n"
    assert toolcrib("ask", "Reckon:", "-", "--model", "demo", stdin="4 plus 4\n").out == "4 plus 4 is 8.\n"


def test_a_text_file_goes_with_the_question_and_other_files_are_refused(
    toolcrib: CommandLine, tmp_path: Path
) -> None:
    notes, program = tmp_path / "notes.md", tmp_path / "a.out"
    notes.write_text("Two walruses.")
    program.write_bytes(b"\x7fELF\xff\xfe")

    done = toolcrib("ask", "--model", "demo", "--file", str(notes), "What is 2 plus 3?")
    refused = toolcrib("ask", "--json", "--model", "demo", "--file", str(program), "What is it?")
    [chat] = toolcrib("chat", "--list", "--json").json
    [asked] = [
        one for one in toolcrib("chat", "--export", chat["id"], "--json").json["entries"] if "files" in one
    ]

    assert done.out == "2 plus 3 is 5.\n"
    assert [(file["name"], file["text"]) for file in asked["files"]] == [("notes.md", "Two walruses.")]
    assert refused.error["message"] == f"{program} is not a text file."


def test_without_a_model_it_says_where_keys_go_and_offers_the_demo(toolcrib: CommandLine) -> None:
    done = toolcrib("ask", "--json", "hello", OLLAMA_HOST="127.0.0.1:9")

    assert done.code == 2
    assert done.error["kind"] == "no_model"
    assert "Ollama does not answer" in done.error["message"]
    for word in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "toolcrib secret set",
        "--model demo",
    ):
        assert word in done.error["hint"]


def test_a_key_without_a_model_is_pointed_out(toolcrib: CommandLine) -> None:
    done = toolcrib("ask", "--json", "hello", OLLAMA_HOST="127.0.0.1:9", ANTHROPIC_API_KEY="sk-ant-secret")

    assert "anthropic:MODEL" in done.error["hint"]
    assert "sk-ant-secret" not in done.out + done.err


def test_no_question_is_wrong_use(toolcrib: CommandLine) -> None:
    assert toolcrib("ask", "--json", "--model", "demo").error["kind"] == "usage"


def test_a_chat_goes_on_and_can_be_listed_and_exported(toolcrib: CommandLine) -> None:
    first = toolcrib("ask", "--json", "--model", "demo", "What is 1 plus 2?").json
    second = toolcrib("ask", "--json", "--chat", "last", "And 3 plus 4?").json

    assert (second["chat"], second["model"]) == (first["chat"], "demo")
    listed = toolcrib("chat", "--list", "--json").json
    assert [(one["id"], one["title"]) for one in listed] == [(first["chat"], "What is 1 plus 2?")]
    whole = toolcrib("chat", "--export", first["chat"], "--json").json
    assert [entry["kind"] for entry in whole["entries"]].count("offer") == 2
    text = toolcrib("chat", "--export", "last").out
    assert "1 plus 2 is 3." in text
    assert "3 plus 4 is 7." in text


def test_models_shows_keys_by_name_and_never_by_value(toolcrib: CommandLine) -> None:
    toolcrib("secret", "set", "OPENAI_API_KEY", stdin="sk-very-secret")
    done = toolcrib("models", "--json", GEMINI_API_KEY="also-secret", OLLAMA_HOST="127.0.0.1:9")

    vendors = {vendor["vendor"]: vendor for vendor in done.json["vendors"]}
    assert (vendors["openai"]["key"], vendors["openai"]["place"]) == ("OPENAI_API_KEY", "secret")
    assert (vendors["gemini"]["key"], vendors["gemini"]["place"]) == ("GEMINI_API_KEY", "environment")
    assert not vendors["anthropic"]["ready"]
    assert not vendors["ollama"]["ready"]
    assert 'secret"' not in done.out.replace('"secret"', "")
    assert "sk-very" not in done.out


def test_a_person_sees_the_answer_and_a_card_for_the_tool(toolcrib: CommandLine) -> None:
    with terminal(toolcrib, "ask", "What is 17 plus 25?", "--model", "demo") as screen:
        assert screen.wait() == 0
        assert "demo__add" in screen.seen
        assert "17 plus 25 is 42." in screen.seen
        assert screen.settings() == screen.before
