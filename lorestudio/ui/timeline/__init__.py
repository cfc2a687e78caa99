"""The timeline of a chat and the comparison of two runs, as the window shows them."""
