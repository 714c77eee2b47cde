"""`toolcrib account`: add, list, test and remove accounts with other services; its options, questions on a
terminal, and the exit code if an account does not work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib import plugins
from toolcrib.accounts.provider import PROVIDERS
from toolcrib.cli import completion
from toolcrib.cli.browser import can_open, open_address
from toolcrib.cli.declare import Seconds, declare, repeatable
from toolcrib.cli.group import command_of
from toolcrib.cli.output import label, mark, note, say, say_exactly
from toolcrib.cli.proposal import read_pairs
from toolcrib.cli.questions import LARGEST_SECRET, ask, ask_unseen, can_ask, choose, read_secret
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.errors import AuthRequired, NotFound, ToolcribError, UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text

if TYPE_CHECKING:
    from toolcrib.features.accounts.results import AccountAdded, AccountSignInResult, AccountTested
    from toolcrib.operations.client import AccountField, AccountProviderShown, Client

UNAVAILABLE = 5
"""The exit code if an account does not work."""
CLIENT_FILE = "client_file"
STDIN_KEYS = ("password", "token")
"""Fields that have an option to read them from stdin."""
POLL = 30.0
"""Seconds that the host holds back its answer while the user signs in."""


def _account_providers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The kinds of accounts."""
    return [name for name in plugins.names(PROVIDERS) if name.startswith(incomplete)]


@declare()
@click.argument("provider", shell_complete=_account_providers)
@click.argument("name")
@click.option("--user", help="Your address or user name.")
@click.option("--imap", metavar="HOST:PORT", help="The server for reading mail; found by the address.")
@click.option("--smtp", metavar="HOST:PORT", help="The server for sending mail; found by the address.")
@click.option("--tls", "security", flag_value="tls", help="Encrypt from the first byte.")
@click.option("--starttls", "security", flag_value="starttls", help="Encrypt after a greeting.")
@click.option("--plain", "security", flag_value="plain", help="Do not encrypt; for servers on this machine.")
@click.option("--url", help="The address of the service.")
@click.option("--password-stdin", "stdin", flag_value="password", help="Read the password from stdin.")
@click.option("--token-stdin", "stdin", flag_value="token", help="Read the token from stdin.")
@click.option("--client-file", metavar="FILE", help="Your OAuth client, from the Google Cloud console.")
@click.option("--services", help="Allow only these: mail, calendar, or mail,calendar.")
@repeatable("--set", "pairs", metavar="KEY=VALUE", help="Fill in another field.")
@click.option("--no-browser", is_flag=True, help="Only print the address of the sign-in page.")
@click.option("--timeout", type=Seconds(1, 600), default=600.0, help="Seconds to wait for the sign-in.")
@click.option("--read-only", is_flag=True, help="Never change anything in this account.")
@click.option("--replace", is_flag=True, help="Replace an account of the same name, or sign in again.")
@click.option("--no-check", is_flag=True, help="Store it without connecting.")
async def add(surface: Surface, provider: str, name: str, **given: Any) -> None:
    """Add the account NAME of a PROVIDER: google, imap, caldav, discord or canvas.

    What is missing is asked for on a terminal. The account is checked, then stored; its secret goes to the
    system keyring. The servers that can use it are turned on.

    \b
    toolcrib account add google work --client-file client_secret.json
    toolcrib account add imap private --user me@fastmail.com
    toolcrib account add caldav family --url https://cloud.example.org/dav --user ada
    toolcrib account add discord bot --token-stdin < token.txt
    """
    async with surface.reach() as client:
        kind = await _find_kind(client, provider)
        params = {
            "provider": provider,
            "name": name,
            "values": _read_values(kind, given),
            "read_only": given["read_only"],
            "replace": given["replace"],
            "check": not given["no_check"],
        }
        if kind["sign_in"]:
            outcome = await _sign_in(client, params, given["timeout"], browser=not given["no_browser"])
        else:
            outcome = await client.account_add(**params)
    if not surface.answer(outcome):
        _show_added(outcome)


def _read_values(provider: AccountProviderShown, given: Mapping[str, Any]) -> dict[str, str]:
    """The values of the provider's fields: from options, from stdin, and from questions on a terminal."""
    named = ("user", "imap", "smtp", "security", "url", "services")
    values = {key: given[key] for key in named if given[key] is not None}
    values |= _pairs(provider, given["pairs"])
    if key := given["stdin"]:
        values[key] = read_secret(key.capitalize(), name="The value on stdin")
    if given["client_file"] is not None:
        values[CLIENT_FILE] = _read_file(given["client_file"])
    if can_ask():
        return values | _asked(provider, values, replace=given["replace"])
    _check_secret(provider, values)
    return values


def _pairs(provider: AccountProviderShown, pairs: tuple[str, ...]) -> dict[str, str]:
    values = read_pairs(pairs, "=", "--set")
    for field in provider["fields"]:
        if field["secret"] and field["key"] in values:
            raise UsageError(
                f"{field['label']} is a secret; other users of this machine can read command lines.",
                hint="Leave it out: it is asked for on a terminal. In scripts use --password-stdin.",
            )
    return values


def _check_secret(provider: AccountProviderShown, values: Mapping[str, str]) -> None:
    """Raise `UsageError` that says how a script passes a secret that is missing."""
    for field in provider["fields"]:
        if field["key"] in STDIN_KEYS and field["required"] and not values.get(field["key"]):
            raise UsageError(
                f"{field['label']} is missing.", hint=f"Pass it on stdin with --{field['key']}-stdin."
            )


