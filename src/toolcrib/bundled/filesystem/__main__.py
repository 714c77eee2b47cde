"""`python -m toolcrib.bundled.filesystem FOLDER…`"""

from __future__ import annotations

from toolcrib.bundled.filesystem import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
