"""Talking to models: what is asked, who answers, and what goes wrong."""
