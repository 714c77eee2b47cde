"""What people write, and what it is taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.errors import UsageError
from toolcrib.serverkit.extras.index_settings import index_settings
from toolcrib.servers.installers import npm, python
from toolcrib.servers.installers.engine.node import least_major
from toolcrib.servers.installers.engine.package_names import freshness, looks_like, propose_name


@pytest.mark.parametrize(
    ("reference", "read"),
    [
        ("npm:left-pad", ("left-pad", "latest")),
        ("npm:@scope/name@1.2.3-beta.1", ("@scope/name", "1.2.3-beta.1")),
        ("npm:name@next", ("name", "next")),
        ("npm:name@^2", ("name", "^2")),
    ],
)
def test_an_npm_reference_is_a_name_and_a_version(reference: str, read: tuple[str, str]) -> None:
    assert npm.read_reference(reference) == read


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "npm:",
            "npm:--prefix=/",
            "npm:../x",
            "npm:a b;c",
            "npm:file:/etc",
            "npm:git+ssh://host/x",
            "npm:.x",
        ),
        *(
            "npm:name@",
            "npm:name@file:/etc",
            "npm:name@https://evil/x.tgz",
            "npm:name@npm:other@1",
            "npm:a/b",
        ),
        *("npm:name@1 --ignore-scripts=false", "npm:@scope", f"npm:{'x' * 300}"),
    ],
)
def test_what_is_no_npm_name_never_reaches_npm(reference: str) -> None:
    with pytest.raises(UsageError):
        npm.read_reference(reference)


@pytest.mark.parametrize(
    ("reference", "read"),
    [
        ("pypi:mcp-server-time", ("mcp-server-time", "", None)),
        ("pypi:name==1.0.post1", ("name", "", "1.0.post1")),
        ("pypi:name[cli,extra]==2", ("name", "[cli,extra]", "2")),
        ("pypi:name@latest", ("name", "", None)),
    ],
)
def test_a_pypi_reference_is_a_name_and_a_version(reference: str, read: tuple[str, str, str | None]) -> None:
    assert python.read_reference(reference) == read


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "pypi:",
            "pypi:--index-url=x",
            "pypi:../x",
            "pypi:a b",
            "pypi:name @ file:///etc",
            "pypi:-r /etc/passwd",
        ),
        *("pypi:name==1; os_name=='posix'", "pypi:name\n--index-url x", "pypi:name[x;y]", "pypi:git+ssh://x"),
    ],
)
def test_what_is_no_python_name_never_reaches_uv(reference: str) -> None:
    with pytest.raises(UsageError):
        python.read_reference(reference)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("npm:@modelcontextprotocol/server-memory@2026.7.4", "memory"),
        ("npm:@upstash/context7-mcp", "context7"),
        ("npm:@playwright/mcp", "mcp"),
        ("pypi:mcp-server-time==2026.1", "time"),
        ("pypi:prometheus-mcp-server", "prometheus"),
        ("/x/mcp_server_git-2026.1-py3-none-any.whl", "git"),
        ("/x/tiny-server-1.0.0.tgz", "tiny"),
        ("/x/hello.mcpb", "hello"),
        ("/x/my tools/", "my-tools"),
        ("https://host/v0/notes/server.json", "notes"),
    ],
)
def test_a_server_is_named_after_the_telling_part(reference: str, name: str) -> None:
    assert propose_name(reference) == name


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        ("npm", "@modelcontextprotocol/server-filesytem", "@modelcontextprotocol/server-filesystem"),
        ("npm", "@modelcontextprotoco1/server-memory", "@modelcontextprotocol/server-memory"),
        ("npm", "modelcontextprotocol-server-github", "@modelcontextprotocol/server-github"),
        ("npm", "@p1aywright/mcp", "@playwright/mcp"),
        ("pypi", "mcp-sever-git", "mcp-server-git"),
        ("pypi", "mcp_server_tiem", "mcp-server-time"),
        ("npm", "@modelcontextprotocol/server-memory", None),
        ("pypi", "mcp-server-calculator", None),
        ("npm", "tiny-server", None),
    ],
)
def test_a_name_that_is_nearly_a_known_one_is_noticed(kind: str, name: str, known: str | None) -> None:
    assert looks_like(kind, name) == known


@pytest.mark.parametrize(
    ("engines", "least"),
    [(None, 20), ({}, 20), ({"node": ">=18"}, 20), ({"node": ">=22.12"}, 22), ({"node": "^20 || >=24"}, 20)],
)
def test_the_node_that_a_package_asks_for_is_understood(engines: object, least: int) -> None:
    assert least_major(engines) == least


def test_a_release_of_today_is_remarked_on() -> None:
    from datetime import UTC, datetime, timedelta

    now = datetime(2026, 5, 1, tzinfo=UTC)

    assert freshness((now - timedelta(hours=5)).isoformat(), now) == (
        "This version was released only 5 hours ago.",
    )
    assert freshness((now - timedelta(days=9)).isoformat(), now) == ()
    assert freshness(None, now) == freshness("yesterday", now) == ()


def test_uv_is_told_what_pip_was_told(tmp_path: Path) -> None:
    file = tmp_path / "pip" / "pip.conf"
    file.parent.mkdir()
    file.write_text(
        "[global]\nindex-url = http://127.0.0.1:9/simple\nextra-index-url =\n  file:///a\n  file:///b\n"
    )
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path), "PIP_FIND_LINKS": "/wheels"}

    settings = index_settings(environ)

    assert settings["UV_DEFAULT_INDEX"] == "http://127.0.0.1:9/simple"
    assert settings["UV_INDEX"] == "file:///a file:///b"
    assert settings["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert settings["UV_FIND_LINKS"] == "/wheels"


def test_settings_of_uv_itself_are_left_alone(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}

    assert index_settings({**environ, "UV_DEFAULT_INDEX": "http://127.0.0.1:8/"}) == {}
    (tmp_path / ".config" / "uv").mkdir(parents=True)
    (tmp_path / ".config" / "uv" / "uv.toml").write_text('index-url = "http://127.0.0.1:7/"')
    assert index_settings(environ) == {}
