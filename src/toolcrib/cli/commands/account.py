"""`toolcrib account`: add, list, test and remove accounts with other services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.account_form import read_values
from toolcrib.cli.account_sign_in import sign_in
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import label, mark, note, say, say_exactly, show_table
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from toolcrib.operations.client import AccountProviderShown, Client
    from toolcrib.operations.results.accounts import AccountAdded, AccountShown, AccountTested

UNAVAILABLE = 5
"""The exit code if an account does not work."""


@declare()
@click.argument("provider", shell_complete=completion.account_providers)
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
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="Fill in another field.")
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
            "values": _values(kind, given),
            "read_only": given["read_only"],
            "replace": given["replace"],
            "check": not given["no_check"],
        }
        if kind["sign_in"]:
            outcome = await sign_in(client, params, given["timeout"], browser=not given["no_browser"])
        else:
            outcome = await client.account_add(**params)
    if not surface.answer(outcome):
        _show_added(outcome)


def _values(kind: AccountProviderShown, given: dict[str, Any]) -> dict[str, str]:
    return read_values(
        kind,
        {key: given[key] for key in ("user", "imap", "smtp", "security", "url", "services")},
        pairs=given["pairs"],
        from_stdin=given["stdin"] or "",
        client_file=given["client_file"],
        replace=given["replace"],
    )


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
async def list_(surface: Surface) -> None:
    """List the accounts and the servers that can use them; secrets are never shown."""
    async with surface.reach() as client:
        found = await client.account_list()
    if surface.answer(found):
        return
    if not found:
        note("No accounts yet. Add one with: toolcrib account add PROVIDER NAME")
        return
    show_table(["NAME", "PROVIDER", "USER", "ACCESS", "SERVERS"], [_row(account) for account in found])


def _row(account: AccountShown) -> list[str]:
    access = "read-only" if account["read_only"] else "full"
    servers = ", ".join(account["servers"]) or "-"
    return [account["name"], account["provider"], account["user"] or "-", access, servers]


@declare()
@click.argument("name", required=False, shell_complete=completion.accounts)
async def test(surface: Surface, name: str | None) -> int:
    """Connect to the account NAME, or to all accounts, and change nothing."""
    async with surface.reach() as client:
        names = [name] if name else [account["name"] for account in await client.account_list()]
        tested = [await client.account_test(name=each) for each in names]
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
    list_,
    test,
    remove,
)
