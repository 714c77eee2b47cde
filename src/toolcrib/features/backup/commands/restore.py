"""`toolcrib restore`: replace everything by the content of a backup; its options, confirmations, and advice
for afterwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import label, note, say
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.features.backup.plan import RestorePlan
    from toolcrib.features.backup.restore import Restore


@declare("Housekeeping", asks=True)
@click.argument("file", type=click.Path(path_type=Path, resolve_path=True))
@click.option("--dry-run", is_flag=True, help="Check the backup and show the plan; change nothing.")
@click.option(
    "--trust",
    "trust",
    is_flag=True,
    help="Keep the approvals in a backup of another home: what its servers run, and its rules.",
)
@click.option(
    "--passphrase-file", metavar="FILE", help="Read the passphrase from this file, or from stdin (-)."
)
@click.option("--without-secrets", is_flag=True, help="Leave the encrypted secrets out.")
@click.option("--no-install", is_flag=True, help="Do not install servers again.")
async def command(
    surface: Surface,
    file: Path,
    dry_run: bool,
    trust: bool,
    passphrase_file: str | None,
    without_secrets: bool,
    no_install: bool,
) -> None:
    """Replace the content of this home by the backup FILE.

    The present state is backed up first. A running host closes and opens again. After an interruption, all is
    as it was before. A backup of another home is restored without its approvals, unless you add --trust.
    """
    from toolcrib.cli.install_view import end_line
    from toolcrib.features.backup.restore import open_restore
    from toolcrib.features.backup.restoring import apply_restore
    from toolcrib.features.backup.view import progress, show_plan

    async with open_restore(surface.paths, file, progress()) as restore:
        end_line()
        await _unlock(restore, passphrase_file, without_secrets=without_secrets)
        plan = restore.plan
        if surface.json and (dry_run or not surface.yes):
            surface.answer(_as_json(plan))  # A program only looks, unless it says --yes.
            return
        if not surface.json:
            show_plan(plan)
        if dry_run:
            return
        surface.ask("Replace everything here by this backup?", refused="Nothing was restored.")
        keep = plan.own or trust or _agrees(surface, plan)
        before = await restore.back_up_present(progress())
        end_line()
        reopened = await apply_restore(surface.paths, restore, keep_approvals=keep)
    failed = {} if no_install else await _repeat_installs(surface, plan)
    result = {
        "restored": True,
        "approvals": keep,
        "before": str(before),
        "reopened": reopened,
        "failed": failed,
    }
    if surface.answer({**_as_json(plan), **result}):
        return
    say(f"The backup of {plan.manifest.created} is restored.")
    _advise(plan, failed, keep=keep, before=before)


async def _unlock(restore: Restore, passphrase_file: str | None, *, without_secrets: bool) -> None:
    if not restore.plan.manifest.secrets or without_secrets:
        return
    from toolcrib.features.backup.view import read_passphrase

    if passphrase_file is None and not can_ask():
        note("The secrets are left out: there is no passphrase. Give one with --passphrase-file FILE.")
        return
    await restore.unlock(read_passphrase(passphrase_file, "Passphrase of the secrets"))


def _agrees(surface: Surface, plan: RestorePlan) -> bool:
    """Ask about the approvals of another home; `--yes` alone is no answer to this."""
    if surface.yes or surface.json or not can_ask():
        return False
    return confirm("Also keep its approvals, so that these servers start and its rules apply?")


async def _repeat_installs(surface: Surface, plan: RestorePlan) -> dict[str, str]:
    if not any(need.need == "install" for need in plan.installs):
        return {}
    from toolcrib.features.backup.restoring import repeat_installs

    async with surface.reach() as client:
        return await repeat_installs(client, plan.installs)


def _advise(plan: RestorePlan, failed: dict[str, str], *, keep: bool, before: Path) -> None:
    note(f"The state before is in {before}")
    for name, reason in failed.items():
        label("not installed:", "yellow", f"{name}: {reason}")
    for need in plan.installs:
        if need.need == "impossible":
            label("not installed:", "yellow", f"{need.install.name}: {need.advice}")
    if plan.manifest.database_url:
        note("The data is in a file of this home now. To use the shared database instead:")
        note(f"  toolcrib settings set database {plan.manifest.database_url}")
    if not keep and plan.launches:
        note(f"Approve its servers one by one: toolcrib trust {next(iter(plan.launches))}")


def _as_json(plan: RestorePlan) -> dict[str, Any]:
    return {**plan.as_json(), "restored": False}
