from __future__ import annotations

from typing import Any

import pytest

from toolcrib.config.entries import parse_entry
from toolcrib.errors import ConfigError
from toolcrib.schema.servers import RestartPolicy, ServerEntry

CLAUDE_CODE: dict[str, Any] = {
    "fs": {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "pkg", "${DOCS:-/tmp}"],
        "env": {"KEY": "${API_KEY}"},
    },
    "api": {
        "type": "http",
        "url": "https://api.example.com/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "timeout": 60000,
    },
    "old": {"type": "sse", "url": "https://x.example.com/sse"},
}
CLAUDE_DESKTOP: dict[str, Any] = {
    "filesystem": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/docs"],
        "env": {"LOG_LEVEL": "info"},
    }
}
CLINE: dict[str, Any] = {
    "l": {
        "command": "node",
        "args": ["s.js"],
        "env": {"K": "v"},
        "disabled": False,
        "autoApprove": ["read"],
        "timeout": 60,
    },
    "r": {"type": "streamableHttp", "url": "https://x.example.com/mcp", "headers": {}, "disabled": True},
}
CURSOR: dict[str, Any] = {
    "a": {
        "command": "uvx",
        "args": ["mcp-server-git"],
        "env": {"K": "${env:K}"},
        "envFile": "${workspaceFolder}/.env",
    },
    "r": {"url": "https://x.example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
}
GEMINI: dict[str, Any] = {
    "p": {
        "command": "python",
        "args": ["-m", "s"],
        "cwd": "./d",
        "env": {"K": "$KEY", "L": "${KEY2}"},
        "timeout": 15000,
        "trust": False,
        "includeTools": ["a"],
        "excludeTools": ["b"],
    },
    "sse": {"url": "http://localhost:8080/sse"},
    "http": {"httpUrl": "http://localhost:3000/mcp", "headers": {"Authorization": "Bearer x"}},
}
LIBRECHAT: dict[str, Any] = {
    "fs": {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"],
        "env": {"K": "${KEY}"},
        "timeout": 30000,
        "initTimeout": 10000,
        "serverInstructions": True,
        "chatMenu": True,
    },
    "r": {
        "type": "streamable-http",
        "url": "https://x.example.com/mcp",
        "headers": {"Authorization": "Bearer ${T}"},
        "startup": False,
    },
}
WINDSURF: dict[str, Any] = {
    "r": {
        "serverUrl": "https://x.example.com/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        "disabledTools": ["x"],
    },
    "l": {"command": "npx", "args": ["-y", "p"], "env": {"K": "v"}},
}
VS_CODE_SERVERS: dict[str, Any] = {
    "time": {
        "type": "stdio",
        "command": "python",
        "args": ["-m", "mcp_server_time"],
        "env": {"KEY": "${input:key}", "N": None, "PORT": 8080},
        "cwd": "${workspaceFolder}",
        "dev": {"watch": "src/**/*.py"},
    }
}
HOSTS = {
    "claude code": CLAUDE_CODE,
    "claude desktop": CLAUDE_DESKTOP,
    "cline": CLINE,
    "cursor": CURSOR,
    "gemini": GEMINI,
    "librechat": LIBRECHAT,
    "windsurf": WINDSURF,
    "vs code": VS_CODE_SERVERS,
}


def parsed(**raw: Any) -> ServerEntry:
    return parse_entry("s", {"command": "x", **raw})


def failure(raw: object, name: str = "s") -> str:
    with pytest.raises(ConfigError) as caught:
        parse_entry(name, raw)
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("host", "name", "raw"),
    [(host, name, raw) for host, servers in HOSTS.items() for name, raw in servers.items()],
)
def test_the_form_of_every_host_is_understood_and_kept(host: str, name: str, raw: dict[str, Any]) -> None:
    assert parse_entry(name, raw).raw == raw


def test_what_other_hosts_say_is_taken_as_they_mean_it() -> None:
    assert [parse_entry("s", raw).type for raw in CLAUDE_CODE.values()] == ["stdio", "http", "sse"]
    assert [parse_entry("s", raw).enabled for raw in CLINE.values()] == [True, False]
    assert [parse_entry("s", raw).type for raw in GEMINI.values()] == ["stdio", "http", "http"]
    gemini = parse_entry("p", GEMINI["p"])
    assert (gemini.call_timeout, gemini.include_tools, gemini.exclude_tools) == (15.0, ("a",), ("b",))
    assert parse_entry("l", CLINE["l"]).call_timeout == 60.0
    assert parse_entry("r", WINDSURF["r"]).exclude_tools == ("x",)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"command": "x"}, "stdio"),
        ({"url": "http://x"}, "http"),
        ({"serverUrl": "http://x"}, "http"),
        ({"httpUrl": "http://x", "url": "http://x/sse"}, "http"),
        ({"uri": "http://x"}, "http"),
        ({"package": "p"}, "npm"),
        ({"tarballPath": "p.tgz"}, "npm"),
        ({"module": "m"}, "python"),
        ({"sourcePath": "/s", "command": "x"}, "custom"),
        ({"type": "streamable-http", "url": "u"}, "http"),
        ({"type": "streamableHttp", "url": "u"}, "http"),
        ({"type": "streamable_http", "url": "u"}, "http"),
        ({"type": "http-stream", "url": "u"}, "http"),
        ({"transport": "sse", "url": "u"}, "sse"),
        ({"type": "local", "command": "x"}, "stdio"),
        ({"type": "inprocess", "module": "m"}, "inprocess"),
        ({"type": "carrier-pigeon"}, "carrier-pigeon"),
        ({"type": "stdio", "command": "x", "url": "u"}, "stdio"),
    ],
)
def test_the_type_is_read_or_inferred(raw: dict[str, Any], expected: str) -> None:
    assert parse_entry("s", raw).type == expected


