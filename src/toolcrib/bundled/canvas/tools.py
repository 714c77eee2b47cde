"""The tools that read courses and work: courses, assignments, submissions, grades, announcements, calendar,
to-do list. Decides defaults: how many items, days back for announcements, days ahead for the calendar."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from toolcrib.accounts.rest import Params
from toolcrib.bundled.canvas import reading, results
from toolcrib.bundled.canvas.school import Course, School, Schools, in_groups, page
from toolcrib.bundled.canvas.times import read_time
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import readable
from toolcrib.serverkit.server import ToolServer

READING: dict[str, Any] = {
    "read_only": True,
    "open_world": True,
    "outside": True,
    "private": True,
    "reach": "account",
}
MAX_DAYS = 370
NEWS_DAYS = 30
CALENDAR_DAYS = 14
Bucket = Literal["all", "upcoming", "overdue", "past", "undated", "ungraded", "unsubmitted", "future"]
CourseState = Literal["active", "completed", "invited_or_pending", "all"]


class CanvasTools:
    def __init__(self, schools: Schools) -> None:
        self._schools = schools

    def offer(self, server: ToolServer) -> None:
        """Add the tools to a server."""
        offered: Any = (
            ("List courses", self.list_courses, results.course_text),
            ("List assignments", self.list_assignments, results.assignments_text),
            ("Read an assignment", self.get_assignment, results.detail_text),
            ("Read submissions", self.get_submissions, results.submissions_text),
            ("Read grades", self.get_grades, results.grades_text),
            ("List announcements", self.list_announcements, results.announcements_text),
            ("Read the course calendar", self.get_calendar, results.events_text),
            ("List what is to do", self.list_todo, results.tasks_text),
        )
        for title, function, render in offered:
            server.tool(title=title, **READING)(readable(function, render))

    async def list_courses(
        self,
        state: CourseState = "active",
        limit: int = 50,
        offset: int = 0,
        account: str | None = None,
    ) -> results.CourseList:
        wanted: Params = {"enrollment_state": state} if state != "all" else {"enrollment_state": []}
        async with self._schools.open(account) as school:
            courses = await school.courses(wanted)
        listed, onward = page([reading.to_course(course) for course in courses], limit, offset)
        return {"courses": listed, "next_offset": onward}

    async def list_assignments(
        self,
        course: str,
        bucket: Bucket = "all",
        due_after: str | None = None,
        due_before: str | None = None,
        search: str | None = None,
        limit: int = 50,
        offset: int = 0,
        account: str | None = None,
    ) -> results.AssignmentList:
        params: dict[str, Any] = {"order_by": "due_at", "include[]": ["submission"]}
        params |= {"bucket": bucket} if bucket != "all" else {}
        params |= {"search_term": search} if search else {}
        times = self._schools.times
        after = times.start(due_after) if due_after else None
        before = times.end(due_before) if due_before else None
        async with self._schools.open(account) as school:
            found = await school.course(course)
            path = f"/courses/{found.id}/assignments"
            if after or before:
                due = [item for item in await school.all(path, params) if _is_due(item, after, before)]
                items, onward = page(due, limit, offset)
            else:
                items, onward = await school.part(path, params, limit, offset)
        return {
            "course": found.name,
            "course_id": found.id,
            "assignments": [reading.to_assignment(item, times) for item in items],
            "next_offset": onward,
        }

    async def get_assignment(
        self, course: str, assignment: str, offset: int = 0, account: str | None = None
    ) -> results.AssignmentDetail:
        async with self._schools.open(account) as school:
            found = await school.course(course)
            raw = await school.assignment(found, assignment, {"include[]": ["submission"]})
        return reading.to_detail(raw, found, self._schools.times, offset)

    async def get_submissions(
        self,
        course: str,
        assignment: str | None = None,
        student: str = "self",
        limit: int = 20,
        offset: int = 0,
        account: str | None = None,
    ) -> results.SubmissionList:
        params: dict[str, Any] = {
            "student_ids[]": [_student(student)],
            "include[]": ["assignment", "submission_comments", "user"],
        }
        async with self._schools.open(account) as school:
            found = await school.course(course)
            if assignment:
                params["assignment_ids[]"] = [str((await school.assignment(found, assignment))["id"])]
            path = f"/courses/{found.id}/students/submissions"
            items, onward = await school.part(path, params, limit, offset)
        return {
            "course": found.name,
            "course_id": found.id,
            "submissions": [reading.to_submission(item, self._schools.times) for item in items],
            "next_offset": onward,
        }

    async def get_grades(self, course: str | None = None, account: str | None = None) -> results.GradeList:
        async with self._schools.open(account) as school:
            if course is None:
                courses = await school.courses({"enrollment_type": "student"})
                return {"courses": [reading.to_grade(course) for course in courses], "assignments": []}
            found = await school.course(course)
            params: Params = {"order_by": "due_at", "include[]": ["submission"]}
            work = await school.all(f"/courses/{found.id}/assignments", params)
        graded = [
            reading.to_assignment_grade(assignment)
            for assignment in work
            if assignment.get("published", True)
        ]
        return {"courses": [reading.to_grade(found)], "assignments": graded}

    async def list_announcements(
        self,
        course: str | None = None,
        since: str | None = None,
        limit: int = 20,
        offset: int = 0,
        account: str | None = None,
    ) -> results.AnnouncementList:
        times = self._schools.times
        start = times.start(since) if since else times.now() - timedelta(days=NEWS_DAYS)
        params = {"start_date": start.isoformat(), "end_date": times.now().isoformat(), "active_only": "true"}
        async with self._schools.open(account) as school:
            courses = [await school.course(course)] if course else await school.courses()
            items = await _by_course(school, "/announcements", params, courses)
        items.sort(key=lambda announcement: str(announcement.get("posted_at")), reverse=True)
        names = {f"course_{course.id}": course.name for course in courses}
        listed, onward = page(items, limit, offset)
        return {
            "announcements": [reading.to_announcement(announcement, names, times) for announcement in listed],
            "next_offset": onward,
        }

    async def get_calendar(
        self,
        start: str | None = None,
        end: str | None = None,
        limit: int = 100,
        offset: int = 0,
        account: str | None = None,
    ) -> results.EventList:
        times = self._schools.times
        first = times.start(start or "today")
        last = times.end(end) if end else first + timedelta(days=CALENDAR_DAYS)
        if not timedelta(0) <= last - first <= timedelta(days=MAX_DAYS):
            raise ToolFailure(f"The end must be after the start, by at most {MAX_DAYS} days.")
        params = {"start_date": first.isoformat(), "end_date": last.isoformat()}
        async with self._schools.open(account) as school:
            courses = await school.courses()
            items = await _by_course(school, "/calendar_events", {**params, "type": "event"}, courses)
            items += await _by_course(school, "/calendar_events", {**params, "type": "assignment"}, courses)
            items += await school.all("/calendar_events", {**params, "type": "event"})
        items = list({str(event.get("id")): event for event in items if not event.get("hidden")}.values())
        items.sort(key=lambda event: str(event.get("start_at")))
        names = {f"course_{course.id}": course.name for course in courses}
        listed, onward = page(items, limit, offset)
        return {
            "start": times.shown(first),
            "end": times.shown(last),
            "events": [reading.to_event(event, names, times) for event in listed],
            "next_offset": onward,
        }

    async def list_todo(self, account: str | None = None) -> results.TaskList:
        async with self._schools.open(account) as school:
            todo = await school.all("/users/self/todo")
            missing = await school.all(
                "/users/self/missing_submissions", {"filter[]": ["submittable"], "include[]": ["course"]}
            )
            names = {course.id: course.name for course in await school.courses()}
        tasks = [_task("to grade" if task.get("type") == "grading" else "to submit", task) for task in todo]
        tasks += [
            _task("missing", {"assignment": assignment, "course_id": assignment.get("course_id")})
            for assignment in missing
        ]
        seen = {(task["kind"] == "to grade", task["assignment_id"]): task for task in tasks}
        listed = sorted(seen.values(), key=lambda task: task["due"] or "9999")
        for task in listed:
            task["course"] = names.get(task["course_id"], task["course_id"])
            task["due"] = self._schools.times.shown(task["due"])
        return {"tasks": listed}


async def _by_course(school: School, path: str, params: Params, courses: list[Course]) -> list[Any]:
    found: list[Any] = []
    for codes in in_groups(courses):
        found += await school.all(path, {**params, "context_codes[]": codes})
    return found


def _is_due(raw: dict[str, Any], after: datetime | None, before: datetime | None) -> bool:
    due = read_time(raw.get("due_at"))
    return due is not None and (after is None or due >= after) and (before is None or due <= before)


def _student(text: str) -> str:
    if text not in ("self", "all") and not (text.isascii() and text.isdigit()):
        raise ToolFailure(
            "student must be self, all or the id of a student.", "Leave it out for the user's own."
        )
    return text


def _task(kind: str, raw: dict[str, Any]) -> results.CanvasTask:
    assignment = raw.get("assignment") or raw.get("quiz") or {}
    return {
        "kind": kind,
        "assignment": reading.line(assignment.get("name") or assignment.get("title")),
        "assignment_id": str(assignment.get("id") or ""),
        "course": "",
        "course_id": str(raw.get("course_id") or assignment.get("course_id") or ""),
        "due": str(assignment.get("due_at") or ""),
        "points": reading.number(assignment.get("points_possible")),
        "url": str(raw.get("html_url") or assignment.get("html_url") or ""),
    }
