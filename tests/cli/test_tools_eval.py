"""`tools eval` scores labelled questions over the crib's tools or over a file of them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command_line import CommandLine


def write(path: Path, *rows: object) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return str(path)


def test_questions_are_scored_over_a_file_of_tools(toolcrib: CommandLine, tmp_path: Path) -> None:
    tools = write(
        tmp_path / "tools.jsonl",
        {"id": "1", "name": "get_forecast", "description": "Tell the weather of the coming days."},
        {"id": "2", "name": "send_message", "description": "Send an e-mail.", "server": "mail"},
    )
    questions = write(
        tmp_path / "questions.jsonl",
        {"query": "will I need an umbrella?", "relevant": ["1"]},
        {"query": "drop Ada an e-mail", "relevant": ["2"]},
    )

    found = toolcrib("--json", "tools", "eval", questions, "--tools", tools).json

    assert list(found) == ["n", "recall_at_1", "recall_at_5", "recall_at_10", "ndcg_at_10", "ms_per_query"]
    assert found["n"] == 2
    assert found["recall_at_1"] == found["ndcg_at_10"] == 1.0


def test_questions_are_scored_over_the_tools_of_the_crib(toolcrib: CommandLine, tmp_path: Path) -> None:
    questions = write(
        tmp_path / "questions.jsonl", {"query": "sum up two numbers", "relevant": ["demo__add"]}
    )

    result = toolcrib("tools", "eval", questions)

    assert "right tool first" in result.out
    assert "100.0 %" in result.out


def test_questions_about_tools_that_are_not_there_are_refused(toolcrib: CommandLine, tmp_path: Path) -> None:
    questions = write(tmp_path / "questions.jsonl", {"query": "x", "relevant": ["nobody__has_this"]})

    result = toolcrib("tools", "eval", questions)

    assert result.code != 0
    assert "nobody__has_this" in result.err
