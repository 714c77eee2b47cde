"""`toolcrib account`: with and without a running host, on a terminal and in scripts; no secret is shown."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.accounts.google_service import USER, GoogleService, google_service
from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.terminal import terminal
from tests.cli.test_completion import complete
from tests.cli.test_json_promise import examples, shape
from tests.features.accounts.ledger_package import write_package

PASSWORD = "open sesame"
ADD = ("account", "add", "ledger", "home", "--user", "ada@example.org", "--password-stdin")
DEADLINE = 60.0


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The program beside a host that has the package with the provider `ledger` and its server."""
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    site = write_package(tmp_path_factory.mktemp("package") / "site")
    host = CommandLine(home, {"PYTHONPATH": str(site)}).start("up", "--json")
    assert host.stdout is not None
    assert json.loads(host.stdout.readline())["pid"] == host.pid
    yield CommandLine(home)
    host.send_signal(signal.SIGTERM)
    host.communicate(timeout=DEADLINE)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def crib(hosted: CommandLine) -> Iterator[CommandLine]:
    """The same, without accounts at the end."""
    yield hosted
    (hosted.home / "accounts.json").unlink(missing_ok=True)


def test_an_account_is_added_without_a_running_host(toolcrib: CommandLine, tmp_path: Path) -> None:
    toolcrib.extra["PYTHONPATH"] = str(write_package(tmp_path / "site"))

    added = toolcrib(*ADD, "--json", stdin=PASSWORD)

    assert added.json["servers_added"] == ["ledger"]
    assert toolcrib("account", "test", "--json").json[0]["ok"]
    assert toolcrib("call", "ledger__pages").out.strip() == "3"


def test_an_account_is_added_listed_tested_and_removed_as_documented(
    crib: CommandLine,
) -> None:
    added = crib(*ADD, "--json", stdin=f"{PASSWORD}\n")
    listed = crib("account", "list", "--json")
    tested = crib("account", "test", "home", "--json")
    removed = crib("account", "remove", "home", "--yes", "--json")

    documented = [shape(example) for example in examples("account")]
    assert [shape(answer.json) for answer in (listed, added, tested, removed)] == documented
    assert added.json["account"] == listed.json[0]
    assert tested.json[0]["identity"] == "ada@example.org"
    assert removed.json == {"removed": "home", "servers_affected": ["ledger"], "remarks": []}
    assert PASSWORD not in added.out + listed.out + tested.out


def test_lines_for_people_name_the_account_and_its_server(crib: CommandLine) -> None:
    added = crib(*ADD, "--read-only", stdin=PASSWORD)
    listed = crib("account")
    tested = crib("account", "test")

    assert added.out == "home is added: Ledger (ada@example.org), read-only.\n"
    assert "Found the host." in added.err
    assert "ada@example.org" in listed.out
    assert "read-only" in listed.out
    assert "home: ada@example.org" in tested.out


def test_a_wrong_password_stores_nothing(crib: CommandLine) -> None:
    refused = crib(*ADD, "--json", stdin="guess what")

    assert (refused.code, refused.error["kind"]) == (5, "needs_auth")
    assert "guess what" not in refused.out + refused.err
    assert crib("account", "--json").json == []


def test_an_account_that_does_not_work_makes_the_test_fail(crib: CommandLine) -> None:
    assert crib(*ADD, "--no-check", stdin="guess what").code == 0

    tested = crib("account", "test")

    assert tested.code == 5
    assert "The ledger rejected the password." in tested.out
    assert "Check the password." in tested.err
    assert crib("account", "remove", "home", "--json").code == 4


def test_an_unknown_account_is_not_found(crib: CommandLine) -> None:
    assert crib("account", "remove", "nobody", "--json").code == 3
    assert crib("account", "test", "nobody", "--json").code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "password=x"), "is a secret"),
        (("--imap", "h:1", "--password-stdin"), "no field 'imap'"),
        ((), "Password is missing"),
    ],
)
def test_what_cannot_work_is_refused(crib: CommandLine, words: tuple[str, ...], said: str) -> None:
    answer = crib("account", "add", "ledger", "x", "--user", "a@b.example", *words, "--json", stdin="x")

    assert answer.code == 2
    assert said in answer.error["message"]


def test_a_script_is_told_how_to_pass_a_secret(crib: CommandLine) -> None:
    answer = crib("account", "add", "ledger", "x", "--user", "a@b.example", "--json")

    assert answer.error["hint"] == "Pass it on stdin with --password-stdin."


def test_a_used_name_needs_replace(crib: CommandLine) -> None:
    plain = crib(*ADD, "--plain", "--json", stdin=PASSWORD)
    refused = crib(*ADD, "--json", stdin=PASSWORD)
    named = crib(*ADD, "--set", "security=tls", "--replace", "--json", stdin=PASSWORD)

    assert plain.json["account"]["settings"]["security"] == "plain"
    assert refused.error["kind"] == "usage"
    assert named.json["account"]["settings"]["security"] == "tls"


