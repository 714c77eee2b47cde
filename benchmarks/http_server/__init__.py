"""The gateway behind its own HTTP server and behind uvicorn, measured in one run."""
