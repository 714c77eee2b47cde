"""Declares the service: systemd or launchd starts the host when the user logs in, and again if it crashes."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="service",
    title="Service",
    package="toolcrib.features.service",
    docs="installing-toolcrib",
    commands={"service": "commands"},
)
