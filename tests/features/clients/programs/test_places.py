"""Every client's file is where that client looks, on each platform."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.features.clients.files.client import find_client
from toolcrib.features.clients.files.gateway import Address, UserFolders

HOME = Path("/home/ada")
SUPPORT = "Library/Application Support"
CLINE = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"


@pytest.mark.parametrize(
    ("name", "linux", "darwin", "win32"),
    [
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            f"{SUPPORT}/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (
            "cline",
            *[".cline/data/settings/cline_mcp_settings.json"] * 3,
        ),
        ("librechat", *["LibreChat/librechat.yaml"] * 3),
        ("lm-studio", *[".lmstudio/mcp.json"] * 3),
        ("copilot", *[".copilot/mcp-config.json"] * 3),
        ("qwen", *[".qwen/settings.json"] * 3),
        ("opencode", *[".config/opencode/opencode.json"] * 3),
        ("kiro", *[".kiro/settings/mcp.json"] * 3),
        ("crush", *[".config/crush/crush.json"] * 3),
        ("amp", *[".config/amp/settings.json"] * 3),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json"),
        (
            "goose",
            ".config/goose/config.yaml",
            ".config/goose/config.yaml",
            "AppData/Roaming/Block/goose/config/config.yaml",
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            f"{SUPPORT}/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        (
            "windsurf",
            ".config/devin/mcp_config.json",
            ".config/devin/mcp_config.json",
            "AppData/Roaming/devin/mcp_config.json",
        ),
        (
            "zed",
            ".config/zed/settings.json",
            ".config/zed/settings.json",
            "AppData/Roaming/Zed/settings.json",
        ),
    ],
)
def test_the_usual_places(name: str, linux: str, darwin: str, win32: str) -> None:
    client = find_client(name)

    for platform, expected in {"linux": linux, "darwin": darwin, "win32": win32}.items():
        assert client.file(UserFolders(home=HOME, platform=platform)) == HOME / expected


@pytest.mark.parametrize(
    ("name", "platform", "variable", "expected"),
    [
        ("zed", "linux", "XDG_CONFIG_HOME", "/elsewhere/zed/settings.json"),
        ("zed", "darwin", "XDG_CONFIG_HOME", "/home/ada/.config/zed/settings.json"),
        ("goose", "linux", "XDG_CONFIG_HOME", "/elsewhere/goose/config.yaml"),
        ("vscode", "linux", "XDG_CONFIG_HOME", "/elsewhere/Code/User/mcp.json"),
        ("vscode", "win32", "APPDATA", "/elsewhere/Code/User/mcp.json"),
        ("codex", "linux", "CODEX_HOME", "/elsewhere/config.toml"),
        ("cline", "linux", "CLINE_DATA_DIR", "/elsewhere/settings/cline_mcp_settings.json"),
        ("windsurf", "linux", "XDG_CONFIG_HOME", "/elsewhere/devin/mcp_config.json"),
        ("claude-code", "linux", "CLAUDE_CONFIG_DIR", "/elsewhere/.claude.json"),
        ("copilot", "darwin", "COPILOT_HOME", "/elsewhere/mcp-config.json"),
        ("opencode", "win32", "XDG_CONFIG_HOME", "/elsewhere/opencode/opencode.json"),
        ("crush", "linux", "XDG_CONFIG_HOME", "/elsewhere/crush/crush.json"),
        ("crush", "win32", "CRUSH_GLOBAL_CONFIG", "/elsewhere/crush.json"),
        ("amp", "linux", "XDG_CONFIG_HOME", "/home/ada/.config/amp/settings.json"),
    ],
)
def test_places_that_a_variable_names(name: str, platform: str, variable: str, expected: str) -> None:
    places = UserFolders(home=HOME, platform=platform, environ={variable: "/elsewhere"})

    assert find_client(name).file(places) == Path(expected)


def test_a_relative_folder_in_a_variable_counts_for_nothing() -> None:
    places = UserFolders(home=HOME, platform="linux", environ={"XDG_CONFIG_HOME": "here"})

    assert places.config == HOME / ".config"


def test_a_client_is_here_when_its_folder_is(tmp_path: Path) -> None:
    places, client = UserFolders(home=tmp_path, platform="linux"), find_client("claude-code")
    assert not client.is_here(places)

    (tmp_path / ".claude").mkdir()
    assert client.is_here(places)


OLDER = {
    "cline": {
        "linux": f".config/{CLINE}",
        "darwin": f"{SUPPORT}/{CLINE}",
        "win32": f"AppData/Roaming/{CLINE}",
    },
    "windsurf": dict.fromkeys(("linux", "darwin", "win32"), ".codeium/windsurf/mcp_config.json"),
    "lm-studio": dict.fromkeys(("linux", "darwin", "win32"), ".cache/lm-studio/mcp.json"),
}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("name", OLDER)
def test_where_only_an_older_version_is_installed_its_file_is_used(
    tmp_path: Path, name: str, platform: str
) -> None:
    places, client = UserFolders(home=tmp_path, platform=platform), find_client(name)
    assert client.here(places) is client

    older = tmp_path / OLDER[name][platform]
    older.parent.mkdir(parents=True)
    assert client.here(places).file(places) == older

    client.file(places).parent.mkdir(parents=True)
    assert client.here(places) is client


def test_an_older_windsurf_is_told_the_address_under_its_own_key(tmp_path: Path) -> None:
    places, address = UserFolders(home=tmp_path, platform="linux"), Address(url="http://127.0.0.1:8765/mcp")
    (tmp_path / ".codeium" / "windsurf").mkdir(parents=True)
    client = find_client("windsurf")

    assert client.entry("crib", address) == {"url": address.url}
    assert client.here(places).entry("crib", address) == {"serverUrl": address.url}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("Devin", "windsurf"),
        ("LMStudio", "lm-studio"),
        ("GitHub Copilot CLI", "copilot"),
        ("Qwen Code", "qwen"),
        ("kiro-cli", "kiro"),
    ],
)
def test_a_client_is_found_by_its_other_names(word: str, name: str) -> None:
    assert find_client(word) is find_client(name)
