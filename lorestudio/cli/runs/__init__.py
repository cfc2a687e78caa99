"""Commands that run generations, or read what was run."""
