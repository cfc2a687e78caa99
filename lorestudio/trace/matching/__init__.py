"""What was found in a text, and how near it came."""
