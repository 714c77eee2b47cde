"""Points and rectangles in whole pixels, each in a named coordinate space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Space = Literal["screen", "window", "screenshot"]
"""`screen`: all displays together; `window`: the inside of one window; `screenshot`: pixels of a picture
that was taken. All start at their top left corner."""


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int

    def moved(self, x: int, y: int) -> Point:
        return Point(self.x + x, self.y + y)

    def towards(self, end: Point, share: float) -> Point:
        """The point at a share of the way, from 0 to 1."""
        return Point(round(self.x + (end.x - self.x) * share), round(self.y + (end.y - self.y) * share))


@dataclass(frozen=True, slots=True)
class Rect:
    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> Point:
        return Point(self.x + self.width // 2, self.y + self.height // 2)

    @property
    def is_empty(self) -> bool:
        return self.width <= 0 or self.height <= 0

    def contains(self, point: Point) -> bool:
        return self.x <= point.x < self.x + self.width and self.y <= point.y < self.y + self.height

    def intersection(self, other: Rect) -> Rect:
        """The part of both; empty if they do not overlap."""
        left, top = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        return Rect(left, top, max(0, right - left), max(0, bottom - top))

    @classmethod
    def around(cls, rects: Iterable[Rect]) -> Rect:
        """The smallest rectangle that contains these."""
        corners = [(rect.x, rect.y, rect.x + rect.width, rect.y + rect.height) for rect in rects]
        lefts, tops, rights, bottoms = zip(*corners, strict=True)
        return cls(min(lefts), min(tops), max(rights) - min(lefts), max(bottoms) - min(tops))

    def grown(self, by: int) -> Rect:
        """Larger by this on each side."""
        return Rect(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, x: int, y: int) -> Rect:
        return Rect(self.x + x, self.y + y, self.width, self.height)


@dataclass(frozen=True, slots=True)
class PictureSpace:
    """Where the pixels of a screenshot are on the screen."""

    origin: Point
    """The screen position of the picture's top left corner."""
    scale: float
    """Picture pixels for one screen pixel; 0.5 for a picture of half the size."""

    def to_screen(self, x: float, y: float) -> Point:
        return Point(self.origin.x + round(x / self.scale), self.origin.y + round(y / self.scale))
