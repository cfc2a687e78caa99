"""The panes of the window, one file each. A pane reads and writes the shared selection and knows no other pane."""
