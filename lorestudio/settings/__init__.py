"""Settings, each declared once: its default, range, unit, help, and the stages of a run that it changes.

`DeepLoreSettings` are the settings of the retrieval system, `AppSettings` those of the studio itself. `load` and `save`
move the former between files and models, `sanitise` reads an object of DeepLore's keys as DeepLore does, and
`declarations` lists everything a settings pane or a command line needs.
"""
