"""What a run's prompt was, and what a provider can keep of it."""
