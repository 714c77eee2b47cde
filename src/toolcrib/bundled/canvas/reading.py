"""What Canvas sends, as results: HTML as text, times in the user's zone, states in words ("submitted late",
"missing", "excused"). Decides the length of one part of a text and of excerpts."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.canvas import results
from toolcrib.bundled.canvas.school import Course
from toolcrib.bundled.canvas.times import Times
from toolcrib.serverkit.html_text import html_to_text
from toolcrib.serverkit.visible_text import one_line

PART = 20_000
"""Characters of a text in one result."""
EXCERPT = 2000


def to_course(course: Course) -> results.CanvasCourse:
    raw = course.raw
    enrollments = _dicts(raw.get("enrollments"))
    return {
        "id": course.id,
        "name": course.name,
        "code": line(raw.get("course_code")),
        "term": line((raw.get("term") or {}).get("name")),
        "role": str(enrollments[0].get("type") or "") if enrollments else "",
        "url": str(raw.get("html_url") or ""),
    }


def to_assignment(raw: dict[str, Any], times: Times) -> results.CanvasAssignment:
    return {
        "id": str(raw["id"]),
        "name": line(raw.get("name")),
        "due": times.shown(raw.get("due_at")),
        "points": number(raw.get("points_possible")),
        "status": status(raw.get("submission"), raw),
        "url": str(raw.get("html_url") or ""),
    }


def to_detail(raw: dict[str, Any], course: Course, times: Times, offset: int) -> results.AssignmentDetail:
    text, onward = part(html_text(raw.get("description")), offset)
    return {
        **to_assignment(raw, times),
        "course": course.name,
        "course_id": course.id,
        "opens": times.shown(raw.get("unlock_at")),
        "closes": times.shown(raw.get("lock_at")),
        "submission_types": [str(kind) for kind in raw.get("submission_types") or []],
        "attempts": _attempts(raw),
        "rubric": [_criterion(criterion) for criterion in _dicts(raw.get("rubric"))],
        "text": text,
        "next_offset": onward,
    }


def to_submission(raw: dict[str, Any], times: Times) -> results.CanvasSubmission:
    assignment = raw.get("assignment") or {}
    return {
        "assignment": line(assignment.get("name") or raw.get("assignment_id")),
        "assignment_id": str(raw.get("assignment_id") or ""),
        "student": line((raw.get("user") or {}).get("name")),
        "status": status(raw, assignment),
        "submitted": times.shown(raw.get("submitted_at")),
        "score": number(raw.get("score")),
        "grade": str(raw.get("grade") or ""),
        "attempt": int(raw.get("attempt") or 0),
        "text": cut(html_text(raw.get("body")) or str(raw.get("url") or "")),
        "files": [
            f"{attachment.get('display_name')} (id {attachment.get('id')})"
            for attachment in _dicts(raw.get("attachments"))
        ],
        "comments": [_comment(comment, times) for comment in _dicts(raw.get("submission_comments"))],
    }


def to_grade(course: Course) -> results.CourseGrade:
    found = next(
        (
            enrollment
            for enrollment in _dicts(course.raw.get("enrollments"))
            if "student" in _role(enrollment)
        ),
        {},
    )
    return {
        "course": course.name,
        "course_id": course.id,
        "current_score": number(found.get("computed_current_score")),
        "current_grade": str(found.get("computed_current_grade") or ""),
        "final_score": number(found.get("computed_final_score")),
        "final_grade": str(found.get("computed_final_grade") or ""),
    }


def to_assignment_grade(raw: dict[str, Any]) -> results.AssignmentGrade:
    submission = raw.get("submission") or {}
    return {
        "assignment": line(raw.get("name")),
        "score": number(submission.get("score")),
        "points": number(raw.get("points_possible")),
        "grade": str(submission.get("grade") or ""),
        "status": status(submission, raw),
    }


def to_announcement(raw: dict[str, Any], names: dict[str, str], times: Times) -> results.CanvasAnnouncement:
    context = str(raw.get("context_code") or "")
    return {
        "id": str(raw["id"]),
        "course": names.get(context, context),
        "title": line(raw.get("title")),
        "author": line((raw.get("author") or {}).get("display_name") or raw.get("user_name")),
        "posted": times.shown(raw.get("posted_at")),
        "text": cut(html_text(raw.get("message"))),
        "url": str(raw.get("html_url") or ""),
    }


def to_event(raw: dict[str, Any], names: dict[str, str], times: Times) -> results.CanvasEvent:
    context = str(raw.get("context_code") or "")
    whole_day = raw.get("all_day") is True and bool(raw.get("all_day_date"))
    return {
        "title": line(raw.get("title")),
        "kind": "assignment" if "assignment" in raw else "event",
        "course": names.get(context, "own calendar" if context.startswith("user") else context),
        "start": times.day(raw["all_day_date"]) if whole_day else times.shown(raw.get("start_at")),
        "end": "" if whole_day else times.shown(raw.get("end_at")),
        "all_day": whole_day,
        "where": ", ".join(line(raw[key]) for key in ("location_name", "location_address") if raw.get(key)),
        "text": cut(html_text(raw.get("description")), 500),
        "url": str(raw.get("html_url") or ""),
    }


def to_file(raw: dict[str, Any], times: Times) -> results.CanvasFile:
    return {
        "id": str(raw["id"]),
        "name": line(raw.get("display_name") or raw.get("filename")),
        "type": str(raw.get("content-type") or ""),
        "size": int(raw.get("size") or 0),
        "changed": times.shown(raw.get("updated_at")),
        "locked": raw.get("locked_for_user") is True,
    }


def status(submission: Any, assignment: dict[str, Any]) -> str:
    """Of a submission, in words."""
    if not isinstance(submission, dict):
        return "no submission known"
    if submission.get("excused"):
        return "excused"
    late = " late" if submission.get("late") else ""
    state, score = submission.get("workflow_state"), number(submission.get("score"))
    if state == "graded" and score is not None:
        points = number(assignment.get("points_possible"))
        return f"graded{late}: {score:g}" + (f" of {points:g}" if points is not None else "")
    if submission.get("missing"):
        return "missing"
    if state in ("submitted", "pending_review", "graded"):
        return f"submitted{late}"
    return "not submitted"


def line(value: Any) -> str:
    """A name or title on one line; empty if there is none."""
    return one_line(str(value)) if value else ""


def html_text(html: Any) -> str:
    return html_to_text(str(html)) if html else ""


def part(text: str, offset: int, size: int = PART) -> tuple[str, int | None]:
    """A part of a text, and the offset of the rest."""
    end = max(0, offset) + size
    return text[max(0, offset) : end], end if end < len(text) else None


def cut(text: str, longest: int = EXCERPT) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more characters)"


def number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _attempts(raw: dict[str, Any]) -> str:
    allowed = raw.get("allowed_attempts")
    used = (raw.get("submission") or {}).get("attempt") or 0
    limit = "without limit" if not isinstance(allowed, int) or allowed < 0 else f"up to {allowed}"
    return f"Attempts: {used} used, {limit}."


def _criterion(raw: dict[str, Any]) -> str:
    points = number(raw.get("points"))
    detail = html_text(raw.get("long_description"))
    text = f"{raw.get('description', '')}" + (f" ({points:g} points)" if points is not None else "")
    return cut(one_line(f"{text}: {detail}" if detail else text), 300)


def _comment(raw: dict[str, Any], times: Times) -> str:
    author = raw.get("author_name") or (raw.get("author") or {}).get("display_name") or "unknown"
    return f"{line(author)}, {times.shown(raw.get('created_at'))}: {cut(line(raw.get('comment')))}"


def _role(enrollment: dict[str, Any]) -> str:
    return str(enrollment.get("type") or "").lower()


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
