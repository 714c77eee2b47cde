"""What is sent: texts in parts that Discord accepts (2000 characters, most parts, where to split), and
mentions that notify only those named in it (users, roles, @everyone; errors for unknown names)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.accounts.rest import RestClient
from toolcrib.bundled.discord.directory import Directory, DiscordServer
from toolcrib.serverkit.context import ToolFailure

LONGEST = 2000
MAX_PARTS = 5
MAX_MENTIONS = 20
_EVERYONE = re.compile(r"@(everyone|here)\b")
_ID = re.compile(r"<?@?[!&]?(\d{15,20})>?")
_FENCE = re.compile(r"```(?:([\w+#.-]{1,20})(?=\n))?")
"""The beginning or the end of a code block, anywhere in a line, with its language."""
_MARKUP = re.compile(r"<[^<>\s]{1,60}>")
"""A mention, an emoji or a time."""
_BREAKS = ("\n\n", "\n", ". ", " ")
"""Where a long text is split, the best place first."""


@dataclass(frozen=True)
class Mentions:
    """Who is notified."""

    users: dict[str, str] = field(default_factory=dict)
    """Names by id."""
    roles: dict[str, str] = field(default_factory=dict)
    everyone: bool = False
    author: bool = False
    """The author of the message that is replied to."""

    def allowed(self) -> dict[str, Any]:
        """Discord's `allowed_mentions`: nothing in the text notifies anyone else."""
        return {
            "parse": ["everyone"] if self.everyone else [],
            "users": list(self.users),
            "roles": list(self.roles),
            "replied_user": self.author,
        }

    def shown(self) -> list[str]:
        """For an approval question and for results."""
        everyone = ["@everyone or @here: all members of the channel"] if self.everyone else []
        return [
            *everyone,
            *(f"@{name}" for name in self.users.values()),
            *(f"@{name} (role)" for name in self.roles.values()),
        ]


async def find_mentions(
    api: RestClient,
    directory: Directory,
    server: DiscordServer | None,
    wanted: Sequence[str],
    everyone: bool,
) -> Mentions:
    """Users and roles by name or id; raises `ToolFailure` for one that is unknown or ambiguous."""
    if not wanted:
        return Mentions(everyone=everyone)
    if server is None:
        raise ToolFailure("Mentions work only in channels of servers.", "Leave out `mention`.")
    if len(wanted) > MAX_MENTIONS:
        raise ToolFailure(f"At most {MAX_MENTIONS} users and roles can be mentioned at once.", "Name fewer.")
    users: dict[str, str] = {}
    roles: dict[str, str] = {}
    roles_here = await directory.roles(server)
    known = {identifier: name for identifier, name in roles_here.items() if name != "@everyone"}
    for text in wanted:
        if role := _find_role(text, known):
            roles[role] = known[role]
        else:
            identifier, name = await find_member(api, server, text)
            users[identifier] = name
    return Mentions(users, roles, everyone)


async def find_member(api: RestClient, server: DiscordServer, text: str) -> tuple[str, str]:
    """Id and name of a member; raises `ToolFailure` listing the choices."""
    if identifier := _ID.fullmatch(text.strip()):
        member = await api.get(f"/guilds/{server.id}/members/{identifier[1]}")
        return identifier[1], _member_name(member)
    name = text.strip().removeprefix("@")
    found = await api.get(f"/guilds/{server.id}/members/search", {"query": name, "limit": 20})
    exact = [member for member in found if name.casefold() in _member_names(member)]
    if len(exact) == 1:
        return str(exact[0]["user"]["id"]), _member_name(exact[0])
    if not found:
        raise ToolFailure(f"{server.name} has no member or role called {name!r}.", "Use the id of the user.")
    choices = ", ".join(
        f"{_member_name(member)} ({member['user']['id']})" for member in (exact or found)[:10]
    )
    number = "Several members are" if exact else "No member or role is"
    raise ToolFailure(f"{number} called {name!r}.", f"Use the id of one of these: {choices}.")


def compose(text: str, mentions: Mentions) -> str:
    """The text with the mentions in Discord's form: in place of `@name`, else at the beginning."""
    if not text.strip():
        raise ToolFailure("The text is empty.", "Give a text.")
    if mentions.everyone and not _EVERYONE.search(text):
        raise ToolFailure(
            "The text contains neither @everyone nor @here.",
            "Write one of them, or leave out mention_everyone.",
        )
    missing: list[str] = []
    for name, form in _forms(mentions):
        replaced = text if form in text else re.sub(rf"@{re.escape(name)}(?!\w)", form, text)
        if form not in replaced:
            missing.append(form)
        text = replaced
    return " ".join([*missing, text])


def split_text(text: str) -> list[str]:
    """Parts of at most 2000 characters, split between paragraphs, lines, sentences or words.

    A code block that is split is closed and opened again. Raises `ToolFailure` for more than five parts.
    """
    parts: list[str] = []
    rest = text.strip()
    while _size(rest) > LONGEST:
        if len(parts) == MAX_PARTS - 1:
            raise ToolFailure(
                f"The text has {len(text)} characters, which is more than {MAX_PARTS} messages.",
                f"Shorten it, or send it in several calls of at most {LONGEST} characters.",
            )
        part, rest = _split_once(rest)
        parts.append(part)
    return [*parts, rest]


def _forms(mentions: Mentions) -> list[tuple[str, str]]:
    """Longer names first, so that `@Ann` does not replace a part of `@Anna`."""
    users = [(name, f"<@{identifier}>") for identifier, name in mentions.users.items()]
    roles = [(name, f"<@&{identifier}>") for identifier, name in mentions.roles.items()]
    return sorted([*users, *roles], key=lambda entry: -len(entry[0]))


def _split_once(text: str) -> tuple[str, str]:
    closing = "\n```"
    end = _longest_prefix(text, LONGEST - len(closing))
    for separator in _BREAKS:
        at = text.rfind(separator, end // 2, end)
        if at > 0:
            end = at + len(separator)
            break
    else:
        end = _before_markup(text, end)
    part, rest = text[:end].rstrip(), text[end:].lstrip("\n")
    fences = _FENCE.findall(part)
    if len(fences) % 2:
        return part + closing, f"```{fences[-1]}\n{rest}"
    return part, rest.lstrip()


def _before_markup(text: str, end: int) -> int:
    """The same place, or the beginning of the mention that it would cut in two."""
    near = _MARKUP.finditer(text, max(0, end - 62), end + 62)
    return next((found.start() for found in near if found.start() < end < found.end()), end)


def _longest_prefix(text: str, limit: int) -> int:
    end = min(len(text), limit)
    while _size(text[:end]) > limit:
        end -= max(1, (_size(text[:end]) - limit) // 2)
    return end


def _size(text: str) -> int:
    """In UTF-16 units, which is never less than Discord counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _find_role(text: str, roles: dict[str, str]) -> str | None:
    identifier = _ID.fullmatch(text.strip())
    if identifier:
        return identifier[1] if identifier[1] in roles else None
    name = text.strip().removeprefix("@").casefold()
    found = [role for role, known in roles.items() if known.casefold() == name]
    return found[0] if len(found) == 1 else None


def _member_name(member: dict[str, Any]) -> str:
    user = member.get("user") or {}
    return str(member.get("nick") or user.get("global_name") or user.get("username") or user.get("id"))


def _member_names(member: dict[str, Any]) -> set[str]:
    user = member.get("user") or {}
    names = (member.get("nick"), user.get("global_name"), user.get("username"))
    return {str(name).casefold() for name in names if name}
