"""Modal dialogs: which windows of a program they block, and which of its elements. Has the error "is blocked
by the dialog".

Window systems tell which dialog is modal and which window owns it. Where they do not, the program's elements
may. A dialog that does not say that it is modal, such as a search bar, blocks nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcrib.bundled.desktop.backend import Backend, ClickRefused, Element, ElementRef, ElementTree, Window

DIALOGS = {"dialog", "alert", "file chooser", "window", "frame"}
DOCUMENTS = {"document web", "document frame"}
READ_TIMEOUT = 2.0


def blocked_windows(windows: Sequence[Window]) -> dict[int, Window]:
    """By the ids of the windows that cannot be used: the topmost dialog that must be answered first."""
    known = {window.id: window for window in windows}
    found: dict[int, Window] = {}
    for dialog in windows:
        if not dialog.modal:
            continue
        owner = known.get(dialog.owner or 0)
        if owner is None:  # it belongs to all windows of its program
            own = [
                window for window in windows if window.application == dialog.application and not window.modal
            ]
            found |= {window.id: dialog for window in own if dialog.application is not None}
        seen = {dialog.id}
        while owner is not None and owner.id not in seen:
            seen.add(owner.id)
            found[owner.id] = dialog
            owner = known.get(owner.owner or 0)
    return found


def blocked_elements(tree: ElementTree, windows: Sequence[Window]) -> dict[ElementRef, str]:
    """By the elements that cannot be used: the title of the dialog that must be answered first."""
    own = [window for window in windows if window.application == tree.application]
    blocked = blocked_windows(own)
    free = {name for window in own if window.id not in blocked for name in names_of(window)}
    closed = [window for window in own if window.id in blocked]
    titles = {
        name: blocked[window.id].title for window in closed for name in names_of(window) if name not in free
    }
    if blocked and not all(window.modal or window.id in blocked for window in own):
        return _spread(tree, titles, {})
    # A dialog may have the title of the window that it blocks.
    dialogs = {} if titles else _modal_elements(tree)
    if blocked and "" not in free:
        titles.setdefault("", next(iter(blocked.values())).title)  # Qt has windows without a name
    return _spread(tree, titles, dialogs)


def _modal_elements(tree: ElementTree) -> dict[ElementRef, Element]:
    return {
        element.ref: element
        for element in tree.elements
        if "modal" in element.states and element.visible and element.role in DIALOGS
    }


def _spread(
    tree: ElementTree, titles: Mapping[str, str], dialogs: Mapping[ElementRef, Element]
) -> dict[ElementRef, str]:
    """From windows and documents to what is in them; parents come before children."""
    tops = windows_of_elements(tree)
    of_window = {tops[ref]: dialog for ref, dialog in dialogs.items() if ref in tops}
    whole = next((dialog.name for ref, dialog in dialogs.items() if tops.get(ref) == ref), None)
    found: dict[ElementRef, str] = {}
    for element in tree.elements:
        ref, top = element.ref, tops.get(element.ref)
        if ref in dialogs or top is None:
            continue
        if element.parent in found:
            found[ref] = found[element.parent]
        elif not element.name and "modal" in element.states:
            continue  # a dialog without a title
        elif top == ref and element.role in DIALOGS and _plain(element.name) in titles:
            found[ref] = titles[_plain(element.name)]
        elif top == ref and whole is not None and element.role in DIALOGS:
            found[ref] = whole
        elif element.role in DOCUMENTS and top in of_window and not _is_within(tree, of_window[top], ref):
            found[ref] = of_window[top].name
    return found


def windows_of_elements(tree: ElementTree) -> dict[ElementRef, ElementRef]:
    """The window that each element is in, itself an element; none for those whose parents are unknown."""
    roots = {root.ref for root in tree.elements if root.role == "application"}
    found: dict[ElementRef, ElementRef] = {}
    for element in tree.elements:
        if element.parent in roots:
            found[element.ref] = element.ref
        elif element.parent in found:
            found[element.ref] = found[element.parent]
    return found


def _is_within(tree: ElementTree, element: Element, document: ElementRef) -> bool:
    """Whether a dialog is a part of a page, which then decides itself what can be used."""
    return element.parent == document or any(outer.ref == document for outer in tree.around(element))


async def check_element(
    backend: Backend, application: int, element: Element, tree: ElementTree | None = None
) -> None:
    """Raise `ClickRefused` if a modal dialog is in front of the element; without a tree it may be read."""
    windows = await backend.windows.list()
    if tree is None and not any(window.modal and window.application == application for window in windows):
        return
    read = tree if tree is not None else await backend.accessibility.tree(application, READ_TIMEOUT)
    dialog = blocked_elements(read, windows).get(element.ref)
    if dialog is not None:
        raise _behind(f"{element.role} {element.name!r}", dialog)


def check_window(windows: Sequence[Window], window: Window | None) -> None:
    """Raise `ClickRefused` if a modal dialog blocks the window."""
    dialog = blocked_windows(windows).get(window.id) if window is not None else None
    if window is not None and dialog is not None:
        raise _behind(f"The window {window.title[:80]!r}", dialog.title)


def _behind(what: str, dialog: str) -> ClickRefused:
    return ClickRefused(
        f"{what} is blocked by the dialog {dialog[:80]!r}, so nothing was done.",
        "Answer or close the dialog first.",
    )


def names_of(window: Window) -> set[str]:
    """What its element may be called: to the titles of windows, Qt adds the name of the program."""
    title = _plain(window.title)
    return {title, title.rpartition(" — ")[0] or title}


def _plain(title: str) -> str:
    return " ".join(title.split())
