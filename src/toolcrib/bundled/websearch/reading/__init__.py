"""Reads pages: robots.txt, download, extraction, rendering in a browser if necessary, parts."""
