"""Recap memory of a chat file: its queue beside it, and everything that a person does with it.

The front ends' door to `lorestudio.memory.recap`.
"""
