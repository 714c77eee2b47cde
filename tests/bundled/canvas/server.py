"""A small Canvas: routes, tokens, paging by Link headers and uploads of the REST API, version 1."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bundled.loopback import Answer, Asked, Service

TOKEN = "7~aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
BIOLOGY, HISTORY, CLOSED = 101, 102, 103
STUDENT = 5
NOW = datetime.now(UTC).replace(microsecond=0)
LARGE_ID = 10_000_000_000_000_123
"""More than JSON numbers hold in many readers."""


def at(days: float) -> str:
    """A time from now, as Canvas writes it."""
    return (NOW + timedelta(days=days)).isoformat().replace("+00:00", "Z")


def unauthenticated() -> Answer:
    body = {"status": "unauthenticated", "errors": [{"message": "Invalid access token."}]}
    return Answer(401, body, {"WWW-Authenticate": 'Bearer realm="canvas-lms"'})


def unauthorized() -> Answer:
    said = "user not authorized to perform that action"
    return Answer(401, {"status": "unauthorized", "errors": [{"message": said}]})


def missing() -> Answer:
    return Answer(404, {"errors": [{"message": "The specified resource does not exist."}]})


THROTTLED = Answer(403, b"403 Forbidden (Rate Limit Exceeded)", {"X-Rate-Limit-Remaining": "0.0"})


class Canvas(Service):
    """A student with two open courses."""

    def __init__(self) -> None:
        super().__init__()
        self.courses: list[dict[str, Any]] = [
            course(BIOLOGY, "Biology", "BIO-1", score=91.5, grade="A-"),
            course(HISTORY, "History of Art", "ART-2"),
            {"id": CLOSED, "access_restricted_by_date": True},
        ]
        self.assignments: dict[int, list[dict[str, Any]]] = {
            BIOLOGY: [
                assignment(1, BIOLOGY, "Leaf report", due=2, types=["online_text_entry", "online_upload"]),
                assignment(2, BIOLOGY, "Seed quiz", due=-3, types=["online_quiz"]),
                assignment(LARGE_ID, BIOLOGY, "Field trip", due=None, types=["online_url"]),
            ],
            HISTORY: [],
        }
        self.submissions: list[dict[str, Any]] = []
        self.announcements: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.files: dict[int, tuple[dict[str, Any], bytes]] = {}
        self.uploads: dict[str, bytes] = {}
        self.per_page = 100
        """The most items of a page."""
        self.storage = ""
        """Where files are stored; this service itself if empty."""

    def add_file(self, number: int, name: str, kind: str, content: bytes, **more: Any) -> None:
        about = {
            "id": number,
            "display_name": name,
            "filename": name,
            "content-type": kind,
            "size": len(content),
            "updated_at": at(-number),
            "locked_for_user": False,
            "url": f"{self.address}/files/{number}/download?download_frd=1",
            **more,
        }
        self.files[number] = (about, content)

    def respond(self, asked: Asked) -> Answer:
        if not asked.path.startswith("/api/v1/"):
            return self._outside(asked)
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return unauthenticated()
        path = asked.path.removeprefix("/api/v1")
        for method, pattern, answer in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and method == asked.method:
                return self._as_asked(asked, answer(self, asked, *found.groups()))
        return missing()

    def me(self, asked: Asked) -> Answer:
        return Answer(200, {"id": STUDENT, "name": "Ada Lovelace"})

    def list_courses(self, asked: Asked) -> Answer:
        state = asked.one("enrollment_state")
        found = [each for each in self.courses if state != "completed"]
        if not asked.query.get("include[]"):
            found = [{key: value for key, value in each.items() if key != "enrollments"} for each in found]
        return self._page(asked, found)

    def course(self, asked: Asked, number: str) -> Answer:
        found = [each for each in self.courses if each["id"] == int(number)]
        return Answer(200, found[0]) if found else missing()

    def list_assignments(self, asked: Asked, number: str) -> Answer:
        if int(number) not in self.assignments:
            return missing()
        found = self.assignments[int(number)]
        if search := asked.one("search_term"):
            found = [each for each in found if search.casefold() in each["name"].casefold()]
        if asked.one("bucket") == "undated":
            found = [each for each in found if each["due_at"] is None]
        if asked.one("order_by") == "due_at":
            found = sorted(found, key=lambda each: each["due_at"] or "9999")
        return self._page(asked, [self._with_submission(asked, each) for each in found])

    def assignment(self, asked: Asked, number: str, work: str) -> Answer:
        found = [each for each in self.assignments.get(int(number), []) if each["id"] == int(work)]
        return Answer(200, self._with_submission(asked, found[0])) if found else missing()

    def list_submissions(self, asked: Asked, number: str) -> Answer:
        if asked.query["student_ids[]"] != ["self"]:
            return unauthorized()
        wanted = asked.query.get("assignment_ids[]")
        found = [each for each in self.submissions if each["course"] == int(number)]
        found = [each for each in found if wanted is None or str(each["assignment_id"]) in wanted]
        for each in found:
            works = self.assignments[int(number)]
            each["assignment"] = next(work for work in works if work["id"] == each["assignment_id"])
        return self._page(asked, found)

    def submit(self, asked: Asked, number: str, work: str) -> Answer:
        given = asked.body["submission"]
        if given["submission_type"] == "online_url" and not given["url"].startswith("http"):
            return Answer(400, {"errors": {"url": [{"message": "is not a valid URL"}]}})
        files = [{"id": each, "display_name": f"file {each}"} for each in given.get("file_ids", [])]
        made = submission(
            int(number), int(work), state="submitted", body=given.get("body"), attachments=files
        )
        made["url"] = given.get("url")
        self.submissions.append(made)
        return Answer(201, made)

    def comment(self, asked: Asked, number: str, work: str) -> Answer:
        found = [each for each in self.submissions if each["assignment_id"] == int(work)]
        target = found[0] if found else submission(int(number), int(work), state="unsubmitted")
        target["submission_comments"].append(
            {"author_name": "Ada", "comment": asked.body["comment"]["text_comment"], "created_at": at(0)}
        )
        return Answer(200, target)

    def list_announcements(self, asked: Asked) -> Answer:
        codes = asked.query.get("context_codes[]", [])
        if not codes or len(codes) > 10:
            return Answer(400, {"message": "invalid context_codes"})
        start = asked.one("start_date")
        found = [each for each in self.announcements if each["context_code"] in codes]
        return self._page(asked, [each for each in found if _moment(each["posted_at"]) >= _moment(start)])

    def list_events(self, asked: Asked) -> Answer:
        codes = asked.query.get("context_codes[]", [f"user_{STUDENT}"])
        start, end = _moment(asked.one("start_date")), _moment(asked.one("end_date"))
        assignments = asked.one("type") == "assignment"
        found = [
            each
            for each in self.events
            if each["context_code"] in codes
            and start <= _moment(each["start_at"]) <= end
            and ("assignment" in each) == assignments
        ]
        return self._page(asked, found)

    def todo(self, asked: Asked) -> Answer:
        works = [each for each in self.assignments[BIOLOGY] if each["due_at"] and each["due_at"] > at(0)]
        items = [{"type": "submitting", "assignment": each, "course_id": BIOLOGY} for each in works]
        return self._page(asked, items)

    def missing_work(self, asked: Asked) -> Answer:
        works = [each for each in self.assignments[BIOLOGY] if each["due_at"] and each["due_at"] < at(0)]
        return self._page(asked, works)

    def list_files(self, asked: Asked, number: str = "") -> Answer:
        if number == str(HISTORY):
            return unauthorized()
        search = asked.one("search_term").casefold()
        found = [about for about, _ in self.files.values() if search in about["display_name"].casefold()]
        return self._page(asked, found)

    def file(self, asked: Asked, number: str) -> Answer:
        return Answer(200, self.files[int(number)][0]) if int(number) in self.files else missing()

    def announce_upload(self, asked: Asked, number: str, work: str) -> Answer:
        params = {"key": asked.body["name"], "size": asked.body["size"]}
        body = {"upload_url": f"{self.address}/upload", "upload_params": params, "file_param": "file"}
        return Answer(200, body)

    def confirm_upload(self, asked: Asked, number: str) -> Answer:
        return Answer(200, {"id": int(number), "upload_status": "success"})

    def _outside(self, asked: Asked) -> Answer:
        """Downloads and uploads, which are at other addresses."""
        if asked.path == "/upload":
            if "authorization" in asked.headers:
                return Answer(400, b"Only one auth mechanism allowed")
            number = 900 + len(self.uploads)
            self.uploads[str(number)] = asked.body
            where = f"{self.address}/api/v1/files/{number}/create_success"
            return Answer(201, None, {"Location": where})
        if found := re.fullmatch(r"/files/(\d+)/download", asked.path):
            if asked.headers.get("authorization") != f"Bearer {TOKEN}":
                return Answer(302, None, {"Location": f"{self.address}/login"})
            return Answer(
                302, None, {"Location": f"{self.storage or self.address}/storage/{found[1]}?key=abc"}
            )
        if found := re.fullmatch(r"/storage/(\d+)", asked.path):
            about, content = self.files[int(found[1])]
            return Answer(200, content, {"Content-Type": about["content-type"]})
        return Answer(200, b"<html>Log in</html>", {"Content-Type": "text/html"})

    def _with_submission(self, asked: Asked, work: dict[str, Any]) -> dict[str, Any]:
        if "submission" not in asked.query.get("include[]", []):
            return work
        found = [each for each in self.submissions if each["assignment_id"] == work["id"]]
        return {**work, "submission": found[-1] if found else {"workflow_state": "unsubmitted"}}

    def _page(self, asked: Asked, items: list[Any]) -> Answer:
        size = min(int(asked.one("per_page", "10")), self.per_page)
        start = int(asked.one("page", "bookmark:0").removeprefix("bookmark:"))
        headers = {"X-Rate-Limit-Remaining": "600.0", "X-Request-Cost": "0.1"}
        if start + size < len(items):
            kept = "&".join(
                f"{key}={value}" for key, values in asked.query.items() if key != "page" for value in values
            )
            onward = f"{self.address}{asked.path}?{kept}&page=bookmark:{start + size}"
            headers["Link"] = f'<{self.address}{asked.path}>; rel="current",<{onward}>; rel="next"'
        return Answer(200, items[start : start + size], headers)

    def _as_asked(self, asked: Asked, answer: Answer) -> Answer:
        """Ids as text if the client wants them so."""
        if "canvas-string-ids" not in asked.headers.get("accept", "") or isinstance(answer.data, bytes):
            return answer
        text = re.sub(r'("(?:\w+_)?id": )(\d+)', r'\1"\2"', json.dumps(answer.data))
        return Answer(answer.status, json.loads(text), answer.headers)


def course(number: int, name: str, code: str, score: float | None = None, grade: str = "") -> dict[str, Any]:
    enrollment = {"type": "student", "computed_current_score": score, "computed_current_grade": grade}
    return {
        "id": number,
        "name": name,
        "course_code": code,
        "term": {"name": "Autumn"},
        "enrollments": [enrollment],
    }


def assignment(number: int, within: int, name: str, *, due: float | None, types: list[str]) -> dict[str, Any]:
    return {
        "id": number,
        "course_id": within,
        "name": name,
        "description": f"<p>About <b>{name}</b></p>",
        "due_at": None if due is None else at(due),
        "lock_at": None,
        "unlock_at": None,
        "points_possible": 10.0,
        "submission_types": types,
        "allowed_attempts": -1,
        "html_url": f"https://canvas.example/{number}",
    }


def submission(within: int, work: int, *, state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": 7000 + work % 1000,
        "course": within,
        "assignment_id": work,
        "workflow_state": state,
        "submitted_at": at(-1),
        "attempt": 1,
        "submission_comments": [],
        **more,
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace(" ", "+"))


ROUTES: tuple[tuple[str, str, Callable[..., Answer]], ...] = (
    ("GET", "/users/self", Canvas.me),
    ("GET", "/courses", Canvas.list_courses),
    ("GET", r"/courses/(\d+)", Canvas.course),
    ("GET", r"/courses/(\d+)/assignments", Canvas.list_assignments),
    ("GET", r"/courses/(\d+)/assignments/(\d+)", Canvas.assignment),
    ("GET", r"/courses/(\d+)/students/submissions", Canvas.list_submissions),
    ("POST", r"/courses/(\d+)/assignments/(\d+)/submissions", Canvas.submit),
    ("PUT", r"/courses/(\d+)/assignments/(\d+)/submissions/self", Canvas.comment),
    ("POST", r"/courses/(\d+)/assignments/(\d+)/submissions/self/files", Canvas.announce_upload),
    ("GET", r"/files/(\d+)/create_success", Canvas.confirm_upload),
    ("GET", "/announcements", Canvas.list_announcements),
    ("GET", "/calendar_events", Canvas.list_events),
    ("GET", "/users/self/todo", Canvas.todo),
    ("GET", "/users/self/missing_submissions", Canvas.missing_work),
    ("GET", "/users/self/files", Canvas.list_files),
    ("GET", r"/courses/(\d+)/files", Canvas.list_files),
    ("GET", r"/files/(\d+)", Canvas.file),
)
