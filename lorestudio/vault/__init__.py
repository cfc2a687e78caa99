"""Notes on disk and what they mean: a folder is read as DeepLore reads it, a note is saved without losing anything.

`scan_folder` gives the texts, `build_index` the entries that a run takes. `parse_note` reads a single text, `read_note`
and `save_note` are for editing. What cannot be read or is no entry is a `LeftOutNote` with the reason.
"""
