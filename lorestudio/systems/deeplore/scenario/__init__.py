"""Scenarios of DeepLore."""
