"""Scenario."""
