"""The corpus of the benchmark is built from whatever servers can be had; others are named and left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.retrieval import corpus

ROW = {"server": "time", "description": "Now.", "inputSchema": {"type": "object"}}


def test_every_server_of_the_list_is_a_package_and_stands_there_once() -> None:
    packages = [corpus.package_of(words) for words in corpus.read_servers(corpus.HERE / "servers.txt")]
    assert len(packages) == len(set(packages)) >= 25


def test_versions_are_no_part_of_a_packages_name() -> None:
    assert corpus.package_of(["npm:@scope/name@1.2"]) == "@scope/name"
    assert corpus.package_of(["-e", "KEY=1", "npm:name@next"]) == "name"
    assert corpus.package_of(["pypi:name==2"]) == "name"


def test_a_server_that_cannot_be_installed_is_left_out_and_the_others_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers, questions, out = tmp_path / "servers.txt", tmp_path / "questions.jsonl", tmp_path / "out"
    servers.write_text("npm:no-such-server-anywhere --offline  # not there\n\npypi:mcp-server-time\n")
    asked = [
        {"query": "what time is it", "relevant": ["mcp-server-time::now"], "acceptable": ["gone::now"]},
        {"query": "send a mail", "relevant": ["mail::send"], "acceptable": []},
    ]
    questions.write_text("".join(json.dumps(one) + "\n" for one in asked))
    # Listed by an earlier run: it is not installed again.
    (out / "servers").mkdir(parents=True)
    rows = corpus.rows_of("mcp-server-time", [{"original_name": "now", **ROW}])
    (out / "servers/mcp-server-time.json").write_text(json.dumps(rows))

    corpus.build(servers, questions, out)

    told = capsys.readouterr().out
    assert "no-such-server-anywhere: left out: not installed" in told
    assert "1 tools of 1 servers, 1 left out; 1 questions" in told
    (tool,) = [json.loads(line) for line in (out / "tools.jsonl").read_text().splitlines()]
    assert tool == {"id": "mcp-server-time::now", "name": "now", **ROW}
    (question,) = [json.loads(line) for line in (out / "queries.jsonl").read_text().splitlines()]
    assert question == {"query": "what time is it", "relevant": ["mcp-server-time::now"], "acceptable": []}
