"""What happens on the display: windows that come and go, the active one, and pixels that change."""

from __future__ import annotations

import xcffib
import xcffib.damage
import xcffib.xfixes
from xcffib.xproto import CW, EventMask, PropertyNotifyEvent

from toolcrib.bundled.desktop.backends.x11.clipboard import SELECTION
from toolcrib.bundled.desktop.backends.x11.connection import Event, XConnection
from toolcrib.bundled.desktop.backends.x11.pointer import owners_of
from toolcrib.bundled.desktop.changes import Change, Changes

_WATCHED = {"_NET_CLIENT_LIST_STACKING": "list", "_NET_ACTIVE_WINDOW": "active"}
NON_EMPTY = 3
NEW_OWNER = 1


class DisplayListener:
    """Used from the listening thread."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._damage = 0

    def start(self, connection: XConnection) -> None:
        """Report changes of the whole screen."""
        connection.learn_atoms(*_WATCHED)
        mask = [EventMask.PropertyChange]
        connection.core.ChangeWindowAttributes(connection.root, CW.EventMask, mask)
        connection.extension(xcffib.xfixes).QueryVersion(5, 0).reply()
        selection = connection.atom(SELECTION)
        connection.extension(xcffib.xfixes).SelectSelectionInput(connection.root, selection, NEW_OWNER)
        connection.extension(xcffib.damage).QueryVersion(1, 1).reply()
        self._damage = connection.raw.generate_id()
        connection.extension(xcffib.damage).Create(self._damage, connection.root, NON_EMPTY)
        connection.raw.flush()

    def renew(self, connection: XConnection) -> None:
        """Ask for the next report of changed pixels: the server sends one, and no other before this."""
        connection.extension(xcffib.damage).Subtract(self._damage, 0, 0)
        connection.raw.flush()

    def handle(self, connection: XConnection, event: Event) -> None:
        if isinstance(event, xcffib.damage.NotifyEvent):
            self._changes.publish(Change("pixels"))
            if self._changes.wanted:  # otherwise a film would wake us for every picture
                self.renew(connection)
        elif isinstance(event, xcffib.xfixes.SelectionNotifyEvent):
            owner = next(iter(owners_of(connection, event.owner)), None) if event.owner else None
            self._changes.publish(Change("clipboard", application=owner))
        elif isinstance(event, PropertyNotifyEvent) and event.window == connection.root:
            name = connection.atom_name(event.atom)
            if name in _WATCHED:
                self._changes.publish(Change("window", _WATCHED[name]))
