"""Gmail's labels on an IMAP mailbox: flags, keywords, or the folder that a message is in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.bundled.mail.folders import Folder, Role
from toolcrib.bundled.mail.imap_changes import folder_for, move, set_flags
from toolcrib.bundled.mail.imap_criteria import keyword_of
from toolcrib.bundled.mail.imap_ids import ImapId, gone
from toolcrib.bundled.mail.imap_messages import labels_of, locate, select
from toolcrib.bundled.mail.mailbox import Changed
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

_FLAGS = {"STARRED": "\\Flagged", "IMPORTANT": "$Important"}
_PLACES: dict[str, Role] = {"INBOX": "inbox", "TRASH": "trash", "SPAM": "spam"}
_FIXED = frozenset({"SENT", "DRAFT", "CHAT"})


@dataclass
class LabelPlan:
    """What a change of labels means for a message in one folder."""

    add: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    gmail_add: list[str] = field(default_factory=list)
    gmail_remove: list[str] = field(default_factory=list)
    targets: list[Folder | Role] = field(default_factory=list)
    """Where to move it: a folder, or a role whose folder may have to be made."""


def modify_labels(
    connection: ImapConnection,
    wanted: ImapId,
    folders: Sequence[Folder],
    add: Sequence[str],
    remove: Sequence[str],
) -> Changed:
    """Change the labels of one message."""
    found = locate(connection, wanted, folders, change=True)
    folder = next((each for each in folders if each.name == found.folder), Folder(found.folder))
    plan = _plan(folder, folders, add, remove, gmail=connection.has_capability("X-GM-EXT-1"))
    _check_keywords(connection, found.folder, plan.add)
    set_flags(connection, found.uid, plan.add, plan.remove)
    if plan.gmail_add:
        connection.add_gmail_labels([found.uid], plan.gmail_add)
    if plan.gmail_remove:
        connection.remove_gmail_labels([found.uid], plan.gmail_remove)
    flags = connection.get_flags([found.uid]).get(found.uid)
    if flags is None:
        raise gone(str(wanted))
    for target in plan.targets:
        folder = target if isinstance(target, Folder) else _place(connection, folders, target)
        found = move(connection, found, folder)
    return Changed(str(found), labels_of(flags, folder))


def _place(connection: ImapConnection, folders: Sequence[Folder], role: Role) -> Folder:
    return folder_for(connection, folders, role, *(("all",) if role == "archive" else ()))


def _plan(
    folder: Folder, folders: Sequence[Folder], add: Sequence[str], remove: Sequence[str], *, gmail: bool
) -> LabelPlan:
    plan = LabelPlan()
    for label in remove:
        _remove(plan, label, folder, folders, gmail=gmail)
    for label in add:
        _add(plan, label, folders, gmail=gmail)
    chosen: list[Folder | Role] = [target for target in plan.targets if target != "archive"] or plan.targets
    if len(set(map(repr, chosen))) > 1:
        raise ToolFailure(
            "On this account a message is in one folder only.", "Name one folder to move it to."
        )
    plan.targets = chosen[:1]
    return plan


def _add(plan: LabelPlan, label: str, folders: Sequence[Folder], *, gmail: bool) -> None:
    name = label.upper()
    if name in _FIXED:
        raise ToolFailure(f"{name} cannot be added or removed.", "Use send_email or create_draft instead.")
    if name == "UNREAD":
        plan.remove.append("\\Seen")
    elif name in _FLAGS:
        plan.add.append(_FLAGS[name])
    elif name in _PLACES:
        plan.targets.append(_PLACES[name])
    elif gmail:
        plan.gmail_add.append(label)
    elif (target := _named(folders, label)) is not None:
        if target.role == "trash":
            raise ToolFailure("Labels do not move a message to the trash.", "Use trash_email.")
        plan.targets.append(target)
    else:
        plan.add.append(_keyword(label))


def _remove(plan: LabelPlan, label: str, folder: Folder, folders: Sequence[Folder], *, gmail: bool) -> None:
    name = label.upper()
    if name in _FIXED:
        raise ToolFailure(f"{name} cannot be added or removed.", "Use trash_email to remove a message.")
    if name == "UNREAD":
        plan.add.append("\\Seen")
    elif name in _FLAGS:
        plan.remove.append(_FLAGS[name])
    elif name in _PLACES:
        if folder.role == _PLACES[name]:
            plan.targets.append("archive" if name == "INBOX" else "inbox")
    elif gmail:
        plan.gmail_remove.append(label)
    elif folder.is_called(label):
        plan.targets.append("archive")
    elif _named(folders, label) is None:
        plan.remove.append(_keyword(label))


def _named(folders: Sequence[Folder], label: str) -> Folder | None:
    return next((folder for folder in folders if folder.is_called(label)), None)


def _keyword(label: str) -> str:
    keyword = keyword_of(label)
    if not re.search(r"[A-Za-z0-9]", keyword) or not label.isascii():
        raise ToolFailure(
            f"{label[:60]!r} cannot be a label on this account.",
            "Use ASCII letters and digits, or the name of a folder.",
        )
    return keyword


def _check_keywords(connection: ImapConnection, folder: str, flags: Sequence[str]) -> None:
    keywords = [flag for flag in flags if not flag.startswith("\\")]
    if not keywords:
        return
    allowed = select(connection, folder, change=True).keywords
    known = {flag.lower() for flag in allowed}
    missing = [keyword for keyword in keywords if keyword.encode().lower() not in known]
    if missing and b"\\*" not in allowed:
        raise ToolFailure(
            f"The mail server cannot store the label {missing[0]!r}.",
            "Use the name of a folder instead: the message is moved to it.",
        )
