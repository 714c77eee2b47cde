"""What the tools return, and the text that a model reads: the fields of each result, how courses,
assignments, grades, announcements, events and files are listed, and how to continue a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict


class CanvasCourse(TypedDict):
    id: str
    name: str
    code: str
    term: str
    role: str
    url: str


class CourseList(TypedDict):
    courses: list[CanvasCourse]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class CanvasAssignment(TypedDict):
    id: str
    name: str
    due: Annotated[str, "In the user's time zone; empty if none"]
    points: float | None
    status: Annotated[str, "Of the user's own submission, if any"]
    url: str


class AssignmentList(TypedDict):
    course: str
    course_id: str
    assignments: list[CanvasAssignment]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class AssignmentDetail(CanvasAssignment):
    course: str
    course_id: str
    opens: str
    closes: str
    submission_types: list[str]
    attempts: Annotated[str, "How many are allowed and used"]
    rubric: list[str]
    text: str
    next_offset: Annotated[int | None, "Pass it as `offset` for the rest of the text"]


class CanvasSubmission(TypedDict):
    assignment: str
    assignment_id: str
    student: str
    status: str
    submitted: str
    score: float | None
    grade: str
    attempt: int
    text: str
    files: Annotated[list[str], "Each with its id"]
    comments: list[str]


class SubmissionList(TypedDict):
    course: str
    course_id: str
    submissions: list[CanvasSubmission]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class CourseGrade(TypedDict):
    course: str
    course_id: str
    current_score: Annotated[float | None, "In percent, of what is graded so far"]
    current_grade: str
    final_score: Annotated[float | None, "In percent, with missing work as 0"]
    final_grade: str


class AssignmentGrade(TypedDict):
    assignment: str
    score: float | None
    points: float | None
    grade: str
    status: str


class GradeList(TypedDict):
    courses: list[CourseGrade]
    assignments: Annotated[list[AssignmentGrade], "Only if a course was named"]


class CanvasAnnouncement(TypedDict):
    id: str
    course: str
    title: str
    author: str
    posted: str
    text: str
    url: str


class AnnouncementList(TypedDict):
    announcements: list[CanvasAnnouncement]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class CanvasEvent(TypedDict):
    title: str
    kind: Annotated[str, "event or assignment"]
    course: str
    start: str
    end: str
    all_day: bool
    where: str
    text: str
    url: str


class EventList(TypedDict):
    start: str
    end: str
    events: list[CanvasEvent]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class CanvasTask(TypedDict):
    kind: Annotated[str, "to submit, to grade or missing"]
    assignment: str
    assignment_id: str
    course: str
    course_id: str
    due: str
    points: float | None
    url: str


class TaskList(TypedDict):
    tasks: list[CanvasTask]


class FileFacts(TypedDict):
    id: str
    name: str
    type: str
    size: Annotated[int, "In bytes"]


class CanvasFile(FileFacts):
    changed: str
    locked: bool


class FileList(TypedDict):
    files: list[CanvasFile]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class FileContent(FileFacts):
    text: str
    next_offset: Annotated[int | None, "Pass it as `offset` for the rest of the text"]


class SavedFileInfo(FileFacts):
    path: str


class CanvasChange(TypedDict):
    done: str
    course: str
    assignment: str
    submission: str


def lines_of(items: Sequence[Any], empty: str, next_offset: int | None = None) -> str:
    """One line for each item, and how to continue."""
    lines = [str(item) for item in items] or [empty]
    return "\n".join([*lines, f"More: offset={next_offset}"] if next_offset is not None else lines)


def course_text(result: CourseList) -> str:
    lines = []
    for course in result["courses"]:
        known = filter(None, (course["code"], course["term"], course["role"], f"id {course['id']}"))
        lines.append(f"{course['name']} ({', '.join(known)})")
    return lines_of(lines, "No courses.", result["next_offset"])


def assignment_line(assignment: CanvasAssignment) -> str:
    points = f", {assignment['points']:g} points" if assignment["points"] is not None else ""
    due = assignment["due"] or "never"
    return f"{assignment['name']} (id {assignment['id']}): due {due}{points}, {assignment['status']}"


def assignments_text(result: AssignmentList) -> str:
    lines = [f"{result['course']}:", *map(assignment_line, result["assignments"])]
    return lines_of(lines if result["assignments"] else [], "No assignments.", result["next_offset"])


def detail_text(result: AssignmentDetail) -> str:
    facts = [
        f"{assignment_line(result)}, in {result['course']}",
        f"Opens: {result['opens']}" if result["opens"] else "",
        f"Closes: {result['closes']}" if result["closes"] else "",
        f"Submit as: {', '.join(result['submission_types'])}. {result['attempts']}",
        *(f"Rubric: {criterion}" for criterion in result["rubric"]),
        "",
        result["text"],
    ]
    text = "\n".join(fact for fact in facts if fact is not None)
    return lines_of([text], "", result["next_offset"])


def submissions_text(result: SubmissionList) -> str:
    lines: list[str] = []
    for submission in result["submissions"]:
        who = f" of {submission['student']}" if submission["student"] else ""
        when = f", {submission['submitted']}" if submission["submitted"] else ""
        lines.append(
            f"{submission['assignment']} (id {submission['assignment_id']}){who}: "
            f"{submission['status']}{when}"
        )
        lines += [f"    {part}" for part in submission["text"].splitlines()]
        lines += [f"    file: {name}" for name in submission["files"]]
        lines += [f"    comment: {' '.join(comment.split())}" for comment in submission["comments"]]
    return lines_of(lines, "No submissions.", result["next_offset"])


def grades_text(result: GradeList) -> str:
    lines = [
        f"{course['course']} (id {course['course_id']}): "
        f"now {_grade(course['current_score'], course['current_grade'])}, "
        f"final {_grade(course['final_score'], course['final_grade'])}"
        for course in result["courses"]
    ]
    for work in result["assignments"]:
        score = "–" if work["score"] is None else f"{work['score']:g}"
        points = f" of {work['points']:g}" if work["points"] is not None else ""
        lines.append(f"    {work['assignment']}: {score}{points}, {work['status']}")
    return lines_of(lines, "No grades.")


def announcements_text(result: AnnouncementList) -> str:
    lines: list[str] = []
    for announcement in result["announcements"]:
        lines.append(
            f"{announcement['posted']} {announcement['course']}, {announcement['author']}: "
            f"{announcement['title']} (id {announcement['id']})"
        )
        lines += [f"    {part}" for part in announcement["text"].splitlines()]
    return lines_of(lines, "No announcements.", result["next_offset"])


def events_text(result: EventList) -> str:
    lines: list[str] = []
    for event in result["events"]:
        end = f" to {event['end']}" if event["end"] and event["end"] != event["start"] else ""
        time = f"{event['start']} all day" if event["all_day"] else f"{event['start']}{end}"
        where = f", {event['where']}" if event["where"] else ""
        lines.append(f"{time}: {event['title']} ({event['kind']}, {event['course']}{where})")
        lines += [f"    {part}" for part in event["text"].splitlines()]
    empty = f"Nothing from {result['start']} to {result['end']}."
    return lines_of(lines, empty, result["next_offset"])


def tasks_text(result: TaskList) -> str:
    lines = [
        f"{task['kind']}: {task['assignment']} (id {task['assignment_id']}), {task['course']}, "
        f"due {task['due'] or 'never'}"
        for task in result["tasks"]
    ]
    return lines_of(lines, "Nothing to do.")


def files_text(result: FileList) -> str:
    lines = [
        f"{file['name']} (id {file['id']}): {file['type']}, {file['size']} bytes, {file['changed']}"
        + (", locked" if file["locked"] else "")
        for file in result["files"]
    ]
    return lines_of(lines, "No files.", result["next_offset"])


def content_text(result: FileContent) -> str:
    head = f"{result['name']} ({result['type']}, {result['size']} bytes):"
    return lines_of([head, result["text"]], "", result["next_offset"])


def saved_text(result: SavedFileInfo) -> str:
    return f"Saved {result['name']} ({result['size']} bytes) as {result['path']}."


def change_text(result: CanvasChange) -> str:
    return f"{result['done']} {result['assignment']} in {result['course']}."


def _grade(score: float | None, letter: str) -> str:
    if score is None:
        return letter or "not shown by Canvas"
    return f"{score:g} % {letter}".rstrip()
