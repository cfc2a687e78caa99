"""SillyTavern's World Info scan, to compare with (rules: sillytavern 5.6)."""
