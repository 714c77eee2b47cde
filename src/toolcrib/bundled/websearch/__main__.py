"""`python -m toolcrib.bundled.websearch`"""

from __future__ import annotations

from toolcrib.bundled.websearch import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
