"""Lorebooks that become notes, and notes that become lorebooks."""
