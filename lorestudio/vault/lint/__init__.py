"""Checks of a vault: everything in its notes and settings that a person should look at, with the fixes that are safe.

Pure: notes and settings in, findings out. What needs the chat is in `studio.project.problems`.
"""
