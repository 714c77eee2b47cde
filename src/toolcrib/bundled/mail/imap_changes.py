"""Changes messages over an IMAP connection: moves them, and sets flags and keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from toolcrib.bundled.mail.folders import Folder, Role, read_folders, with_role
from toolcrib.bundled.mail.imap_ids import ImapId
from toolcrib.bundled.mail.imap_messages import find_by_message_id

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

_UIDS = re.compile(rb"(\d+) (?:\S+ )?(\d+)")
_NEW_NAMES: dict[Role, str] = {
    "sent": "Sent",
    "drafts": "Drafts",
    "trash": "Trash",
    "archive": "Archive",
    "spam": "Junk",
}


def folder_for(connection: ImapConnection, folders: Sequence[Folder], *roles: Role) -> Folder:
    """The folder with one of these roles; made under its usual name if there is none."""
    found = with_role(folders, *roles)
    if found is not None:
        return found
    name = _prefix(folders) + _NEW_NAMES[roles[0]]
    connection.create_folder(name)
    connection.subscribe_folder(name)
    return next(
        (each for each in read_folders(connection.list_folders()) if each.name == name),
        Folder(name, roles[0]),
    )


def move(connection: ImapConnection, found: ImapId, target: Folder) -> ImapId:
    """Move a message of the open folder; returns where it is now."""
    if found.folder == target.name:
        return found
    connection.answered(b"COPYUID")  # forget that of an earlier command
    if connection.has_capability("MOVE"):
        connection.move([found.uid], target.name)
    else:
        connection.copy([found.uid], target.name)
        _expunge(connection, found.uid)
    return _placed(connection, found, target.name, b"COPYUID")


def append(
    connection: ImapConnection, folder: Folder, data: bytes, flags: Iterable[bytes], message_id: str
) -> ImapId:
    """Store a message in a folder."""
    connection.answered(b"APPENDUID")
    connection.append(folder.name, data, list(flags))
    return _placed(connection, ImapId(folder.name, 0, 0, message_id), folder.name, b"APPENDUID")


def set_flags(connection: ImapConnection, uid: int, add: Iterable[str], remove: Iterable[str]) -> None:
    """Add and remove flags of a message in the open folder."""
    if wanted := [flag.encode() for flag in add]:
        connection.add_flags([uid], wanted, silent=True)
    if unwanted := [flag.encode() for flag in remove]:
        connection.remove_flags([uid], unwanted, silent=True)


def _placed(connection: ImapConnection, found: ImapId, folder: str, code: bytes) -> ImapId:
    """Where a message went: as the server says (UIDPLUS), else found by its Message-ID."""
    for answer in connection.answered(code):
        if match := _UIDS.fullmatch(answer.strip()):
            return ImapId(folder, int(match[1]), int(match[2]), found.message_id)
    again = find_by_message_id(connection, folder, found.message_id) if found.message_id else None
    return again or ImapId(folder, 0, 0, found.message_id)


def _expunge(connection: ImapConnection, uid: int) -> None:
    """Remove one message; without UIDPLUS only if no other one would be removed with it."""
    connection.add_flags([uid], [b"\\Deleted"], silent=True)
    if connection.has_capability("UIDPLUS"):
        connection.uid_expunge([uid])
    elif connection.find([b"DELETED"]) == [uid]:
        connection.expunge()


def _prefix(folders: Sequence[Folder]) -> str:
    """Some servers keep every folder below the inbox."""
    others = [folder for folder in folders if folder.role != "inbox"]
    below = [folder for folder in others if folder.name.upper().startswith(f"INBOX{folder.delimiter}")]
    return f"INBOX{below[0].delimiter}" if below and len(below) == len(others) else ""
