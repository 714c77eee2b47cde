"""Every dialog of the page: its file, how it is opened from the keyboard, and what has the focus then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FIELD, SELECT, DIALOG = "(a field)", "(a select)", "(the dialog)"
HANG, REFUSED = object(), object()
"""In place of an answer: the operation never ends, or fails."""
WIDE_ONLY, NARROW_ONLY = "wide", "narrow"
_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Shown:
    """One dialog. `steps` are pressed one after another: `role=name`, `key=…`, `fill=label=text` or
    `scope|role=name`; the first one that opens a dialog has the focus before it, and again at the end."""

    source: str
    at: str
    steps: tuple[str, ...]
    title: str
    first: str
    finish: tuple[str, ...] = ()
    """What completes it."""
    only: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Answers to these operations, or functions of the real ones, for states that are hard to reach."""


def _with_address(models: Any) -> Any:
    """As if there were an address of one's own."""
    own = {"vendor": "router", "title": "router", "address": "http://127.0.0.1:9/v1", "protocol": "openai"}
    models["vendors"].append({**models["vendors"][0], **own, "keys": [], "ready": True, "usual": ""})
    return models


def _with_file(view: Any) -> Any:
    """As if the first question had a text file."""
    view["turns"][0]["question"]["files"] = [{"key": "f1", "name": "notes.txt", "chars": 5, "shown": 5}]
    return view


_ADD = "button=Add server"
_PASTE = "fill=A command, a package, a link or JSON="
_NEEDY = '{"mcpServers": {"x": {"command": "true", "env": {"API_KEY": "<your key>"}}}}'
_SCREEN = {"server": "git", "own": True, "open": True, "stopped": "", "stop_key": ""}
_WATCHED = {**_SCREEN, "picture": _PICTURE, "width": 1, "height": 1}
_ACCOUNT = {
    "name": "post",
    "provider": "imap",
    "title": "IMAP",
    "user": "ada@example.org",
    "read_only": False,
}
_ADDED = {"account": {**_ACCOUNT, "services": ["mail"], "servers": [], "settings": {}}, "servers_added": []}
_GOOGLE = {"sign_in": "one", "url": "https://accounts.example.com/sign-in"}
_IMAP = (
    "button=Add account",
    "button=IMAP and SMTP",
    "fill=Name=extra",
    "fill=Email address=ada@example.org",
    "fill=Password=sesame",
)
_BILLS = "/workflows/monthly-bills"
_LIST = "radio=List"
_IMPORTED = {"name": "brought", "does": [], "imported": True, "confirmed": False}
_REVIEW = {**_IMPORTED, "version": "1", "does": ["Calls demo · add."]}
_STEP = {"run": "", "step": "bills", "node": "bills", "type": "Set", "state": "done", "output": None}
_TRACE = {**_STEP, "value": 1, "error": None, "inputs": {}, "attempts": [], "notes": [], "artifacts": ["a"]}

