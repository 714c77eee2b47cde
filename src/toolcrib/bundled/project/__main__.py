"""`python -m toolcrib.bundled.project [FOLDER]`"""

from __future__ import annotations

from toolcrib.bundled.project import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
