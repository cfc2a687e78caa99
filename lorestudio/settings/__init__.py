"""Settings, each declared once: its default, range, unit, help, and the stages of a run that it changes.

`DeepLoreSettings` are the settings of the retrieval system, `AppSettings` those of the studio itself. `load` and `save`
move the former between files and models, `sanitise` reads an object of DeepLore's keys as DeepLore does, and
`declarations` lists everything a settings pane or a command line needs.
"""

from lorestudio.settings.app import AppSettings, LoadedAppSettings, load_app_settings, save_app_settings
from lorestudio.settings.behaviour import Behaviour, Switch, fixed, switches
from lorestudio.settings.declaration import Declaration
from lorestudio.settings.deeplore import DeepLoreSettings, Sanitised, declarations, dump, sanitise
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import load, merged, save

__all__ = [
    "AppSettings",
    "Behaviour",
    "Declaration",
    "DeepLoreSettings",
    "LoadedAppSettings",
    "Sanitised",
    "SettingsError",
    "Switch",
    "declarations",
    "dump",
    "fixed",
    "load",
    "load_app_settings",
    "merged",
    "sanitise",
    "save",
    "save_app_settings",
    "switches",
]
