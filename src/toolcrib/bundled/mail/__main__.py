"""`python -m toolcrib.bundled.mail`"""

from __future__ import annotations

from toolcrib.bundled.mail import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
