"""An installed package with a kind of account and the bundled server that uses it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib import plugins

PROVIDER = '''
"""Ledger accounts: anybody who knows the password `open sesame`."""
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
from toolcrib.errors import AuthRequired, UsageError

TITLE = "Ledger"
ABOUT = "A ledger for tests."
SERVICES = ("ledger",)
FIELDS = (
    AccountField(key="user", label="User", help="Your name."),
    AccountField(key="password", label="Password", secret=True),
    AccountField(key="security", label="Security", required=False, default="tls", choices=("tls", "plain")),
)

async def prepare(name, given):
    """Complete it."""
    if "@" not in given["user"]:
        raise UsageError("The user is not an address.", hint="Write name@host.")
    settings = {"host": given["user"].partition("@")[2], "security": given.get("security") or "tls"}
    found = ("Found the host.",)
    return AccountDraft(user=given["user"], settings=settings, secret=given["password"], remarks=found)

async def check(account, secret):
    """Compare the password."""
    if secret != "open sesame":
        raise AuthRequired("The ledger rejected the password.", hint="Check the password.")
    return AccountCheck(identity=account.user, remarks=("The ledger has 3 pages.",))
'''
SERVER = '''
"""Bundled server: a ledger."""
from toolcrib.serverkit import ToolServer

def create(arguments=(), home=None):
    server = ToolServer("ledger", "1", "A ledger.")

    @server.tool(read_only=True)
    def pages() -> int:
        """Count the pages."""
        return 3

    return server
'''
MODULES = {"provider": PROVIDER, "server": SERVER}
POINTS = """
[toolcrib.features.accounts.providers]
ledger = ledgers.provider
[toolcrib.bundled]
ledger = ledgers.server
"""


def write_package(site: Path) -> Path:
    """Write the package and its entry points into a folder for `sys.path`."""
    package, info = site / "ledgers", site / "ledgers-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text.lstrip())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ledgers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS.lstrip())
    return site


@contextmanager
def installed_package(site: Path) -> Iterator[None]:
    """The package is on the path of this process while the block runs."""
    sys.path.insert(0, str(write_package(site)))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        for name in [name for name in sys.modules if name.partition(".")[0] == "ledgers"]:
            del sys.modules[name]
        _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    plugins.names.cache_clear()
    plugins.names_elsewhere.cache_clear()
    plugins._entry_points.cache_clear()
