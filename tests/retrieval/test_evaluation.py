"""Labelled questions are read strictly and scored as the development sets are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from toolcrib.errors import UsageError
from toolcrib.retrieval.evaluation import Labelled, RankingScore, ndcg, read_questions, read_tools, recall


def question(relevant: set[str], acceptable: set[str] = frozenset()) -> Labelled:  # type: ignore[assignment]
    return Labelled("?", frozenset(relevant), frozenset(relevant | acceptable))


def test_an_acceptable_tool_counts_but_is_not_required() -> None:
    asked = question({"a"}, {"b"})

    assert recall(asked, ["b", "c"], 1) == 1.0
    assert recall(asked, ["c", "b"], 1) == 0.0
    assert ndcg(asked, ["b", "a"]) == 1.0


def test_all_of_several_are_needed() -> None:
    asked = question({"a", "b"})

    assert recall(asked, ["a", "x", "y", "z", "w", "b"], 5) == 0.5
    assert recall(asked, ["a", "x", "b"], 5) == 1.0
    assert ndcg(asked, ["a", "b"]) == 1.0
    assert ndcg(asked, ["x", "a"]) == pytest.approx(0.387, abs=0.001)


def test_a_tally_tells_the_means() -> None:
    tally = RankingScore()
    tally.add(question({"a"}), ["a"], 0.004)
    tally.add(question({"a"}), ["b", "a"], 0.002)

    assert tally.as_json() == {
        "n": 2,
        "recall_at_1": 0.5,
        "recall_at_5": 1.0,
        "recall_at_10": 1.0,
        "ndcg_at_10": 0.8155,
        "ms_per_query": 3.0,
    }


@pytest.mark.parametrize("zipped", [True, False])
def test_files_are_read_gzipped_or_not(tmp_path: Path, zipped: bool) -> None:
    lines = b'{"query": "ask", "relevant": ["a"], "acceptable": ["b"]}\n\n'
    path = tmp_path / "questions.jsonl"
    path.write_bytes(gzip.compress(lines) if zipped else lines)
    tools = tmp_path / "tools.jsonl"
    tools.write_text(
        json.dumps({"id": "a", "name": "alpha", "server": "s"}) + "\n" + json.dumps({"name": "b"})
    )

    assert read_questions(path) == [Labelled("ask", frozenset("a"), frozenset("ab"))]
    assert [(one.name, one.definition.name, one.server) for one in read_tools(tools)] == [
        ("a", "alpha", "s"),
        ("b", "b", None),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no question"),
        ("{", "line 1: not JSON"),
        ("[]", "line 1: not an object"),
        ('{"query": "x", "relevant": ["a"]}\n{"query": 7}', "line 2"),
        ('{"query": "x", "relevant": []}', "line 1"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(text)

    with pytest.raises(UsageError, match=said):
        read_questions(path)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    for data in (b"\xff\xfe\x00", b"\x1f\x8bnonsense"):
        path = tmp_path / "questions.jsonl.gz"
        path.write_bytes(data)
        with pytest.raises(UsageError, match="cannot be read"):
            read_questions(path)
