"""Dialogs that make, rename, move and change notes."""
