"""Declares the user's accounts with other services: adding, signing in, testing and removing them."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="accounts",
    title="Accounts",
    package="toolcrib.features.accounts",
    docs="accounts",
    operations=("operations",),
    results=("results",),
    commands={"account": "commands"},
    service="sign_ins:open_sign_ins",
    checks=("doctor",),
)