DIALOGS = (
    Shown(
        "app/KeyList.tsx",
        "/servers",
        (_ADD.replace("button=", "focus="), "key=?"),
        "Keyboard shortcuts",
        DIALOG,
    ),
    Shown(
        "app/Palette.tsx",
        "/servers",
        (_ADD.replace("button=", "focus="), "key=Control+k"),
        "Search or run",
        FIELD,
    ),
    Shown("app/NarrowBars.tsx", "/servers", ("button=More",), "More", DIALOG, only=NARROW_ONLY),
    Shown(
        "pages/accounts/AccountDialog.tsx",
        "/settings",
        ("button=Add account",),
        "Add an account",
        DIALOG,
        answers={"account_providers": HANG},
    ),
    Shown("pages/accounts/ProviderStep.tsx", "/settings", ("button=Add account",), "Add an account", DIALOG),
    Shown("pages/accounts/AccountForm.tsx", "/settings", _IMAP[:2], "IMAP and SMTP", FIELD),
    Shown(
        "pages/accounts/AddedStep.tsx",
        "/settings",
        (*_IMAP, "button=Test and save"),
        "post works",
        "Done",
        ("button=Done",),
        answers={"account_add": {**_ADDED, "remarks": [], "identity": "ada"}},
    ),
    Shown(
        "pages/accounts/SignInStep.tsx",
        "/settings",
        (
            "button=Add account",
            "button=Google",
            "fill=Name=home",
            "fill=Client ID=one",
            "fill=Client secret=two",
            "button=Continue to sign-in",
        ),
        "Google",
        "Open sign-in page",
        answers={"account_sign_in": _GOOGLE, "account_sign_in_result": HANG, "account_sign_in_cancel": {}},
    ),
    Shown("pages/accounts/RemoveAccount.tsx", "/settings", ("button=Remove…",), "Remove post", "Keep"),
    Shown("pages/activity/RuleDialog.tsx", "/activity?tab=rules", ("button=Add rule",), "rule", FIELD),
    Shown("pages/add/PasteStep.tsx", "/servers", (_ADD,), "Add a server", FIELD),
    Shown("pages/add/CatalogStep.tsx", "/servers", (_ADD, "button=Browse catalog"), "Catalog", FIELD),
    Shown("pages/add/FormStep.tsx", "/servers", (_ADD, "button=Fill in a form"), "Fill in a form", FIELD),
    Shown("pages/add/ChoiceStep.tsx", "/servers", (_ADD, "button=Desktop"), "Where may Desktop work?", FIELD),
    Shown(
        "pages/add/ValuesStep.tsx",
        "/servers",
        (_ADD, f"{_PASTE}{_NEEDY}", "button=Review plan"),
        "value",
        FIELD,
    ),
    Shown(
        "pages/add/ReviewDialog.tsx",
        "/servers",
        ('[data-server="sqlite"]|button=Review…',),
        "sqlite",
        DIALOG,
        answers={"launch": HANG},
    ),
    Shown(
        "pages/add/ConfirmStep.tsx",
        "/servers",
        ('[data-server="sqlite"]|button=Review…',),
        "Allow this program to run on your computer?",
        "Don't run",
    ),
    Shown(
        "pages/add/TestDialog.tsx",
        "/servers/git",
        ("button=Test connection",),
        "git",
        DIALOG,
        answers={"setup_test": REFUSED},
    ),
    Shown(
        "pages/add/TestStep.tsx",
        "/servers/git",
        ("button=Test connection",),
        "git works",
        "Done",
        ("button=Done",),
    ),
    Shown(
        "pages/models/ChooseModel.tsx",
        "/chat/new",
        ("button=Choose a model, now workshop", "menuitem=Another model…"),
        "Choose a model",
        FIELD,
        ("fill=Model=demo", "button=Use this model"),
    ),
    Shown(
        "pages/chat/ComposerMenus.tsx",
        "/chat/new",
        ("button=Approval mode", "menuitem=Never ask"),
        "Turn off approvals",
        "Cancel",
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/chat/Header.tsx",
        "/chat/CHAT",
        ("#main|button=More", "menuitem=Rename"),
        "Rename",
        FIELD,
        ("key=Enter",),
    ),
    Shown(
        "pages/chat/Page.tsx",
        "/chat/CHAT",
        ("button=Why these?",),
        "Offered this turn",
        DIALOG,
        only=NARROW_ONLY,
    ),
    Shown(
        "pages/chat/SentFiles.tsx",
        "/chat/CHAT",
        ("button=Open notes.txt",),
        "notes.txt",
        DIALOG,
        answers={"chat_view": _with_file, "chat_file": {"name": "notes.txt", "text": "hello"}},
    ),
    Shown("pages/chat/Pictures.tsx", "/chat/CHAT", ("button=Open:",), "Picture from playwright", DIALOG),
    Shown(
        "pages/connect/ClientSteps.tsx", "/connect", ("button=Add it for me…",), "Add this entry", "Cancel"
    ),
    Shown("pages/connect/ProfileForm.tsx", "/connect", ("button=New profile",), "New profile", FIELD),
    Shown(
        "pages/connect/TokenDialog.tsx",
        "/connect",
        ("button=More for editor", "menuitem=token"),
        "Token for editor",
        DIALOG,
    ),
    Shown(
        "pages/server/Differences.tsx",
        "/servers/fetch",
        ("button=Approve new definition…",),
        "Approve despite the finding?",
        "Keep on hold",
        ("button=Keep on hold",),
    ),
    Shown(
        "pages/server/UpdateDialog.tsx",
        "/servers/playwright?tab=versions",
        ("button=Update",),
        "Update playwright",
        "Cancel",
    ),
    Shown(
        "pages/servers/EditDialog.tsx",
        "/servers",
        ('[data-server="git"]|button=More for git', "menuitem=Edit as JSON…"),
        "Edit git",
        FIELD,
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/servers/SignInDialog.tsx",
        "/servers",
        ('[data-server="github"]|button=Sign in',),
        "github",
        DIALOG,
    ),
    Shown(
        "pages/servers/ValueDialog.tsx",
        "/servers",
        ('[data-server="calendar"]|button=Set value',),
        "calendar",
        FIELD,
    ),
    Shown(
        "pages/servers/import/ImportDialog.tsx",
        "/servers",
        ("button=Import",),
        "Import servers",
        FIELD,
    ),
    Shown(
        "pages/models/ConnectForm.tsx",
        "/settings",
        ('[data-vendor="anthropic"]|button=Add key',),
        "Add a model",
        FIELD,
    ),
    Shown(
        "pages/settings/ModelsSection.tsx",
        "/settings",
        ('[data-vendor="router"]|button=More for router', "menuitem=Remove…"),
        "Remove router?",
        "Keep",
        answers={"models": _with_address},
    ),
    Shown(
        "pages/settings/Secrets.tsx",
        "/settings",
        ("button=New secret",),
        "New secret",
        FIELD,
        ("fill=Name=FOCUS", "fill=Value=x", "key=Enter"),
    ),
    Shown(
        "pages/settings/Secrets.tsx", "/settings", ("button=Delete",), "Delete", "Keep", ("button=Delete",)
    ),
    Shown("pages/settings/ModeSection.tsx", "/settings", ("radio=Never ask",), "Turn off approvals?", "Keep"),
    Shown("pages/tools/RetrievalSettings.tsx", "/tools", ("button=Settings",), "", FIELD, ("button=Done",)),
    Shown("pages/welcome/FolderStep.tsx", "/welcome", ("button=Change…",), "folder", FIELD),
    Shown(
        "pages/workflows/list/NameDialog.tsx", "/workflows", ("button=New workflow",), "New workflow", FIELD
    ),
    Shown(
        "pages/workflows/list/TemplatesDialog.tsx",
        "/workflows",
        ("button=Templates",),
        "Start from a template",
        DIALOG,
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/workflows/list/NewPlan.tsx",
        "/workflows",
        ("button=Describe a workflow",),
        "Describe a workflow",
        FIELD,
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/workflows/list/WorkflowList.tsx",
        "/workflows",
        ("file=Import",),
        "Imported",
        "Open",
        only=WIDE_ONLY,
        answers={"workflow_import": _IMPORTED},
    ),
    Shown(
        "pages/workflows/list/ChatDraft.tsx",
        "/chat/CHAT",
        ("#main|button=More", "menuitem=Save as workflow"),
        "Save the chat",
        "Use this draft",
    ),
    Shown("pages/workflows/editor/AddDialog.tsx", _BILLS, ("focus=Run", "key=n"), "Add a step", FIELD),
    Shown(
        "pages/workflows/editor/ConnectDialog.tsx",
        _BILLS,
        (_LIST, "button=Actions for Bills", "menuitem=Connect…"),
        "Connect",
        SELECT,
    ),
    Shown(
        "pages/workflows/editor/EditorDialogs.tsx",
        _BILLS,
        ("#main|button=More", "menuitem=Describe a change"),
        "Describe a change",
        FIELD,
    ),
    Shown(
        "pages/workflows/editor/EditorDialogs.tsx",
        _BILLS,
        ("conflict", "button=Show both"),
        "changed elsewhere",
        "Save mine",
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/workflows/editor/RunDialog.tsx",
        _BILLS,
        ("button=Run",),
        "Run monthly-bills",
        "Confirm and run",
        answers={"workflow_review": _REVIEW},
    ),
    Shown(
        "pages/workflows/editor/ScheduleDialog.tsx",
        _BILLS,
        ("#main|button=More", "menuitem=Triggers"),
        "Triggers",
        FIELD,
    ),
    Shown(
        "pages/workflows/editor/VersionsDialog.tsx",
        _BILLS,
        ("#main|button=More", "menuitem=Versions"),
        "Versions",
        DIALOG,
    ),
    Shown(
        "pages/workflows/runs/CompareDialog.tsx",
        _BILLS,
        ("tab=Runs", "check=", "button=Compare"),
        "Compare two runs",
        DIALOG,
        only=WIDE_ONLY,
    ),
    Shown(
        "pages/workflows/panel/Picture.tsx",
        f"{_BILLS}?run=RUN&step=bills",
        ("button=Open at full size",),
        "Picture",
        DIALOG,
        only=WIDE_ONLY,
        answers={
            "workflow_step": {**_TRACE, "started": None, "ended": None},
            "workflow_artifact": {"media_type": "image/png", "data": _PICTURE},
        },
    ),
    Shown(
        "ui/screen/LiveScreen.tsx",
        "/servers/git",
        ("button=Enlarge",),
        "The screen of git",
        DIALOG,
        only=WIDE_ONLY,
        answers={"screens": [_SCREEN], "screen_watch": [_WATCHED]},
    ),
)