def _asked(provider: AccountProviderShown, values: Mapping[str, str], *, replace: bool) -> dict[str, str]:
    """Answers for the required fields that are missing, and for the client file of a first sign-in."""
    missing = [field for field in provider["fields"] if field["required"] and not values.get(field["key"])]
    answers = {field["key"]: _ask(field) for field in missing}
    keys = [field["key"] for field in provider["fields"]]
    if CLIENT_FILE in keys and not replace and not values.get(CLIENT_FILE) and not values.get("client_id"):
        answers[CLIENT_FILE] = _read_file(ask("Path of the OAuth client file"))
    return answers


def _ask(field: AccountField) -> str:
    question = f"{field['label']} ({field['help'].rstrip('.')})" if field["help"] else field["label"]
    if field["secret"]:
        return ask_unseen(question)
    if field["choices"]:
        return choose(question, field["choices"])
    return ask(question, field["default"])


def _read_file(path: str) -> str:
    try:
        text = read_bounded_text(Path(path).expanduser(), LARGEST_SECRET, pipes=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"The client file cannot be read: {reason}.", hint="Check its path.") from None
    return text


async def _sign_in(client: Client, params: dict[str, Any], timeout: float, *, browser: bool) -> AccountAdded:
    """Show the page and wait; every end of the wait also ends the sign-in."""
    page = await client.account_sign_in(**params)
    note(f"Sign in on this page: {one_line(page['url'])}")
    if browser and can_open() and page["url"].startswith(("https://", "http://")):
        open_address(page["url"])
    try:
        async with asyncio.timeout(timeout):
            result = await _result(client, page["sign_in"])
    except TimeoutError:
        await _cancel(client, page["sign_in"])
        raise AuthRequired(
            f"The sign-in was not completed within {timeout:g} s.", hint="Run the command again."
        ) from None
    except asyncio.CancelledError:
        await _cancel(client, page["sign_in"])
        raise
    if result["account"] is None:
        raise AuthRequired(result["error"], hint=result["hint"])
    user = result["account"]["user"]
    added = result["servers_added"]
    return {"account": result["account"], "servers_added": added, "remarks": [], "identity": user}


async def _result(client: Client, key: str) -> AccountSignInResult:
    while True:
        result = await client.account_sign_in_result(sign_in=key, wait=POLL)
        if result["state"] != "waiting":
            return result


async def _cancel(client: Client, key: str) -> None:
    with suppress(ToolcribError):
        await client.account_sign_in_cancel(sign_in=key)


async def _find_kind(client: Client, provider: str) -> AccountProviderShown:
    providers = await client.account_providers()
    for kind in providers:
        if kind["provider"] == provider:
            return kind
    known = ", ".join(kind["provider"] for kind in providers)
    raise NotFound(f"There is no provider {provider[:60]!r}.", hint=f"Known: {known}.")


def _show_added(outcome: AccountAdded) -> None:
    account = outcome["account"]
    known = f" ({one_line(account['user'])})" if account["user"] else ""
    limited = ", read-only" if account["read_only"] else ""
    say(f"{account['name']} is added: {one_line(account['title'])}{known}{limited}.")
    for remark in outcome["remarks"]:
        note(one_line(remark))
    for server in outcome["servers_added"]:
        note(f"The server {server} is on.")
    if outcome["servers_added"] and not account["read_only"]:
        note("Calls that send, invite or delete ask you first, also those of clients behind the gateway.")


@declare()
@click.argument("name", required=False, shell_complete=completion.accounts)
async def test(surface: Surface, name: str | None) -> int:
    """Connect to the account NAME, or to all accounts, and change nothing."""
    async with surface.reach() as client:
        names = [name] if name else [account["name"] for account in await client.account_list()]
        tested = [await client.account_test(name=known) for known in names]
    if not surface.answer(tested):
        for outcome in tested:
            _show_tested(outcome)
        if not tested:
            note("No accounts yet. Add one with: toolcrib account add PROVIDER NAME")
    return 0 if all(outcome["ok"] for outcome in tested) else UNAVAILABLE


def _show_tested(outcome: AccountTested) -> None:
    said = outcome["identity"] if outcome["ok"] else outcome["error"]
    say_exactly(f"{mark(outcome['ok'])} {outcome['name']}: {one_line(said)}")
    for remark in outcome["remarks"]:
        note(f"  {one_line(remark)}")
    if outcome["hint"]:
        label("  hint:", "cyan", one_line(outcome["hint"]))


@declare(asks=True)
@click.argument("name", shell_complete=completion.accounts)
async def remove(surface: Surface, name: str) -> None:
    """Forget the account NAME and its secret, and end its access where the service allows it."""
    async with surface.reach() as client:
        # An unknown name fails without asking.
        if name in [account["name"] for account in await client.account_list()]:
            surface.ask(f"Remove the account {name}?", refused=f"{name} was not removed.")
        outcome = await client.account_remove(name=name)
    if surface.answer(outcome):
        return
    say(f"{name} is removed.")
    for server in outcome["servers_affected"]:
        note(f"{server} can no longer use it.")
    for remark in outcome["remarks"]:
        note(remark)


command = command_of(
    "account",
    "Housekeeping",
    "Add, list, test and remove accounts.",
    add,
    test,
    remove,
)
