"""The node types, one a file: title, labels and help texts of settings, defaults, limits, result, and the
tool that is called.
"""
