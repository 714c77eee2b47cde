"""The secret parts of an address are found wherever they stand; ordinary addresses have none."""

from __future__ import annotations

import pytest

from toolcrib.config.secret_detection import looks_secret, secrets_in, without_secrets
from toolcrib.config.secret_extraction import SecretExtractor

KEY = "k3yk3yk3yk3yk3yk3y99"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://x.example/mcp?api_key=abc123", "https://x.example/mcp?api_key=***"),
        ("https://x.example/mcp?a=1&apiKey=abc%2F123&b=2", "https://x.example/mcp?a=1&apiKey=***&b=2"),
        ("https://x.example/mcp?key=abc", "https://x.example/mcp?key=***"),
        ("https://x.example/mcp?a=1;token=abc", "https://x.example/mcp?a=1;token=***"),
        ("https://x.example/mcp?X-Amz-Signature=abc", "https://x.example/mcp?X-Amz-Signature=***"),
        ("https://x.example/mcp?%61pi_key=abc", "https://x.example/mcp?%61pi_key=***"),
        (f"https://x.example/mcp?id={KEY}", "https://x.example/mcp?id=***"),
        ("https://x.example/mcp#access_token=abc", "https://x.example/mcp#access_token=***"),
        ("https://ann:pw@x.example/mcp", "https://ann:***@x.example/mcp"),
        ("https://ann:p:w@y@x.example/mcp", "https://ann:***@x.example/mcp"),
        ("https://abc@x.example/mcp", "https://***@x.example/mcp"),
        ("https://abc:@x.example/mcp", "https://***:@x.example/mcp"),
        (f"https://x.example/s/{KEY}/mcp", "https://x.example/s/***/mcp"),
        ("https://x.example/sk-abcdefghijklmnopqrst/mcp", "https://x.example/***/mcp"),
        ("https://x.example/3fa85f64-5717-4562-b3fc-2c963f66afa6", "https://x.example/***"),
        ("HTTPS://x.example/mcp?API_KEY=abc", "HTTPS://x.example/mcp?API_KEY=***"),
        ("wss://x.example/?secret=abc", "wss://x.example/?secret=***"),
        ("wss://x.example/?ticket=abc", "wss://x.example/?ticket=***"),
        (f"https://x.example/mcp?{KEY}", "https://x.example/mcp?***"),
        (f"https://x.example/mcp?a=1&{KEY}", "https://x.example/mcp?a=1&***"),
        (f"https://x.example/mcp#{KEY}", "https://x.example/mcp#***"),
        ("https://x.example/token/abcdefgh/mcp", "https://x.example/token/***/mcp"),
        ("https://x.example/%74oken/abcdefgh/mcp", "https://x.example/%74oken/***/mcp"),
        ("https://x.example/%73k-abcdefghijklmnopqrst", "https://x.example/***"),
        ("https://%61nn:p%77@x.example/mcp", "https://%61nn:***@x.example/mcp"),
    ],
)
def test_a_secret_is_not_shown(address: str, shown: str) -> None:
    assert without_secrets(address) == shown
    assert without_secrets(shown) == shown


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000/mcp",
        "https://mcp.example.com/v1/projects/my-long-project-name/mcp",
        "https://x.example/mcp?team=blue&page=2",
        "https://x.example/mcp?readonly&beta#tools",
        "https://x.example/token/mcp",
        "https://x.example/mcp?api_key=${secret:x.api_key}",
        "https://ann:${secret:x.password}@x.example/mcp",
        "https://x.example/mcp?api_key=",
        "not an address at all, api_key=abc",
    ],
)
def test_an_address_without_secrets_stays(address: str) -> None:
    assert secrets_in(address) == []
    assert without_secrets(address) == address


@pytest.mark.parametrize(
    ("args", "hidden"),
    [
        (["--url", f"https://x.example/s/{KEY}/mcp"], ["--url", "https://x.example/s/${secret:x.path}/mcp"]),
        ([f"--url=https://x.example/?id={KEY}"], ["--url=https://x.example/?id=${secret:x.id}"]),
        (["--header", "X-Api-Key: abc"], ["--header", "X-Api-Key: ${secret:x.X-Api-Key}"]),
        (
            ["--header=Authorization: Bearer abc"],
            ["--header=Authorization: Bearer ${secret:x.Authorization}"],
        ),
        (["-H", "Cookie:abc"], ["-H", "Cookie:${secret:x.Cookie}"]),
        (["--token", "abc"], ["--token", "${secret:x.token}"]),
        (["--token=abc"], ["--token=${secret:x.token}"]),
        (["--header", "Accept: text/html"], ["--header", "Accept: text/html"]),
        (
            ["--url", "https://x.example/mcp", "-v", "C:/data"],
            ["--url", "https://x.example/mcp", "-v", "C:/data"],
        ),
    ],
)
def test_secrets_of_arguments_are_stored_and_not_written(args: list[str], hidden: list[str]) -> None:
    found = SecretExtractor("x", looks_secret, lambda name: None).hide({"command": "npx", "args": args})

    assert [part.lower() for part in found["args"]] == [part.lower() for part in hidden]


def test_an_address_in_a_variable_keeps_its_host_and_hides_its_key() -> None:
    extractor = SecretExtractor("x", looks_secret, lambda name: None)
    found = extractor.hide({"command": "npx", "env": {"HOOK": f"https://x.example/s/{KEY}"}})

    assert found["env"]["HOOK"].startswith("https://x.example/s/${secret:x.")
    assert list(extractor.secrets.values()) == [KEY]