def test_our_own_keys_are_read() -> None:
    entry = parsed(
        enabled=False,
        timeouts={"start": 5, "call": 1.5},
        timeout=9,
        envAllow=["A", "B"],
        isolation="session",
        era="legacy",
        tools={"include": ["a*"], "exclude": ["b"]},
        includeTools=["c", "a*"],
        toolTimeouts={"slow": 600},
        lazy=True,
        restart={"firstDelay": 1, "longest_delay": 2, "giveUpAfter": 3, "jitter": 0, "enabled": False},
    )

    assert not entry.enabled
    assert (entry.start_timeout, entry.call_timeout) == (5, 1.5)
    assert entry.tool_timeouts == {"slow": 600}
    assert entry.env_allow == ("A", "B")
    assert entry.isolation == "session"
    assert entry.era == "legacy"
    assert (entry.include_tools, entry.exclude_tools) == (("a*", "c"), ("b",))
    assert entry.lazy
    assert entry.restart == RestartPolicy(
        first_delay=1, longest_delay=2, give_up_after=3, jitter=0, enabled=False
    )


def test_what_is_left_out_has_its_default() -> None:
    assert parsed() == ServerEntry(name="s", type="stdio", raw={"command": "x"})
    assert parsed(cwd=None, timeout=None, restart=None, tools=None).restart == RestartPolicy()


def test_restart_may_be_a_plain_switch_and_tools_a_plain_list() -> None:
    assert not parsed(restart=False).restart.enabled
    assert parsed(tools=["a", "b"]).include_tools == ("a", "b")


@pytest.mark.parametrize(("timeout", "seconds"), [(999, 999), (1000, 1), (60000, 60), (0.5, 0.5)])
def test_a_foreign_timeout_from_1000_on_means_milliseconds(timeout: float, seconds: float) -> None:
    assert parsed(timeout=timeout).call_timeout == seconds


def test_an_entry_is_off_if_either_key_says_so() -> None:
    assert not parsed(enabled=True, disabled=True).enabled
    assert not parsed(enabled=False, disabled=False).enabled


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("command", 5),
        ("command", ""),
        ("args", "one two"),
        ("env", ["A=b"]),
        ("cwd", []),
        ("url", {}),
        ("headers", "x"),
        ("type", 1),
        ("enabled", "yes"),
        ("disabled", 0),
        ("timeout", "60"),
        ("timeout", 0),
        ("timeout", True),
        ("timeout", 1e12),
        ("timeout", float("nan")),
        ("timeouts", 5),
        ("envAllow", "PATH"),
        ("isolation", "none"),
        ("era", "ancient"),
        ("tools", "a"),
        ("lazy", 1),
        ("restart", 3),
        ("package", 1),
    ],
)
def test_a_wrong_type_names_server_and_key(key: str, value: object) -> None:
    message = failure({"command": "x", key: value}, "weather")

    assert "'weather'" in message
    assert f"{key} must be" in message


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"env": {"A": ["secret-value"]}}, "env.A"),
        ({"env": {"A": True}}, "env.A"),
        ({"headers": {"X": 5}}, "headers.X"),
        ({"args": ["--port", 8080]}, "args.1"),
        ({"includeTools": [1]}, "includeTools.0"),
        ({"timeouts": {"start": "soon"}}, "timeouts.start"),
        ({"tools": {"include": "a"}}, "tools.include"),
        ({"restart": {"giveUpAfter": 0}}, "restart.giveUpAfter"),
        ({"restart": {"jitter": 2}}, "restart.jitter"),
    ],
)
def test_a_wrong_type_inside_names_the_whole_way(raw: dict[str, Any], key: str) -> None:
    message = failure({"command": "x", **raw})

    assert f" {key} must be" in message
    assert "secret-value" not in message


def test_an_entry_must_say_how_to_reach_the_server() -> None:
    assert "way to reach it" in failure({})
    assert "way to reach it" in failure({"enabled": True, "command": None})
    assert "both command and url" in failure({"command": "x", "url": "u"})
    assert "an object" in failure("npx server")


@pytest.mark.parametrize("name", ["", " ", " a", "a\n", "a\u202eb", "a\x1b[2J", "\u200b", "x" * 101])
def test_a_name_that_cannot_be_shown_or_typed_is_refused(name: str) -> None:
    message = failure({"command": "x"}, name)

    assert message.isprintable()


@pytest.mark.parametrize("name", ["a", "my server", "ü", "x" * 100, "io.github.user/x", "@scope/pkg"])
def test_any_other_name_will_do(name: str) -> None:
    assert parse_entry(name, {"command": "x"}).name == name


def test_the_entry_does_not_change_with_what_it_was_read_from() -> None:
    raw: dict[str, Any] = {"command": "x", "args": ["a"]}
    entry = parse_entry("s", raw)

    raw["args"].append("b")

    assert entry.raw == {"command": "x", "args": ["a"]}
