"""OpenTelemetry traces and metrics, if installed and enabled; never arguments or results."""