def test_missing_fields_are_asked_for_and_secrets_are_not_echoed(crib: CommandLine) -> None:
    with terminal(crib, "account", "add", "ledger", "home") as screen:
        screen.expect("User (Your name): ")
        screen.type("ada@example.org\n")
        screen.expect("Password: ")
        screen.type(f"{PASSWORD}\n")
        assert screen.wait() == 0
        assert "home is added" in screen.seen
        assert PASSWORD not in screen.seen


def test_names_and_providers_are_completed(crib: CommandLine) -> None:
    crib(*ADD, stdin=PASSWORD)

    assert complete(crib, "account", "test", "h") == ["home"]
    assert "google" in complete(crib, "account", "add", "")


def test_the_doctor_names_an_account_without_its_secret(crib: CommandLine) -> None:
    crib(*ADD, stdin=PASSWORD)
    fine = _findings(crib)
    crib("secret", "remove", "account.home", "--yes")
    missing = _findings(crib)
    (crib.home / "accounts.json").write_text("{")
    damaged = _findings(crib)

    assert fine["account home"] == "ok"
    assert missing["account home"] == "broken"
    assert damaged["accounts"] == "broken"


def _findings(crib: CommandLine) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in crib("doctor", "--json").json["checks"]}


async def _sign_in(
    toolcrib: CommandLine, google: GoogleService, file: Path, *words: str
) -> tuple[int, str, str]:
    """Run the command, and be the user in the browser."""
    file.write_text(google.client_file())
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "account", "add", "google", "work", "--no-browser", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=toolcrib.environment,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.timeout(DEADLINE):
        line = (await process.stderr.readline()).decode()
        assert "Sign in on this page: " in line, line
        await google.agree(line.split()[-1])
        out, err = (await process.stdout.read()).decode(), (await process.stderr.read()).decode()
        return await process.wait(), out, line + err


@pytest.mark.parametrize("host", [False, True], ids=["alone", "beside a host"])
async def test_a_google_account_is_added_by_signing_in(
    toolcrib: CommandLine, tmp_path: Path, host: bool, request: pytest.FixtureRequest
) -> None:
    if host:
        request.getfixturevalue("up")
    async with google_service() as google:
        file = tmp_path / "client.json"
        code, out, err = await _sign_in(toolcrib, google, file, "--client-file", str(file), "--json")
        tested = await asyncio.to_thread(toolcrib, "account", "test", "work", "--json")
        again = await _sign_in(toolcrib, google, file, "--replace", "--json")
        removed = await asyncio.to_thread(toolcrib, "account", "remove", "work", "--yes", "--json")

        assert code == 0, err
        assert json.loads(out)["identity"] == USER
        assert tested.json[0]["ok"]
        assert again[0] == 0, again
        assert removed.json["removed"] == "work"
        assert google.grants[-1].revoked
        written = out + err + tested.out + again[1] + again[2]
        secrets = [*google.tokens, *(grant.refresh_token for grant in google.grants), "GOCSPX-client-secret"]
        assert not [secret for secret in secrets if secret in written]


async def test_tokens_are_only_in_the_private_secrets_file(toolcrib: CommandLine, tmp_path: Path) -> None:
    async with google_service() as google:
        file = tmp_path / "client.json"
        await _sign_in(toolcrib, google, file, "--client-file", str(file))
        token = google.grants[0].refresh_token

    holders = [path for path in toolcrib.home.rglob("*") if path.is_file() and token in _text(path)]
    assert [path.name for path in holders] == ["secrets.json"]
    assert holders[0].stat().st_mode & 0o077 == 0


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


async def test_a_refused_sign_in_exits_with_an_error(toolcrib: CommandLine, tmp_path: Path) -> None:
    async with google_service() as google:
        google.denied = "access_denied"
        file = tmp_path / "client.json"
        code, out, _ = await _sign_in(toolcrib, google, file, "--client-file", str(file), "--json")

    assert code == 5
    assert json.loads(out)["error"]["kind"] == "needs_auth"


async def test_a_sign_in_that_takes_too_long_ends(toolcrib: CommandLine, tmp_path: Path) -> None:
    async with google_service() as google:
        file = tmp_path / "client.json"
        file.write_text(google.client_file())
        words = ("account", "add", "google", "work", "--client-file", str(file), "--timeout", "1", "--json")
        answer = await asyncio.to_thread(toolcrib, *words)

    assert (answer.code, answer.error["kind"]) == (5, "needs_auth")


def test_a_client_file_that_cannot_be_read_is_named(toolcrib: CommandLine, tmp_path: Path) -> None:
    answer = toolcrib("account", "add", "google", "w", "--client-file", str(tmp_path / "no.json"), "--json")

    assert answer.code == 2
    assert "client file cannot be read" in answer.error["message"]
