"""Accounts of Canvas, the learning platform: a school's address and the user's access token; the form with
its help texts, and the check.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.accounts.account import Account
from toolcrib.accounts.addresses import service_url
from toolcrib.accounts.canvas import open_canvas
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
from toolcrib.errors import UsageError

TITLE = "Canvas"
ABOUT = "Read courses, assignments, grades and files of a school that uses Canvas."
SERVICES = ("canvas",)
FIELDS = (
    AccountField(key="url", label="Address of Canvas", help="For example https://school.instructure.com"),
    AccountField(
        key="token",
        label="Access token",
        secret=True,
        help="In Canvas: Account, Settings, New Access Token.",
    ),
)


async def prepare(name: str, given: Mapping[str, str]) -> AccountDraft:
    url, token = given.get("url", "").strip(), given.get("token", "").strip()
    if not url:
        raise UsageError("The address of Canvas is missing.", hint="Such as https://school.instructure.com")
    if not 10 <= len(token) <= 400 or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            "This is not an access token.", hint="Make one in Canvas: Account, Settings, New Access Token."
        )
    address = service_url(url, "Address of Canvas").partition("/api/v1")[0]
    return AccountDraft(user="", settings={"url": address}, secret=token)


async def check(account: Account, secret: str) -> AccountCheck:
    async with open_canvas(account, secret) as api:
        me = await api.get("/users/self")
        courses = await api.pages("/courses", {"enrollment_state": "active"}, limit=100)
    if not isinstance(me, dict) or "id" not in me:
        raise UsageError("This address is not a Canvas.", hint="Check the account's URL.")
    open_now = [course for course in courses.items if course.get("name")]  # closed ones have only an id
    count = f"{len(open_now)}{'+' if courses.more else ''}"
    return AccountCheck(identity=str(me.get("name") or me["id"]), remarks=(f"Active courses: {count}.",))
