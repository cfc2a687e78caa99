"""What should be in the prompt, and whether it is."""
