"""The folders of an IMAP mailbox, and which are the inbox, Sent, Drafts, Trash, Spam and Archive: their usual
names (also German ones) for servers that do not mark them, other names that users say, and Gmail's label for
each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["inbox", "sent", "drafts", "trash", "spam", "archive", "all", ""]

_SPECIAL_USE: dict[str, Role] = {
    "\\sent": "sent",
    "\\drafts": "drafts",
    "\\trash": "trash",
    "\\junk": "spam",
    "\\spam": "spam",
    "\\archive": "archive",
    "\\all": "all",
    "\\allmail": "all",
}
_COMMON_NAMES: dict[Role, frozenset[str]] = {
    "sent": frozenset({"sent", "sent items", "sent mail", "sent messages", "gesendet", "gesendete objekte"}),
    "drafts": frozenset({"drafts", "draft", "entwürfe"}),
    "trash": frozenset({"trash", "deleted items", "deleted messages", "bin", "papierkorb"}),
    "spam": frozenset({"junk", "spam", "junk e-mail", "junk email", "bulk mail", "spamverdacht"}),
    "archive": frozenset({"archive", "archives", "archiv"}),
}
"""For servers that do not say which folder is which (RFC 6154)."""
LABELS: dict[Role, str] = {
    "inbox": "INBOX",
    "sent": "SENT",
    "drafts": "DRAFT",
    "trash": "TRASH",
    "spam": "SPAM",
}
"""Gmail's label for a message in a folder of this role."""
_ALIASES: dict[str, Role] = {
    "inbox": "inbox", "sent": "sent", "draft": "drafts", "drafts": "drafts", "trash": "trash", "bin": "trash",
    "spam": "spam", "junk": "spam", "archive": "archive",
}  # fmt: skip


@dataclass(frozen=True)
class Folder:
    name: str
    role: Role = ""
    delimiter: str = "/"

    def is_called(self, label: str) -> bool:
        """Whether a user means this folder; Gmail writes a dash for a space or a separator."""
        wanted = label.casefold()
        if role := _ALIASES.get(wanted):
            return self.role == role
        name = self.name.casefold()
        shorter = name.removeprefix(f"inbox{self.delimiter}")
        dashed = shorter.replace(" ", "-").replace(self.delimiter, "-").replace("/", "-")
        return wanted in (name, shorter, dashed)


def read_folders(listed: Iterable[tuple[Any, Any, Any]]) -> list[Folder]:
    """Folders that can be opened, from what `LIST` returned; the inbox first."""
    folders: list[Folder] = []
    for flags, delimiter, name in listed:
        marks = {_text(flag).casefold() for flag in flags}
        if "\\noselect" not in marks and "\\nonexistent" not in marks:
            folders.append(Folder(_text(name), _declared_role(_text(name), marks), _text(delimiter or b"/")))
    folders = _with_guessed_roles(folders)
    return sorted(folders, key=lambda folder: (folder.role != "inbox", folder.role == "", folder.name))


def with_role(folders: Iterable[Folder], *roles: Role) -> Folder | None:
    """The first folder that has one of the roles."""
    known = list(folders)
    return next((folder for role in roles for folder in known if folder.role == role), None)


def _declared_role(name: str, marks: set[str]) -> Role:
    if name.upper() == "INBOX":
        return "inbox"
    return next((_SPECIAL_USE[mark] for mark in marks if mark in _SPECIAL_USE), "")


def _with_guessed_roles(folders: list[Folder]) -> list[Folder]:
    taken = {folder.role for folder in folders}
    guessed = []
    for folder in folders:
        last = folder.name.casefold().rpartition(folder.delimiter.casefold())[2]
        role = next((role for role, names in _COMMON_NAMES.items() if last in names), folder.role)
        if folder.role or role in taken:
            guessed.append(folder)
        else:
            taken.add(role)
            guessed.append(Folder(folder.name, role, folder.delimiter))
    return guessed


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
