"""The retrieval systems in the window: choosing one, setting it, and comparing several."""
