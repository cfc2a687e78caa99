"""The window: PySide6 and qasync live here and nowhere else."""
