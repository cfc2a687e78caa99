"""Other programs' lorebooks, a module each: what their entries mean in World Info, and back."""
