"""RPCs that are not made from the table of operations; each module offers `offer_methods(desktop)`. Lists the
RPCs that are not offered, and what to use instead."""

MISSING = {
    "SelectFile": "there is no Finder here; open the file manager and use its elements.",
    "SelectDirectory": "there is no Finder here; open the file manager and use its elements.",
    "DragFiles": "files cannot be dragged from outside a window; drag an element with CreateInput.",
}
"""Why an RPC is not offered, and what to use instead."""
