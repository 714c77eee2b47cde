"""`toolcrib backup`: write everything that cannot be downloaded again into one file; its options. The
contents are printed by `view.py`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.features.backup.manifest import Manifest


@declare("Housekeeping")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, resolve_path=True))
@click.option("--secrets", is_flag=True, help="Include the secrets, encrypted with a passphrase.")
@click.option(
    "--passphrase-file",
    metavar="FILE",
    help="Read the passphrase from this file, or from stdin (-), and include the secrets.",
)
@click.option("--no-artifacts", is_flag=True, help="Leave out the files that runs of workflows stored.")
@click.option("--replace", is_flag=True, help="Replace FILE if it exists.")
@click.option("--show", is_flag=True, help="Show what the backup FILE contains; make none.")
async def command(
    surface: Surface,
    file: Path,
    secrets: bool,
    passphrase_file: str | None,
    no_artifacts: bool,
    replace: bool,
    show: bool,
) -> None:
    """Write a backup to FILE: database, config, rules, approvals, chats, workflows, accounts.

    A running host goes on meanwhile. Installed servers are listed and installed again by a restore. Secrets
    are left out unless you give a passphrase. Restore it with: toolcrib restore FILE
    """
    from toolcrib.cli.install_view import end_line
    from toolcrib.features.backup.view import progress, read_passphrase, show_contents

    if show:
        manifest = await asyncio.to_thread(_manifest_of, file)
    else:
        from toolcrib.features.backup.create import BackupRequest, create_backup

        wanted = secrets or passphrase_file is not None
        passphrase = (
            read_passphrase(passphrase_file, "Passphrase for the secrets", repeat=True) if wanted else None
        )
        await _settle(surface.paths)
        request = BackupRequest(passphrase=passphrase, artifacts=not no_artifacts, replace=replace)
        manifest = await create_backup(surface.paths, file, request, progress())
        end_line()
    if surface.answer(_as_json(file, manifest)):
        return
    show_contents(manifest)
    if not show:
        say(f"The backup is in {file}.")
        if not wanted:
            note("Secrets are not in it. Include them, encrypted, with --secrets.")


async def _settle(paths: Paths) -> None:
    """Let a running host write the records that it still has in memory."""
    from toolcrib.ipc.client import connected
    from toolcrib.operations.client import Client

    async with connected(paths) as host:
        if host is not None:
            await Client(host).database_show()


def _manifest_of(file: Path) -> Manifest:
    from toolcrib.features.backup.archive import open_archive

    with open_archive(file) as archive:
        return archive.manifest


def _as_json(file: Path, manifest: Manifest) -> dict[str, Any]:
    values = manifest.model_dump(mode="json", exclude={"product", "files"})
    return {"file": str(file), "size": manifest.size, "files": len(manifest.files), **values}
