"""The rules of a workflow's graph: references, conditions, types, validation and compilation; all pure."""
