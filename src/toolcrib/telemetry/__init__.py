"""Traces and metrics for OpenTelemetry, where it is installed and asked for; never what a call says."""
