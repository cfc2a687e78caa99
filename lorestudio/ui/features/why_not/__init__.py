"""Why_not."""
