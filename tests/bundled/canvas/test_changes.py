"""Work is submitted and commented on only if the user allows changes, and is shown first."""

from __future__ import annotations

from typing import Any

from tests.bundled.canvas.conftest import CanvasCaller
from tests.bundled.canvas.server import BIOLOGY, LARGE_ID, Canvas, at, submission
from tests.bundled.loopback import Answer, Fault
from toolcrib.accounts import Account
from toolcrib.agent.ports import AgentQuestion
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.testing.model import ScriptedModel, calls

LEAF = {"course": "Biology", "assignment": "Leaf report"}


class Approver:
    """A user who approves every call."""

    def __init__(self) -> None:
        self.questions: list[AgentQuestion] = []

    async def answer(self, question: AgentQuestion) -> dict[str, Any]:
        self.questions.append(question)
        return {"action": "accept"}


async def preview(caller: CanvasCaller, tool: str, home: Any, **arguments: Any) -> dict[str, Any]:
    from toolcrib.bundled.canvas import create

    found = create(["--allow-changes"], home).tools[tool]
    assert isinstance(found, FunctionTool)
    shown = await found.preview(arguments)
    assert shown is not None
    return shown


async def test_a_text_is_submitted_as_it_is_written(change: CanvasCaller, canvas: Canvas) -> None:
    await change.result("submit_assignment", **LEAF, text="1 < 2\nnew line\n\nEnd", comment="Sorry, late")

    (request,) = canvas.made("POST /api/v1/courses/101/assignments/1/submissions")
    assert request.body["submission"]["body"] == "<p>1 &lt; 2<br>new line</p><p>End</p>"
    assert request.body["comment"] == {"text_comment": "Sorry, late"}
    assert "1 < 2" in await change.text("get_submissions", course="Biology")


async def test_files_are_uploaded_from_the_allowed_folder(
    change: CanvasCaller, canvas: Canvas, crib: Any
) -> None:
    folder = crib.home / "files" / "canvas"
    folder.mkdir(parents=True)
    (folder / "leaf.txt").write_text("Green")
    (crib.home / "outside.txt").write_text("SECRET")

    made = await change.result("submit_assignment", **LEAF, files=["leaf.txt"])
    outside = await change.failure("submit_assignment", **LEAF, files=["../../outside.txt"])
    shown = await preview(change, "submit_assignment", crib.home, **LEAF, files=["leaf.txt"])

    assert made["done"] == "Submitted"
    assert b'filename="leaf.txt"' in canvas.uploads["900"]
    assert b"Green" in canvas.uploads["900"]
    assert len(canvas.uploads) == 1
    assert canvas.submissions[0]["attachments"][0]["id"] in (900, "900")
    assert "outside the allowed folders" in outside
    assert shown["text"] == "[File: leaf.txt, 5 bytes]"


async def test_a_url_is_submitted_and_a_rejection_explained(change: CanvasCaller, canvas: Canvas) -> None:
    trip = {"course": "Biology", "assignment": str(LARGE_ID)}

    wrong = await change.failure("submit_assignment", **trip, url="nowhere")
    await change.result("submit_assignment", **trip, url="https://example.org/trip")

    assert "is not a valid URL" in wrong
    assert [each["url"] for each in canvas.submissions] == ["https://example.org/trip"]


async def test_what_cannot_be_submitted_is_refused_before_anything_is_sent(
    change: CanvasCaller, canvas: Canvas
) -> None:
    leaf = canvas.assignments[BIOLOGY][0]

    as_url = await change.failure("submit_assignment", **LEAF, url="https://example.org")
    nothing = await change.failure("submit_assignment", **LEAF)
    leaf["allowed_attempts"] = 1
    canvas.submissions.append(submission(BIOLOGY, 1, state="submitted"))
    used_up = await change.failure("submit_assignment", **LEAF, text="x")
    leaf["lock_at"] = at(-1)
    closed = await change.failure("submit_assignment", **LEAF, text="x")

    assert "online_text_entry, online_upload" in as_url
    assert "exactly one" in nothing
    assert "attempts" in used_up
    assert "closed on" in closed
    assert not canvas.made("POST ")


async def test_a_comment_is_added_once_even_if_the_answer_is_lost(
    change: CanvasCaller, canvas: Canvas
) -> None:
    canvas.submissions.append(submission(BIOLOGY, 1, state="submitted"))
    canvas.fail("PUT ", Fault(drop=True, after=True))

    lost = await change.failure("post_comment", **LEAF, text="Thanks")
    shown = await change.text("get_submissions", course="Biology")

    assert "may have been carried out" in lost
    assert "Look whether it was" in lost
    assert shown.count("Thanks") == 1


async def test_a_submission_is_not_repeated_after_a_server_error(
    change: CanvasCaller, canvas: Canvas
) -> None:
    canvas.fail("POST ", Fault(Answer(502, b"Bad gateway"), after=True))

    assert "may have been carried out" in await change.failure("submit_assignment", **LEAF, text="x")
    assert len(canvas.submissions) == 1


async def test_a_read_only_account_changes_nothing(change: CanvasCaller, canvas: Canvas) -> None:
    account = Account(name="school", provider="canvas", settings={"url": canvas.address}, read_only=True)
    change.store.add(account, change.store.secret(account), replace=True)

    assert "read-only" in await change.failure("submit_assignment", **LEAF, text="x")
    assert "read-only" in await change.failure("post_comment", **LEAF, text="x")
    assert not canvas.made("POST ")
    assert not canvas.made("PUT ")


async def test_a_preview_shows_the_work_and_changes_nothing(
    change: CanvasCaller, canvas: Canvas, crib: Any
) -> None:
    shown = await preview(change, "submit_assignment", crib.home, **LEAF, text="My text", comment="Hi")

    assert shown == {
        "kind": "message",
        "action": "send",
        "account": "school",
        "service": "canvas",
        "channel": "Leaf report in Biology",
        "to": "Teachers of Biology",
        "text": "My text\n\nComment: Hi",
        "mentions": [],
    }
    assert (await preview(change, "post_comment", crib.home, **LEAF, text="Hi"))["text"] == "Hi"
    assert {each.method for each in canvas.requests} == {"GET"}


async def test_a_model_reads_an_assignment_and_submits_it_after_approval(
    change: CanvasCaller, canvas: Canvas
) -> None:
    model = ScriptedModel(
        calls(("canvas__get_assignment", LEAF)),
        calls(("canvas__submit_assignment", {**LEAF, "text": "Leaves are green."})),
        "Submitted.",
    )
    ada = Approver()

    answer = await change.host.agent(model, person=ada, mode="on_miss").ask("Do my leaf report.")

    assert answer.answer == "Submitted."
    assert "About Leaf report" in str(model.requests[1].messages)
    assert ada.questions[-1].detail["tool"] == "canvas__submit_assignment"
    assert ada.questions[-1].detail["preview"]["text"] == "Leaves are green."
    assert canvas.submissions[0]["body"] == "<p>Leaves are green.</p>"
