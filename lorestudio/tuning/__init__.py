"""Expectations, scoring and comparison of runs."""
