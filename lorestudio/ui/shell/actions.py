"""Every action of the window as data: menus, toolbar, palette, shortcut help and accessible names are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.ui.shell.command_group import Situation


class Where(StrEnum):
    """Where a shortcut works. Single letters belong to a pane and are ignored while a text field has the keyboard."""

    WINDOW = "everywhere"
    CHAT = "in the chat"
    TRACE = "in the trace"
    TIMELINE = "in the timeline"
    RUNS = "in the chat and the trace"
    VAULT = "in the vault"
    EDITOR = "in the editor"
    MEMORIES = "in the memories"


def _always(_situation: Situation) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do. `menu` is a path such as `View/Theme`; "" keeps it out of the menus."""

    id: str
    title: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    where: Where = Where.WINDOW
    enabled_when: Callable[[Situation], bool] = _always
    icon: str = ""
    tip: str = ""
    checkable: bool = False
    separator_before: bool = False


def _idle(now: Situation) -> bool:
    return not now.busy


def _project(now: Situation) -> bool:
    return now.project


def _chat(now: Situation) -> bool:
    return now.chat


def _trace(now: Situation) -> bool:
    return now.trace


def _entry(now: Situation) -> bool:
    return now.entry


def _notes(now: Situation) -> bool:
    return now.notes and now.files


def _note(now: Situation) -> bool:
    return now.note


ACTIONS: Final[tuple[Action, ...]] = (
    Action("vault.open", "Open vault folder…", "File", ("Ctrl+Shift+O",), enabled_when=_idle, icon="folder"),
    Action("vault.open_obsidian", "Open Obsidian vault…", "File", enabled_when=_idle),
    Action(
        "chat.open",
        "Open chat…",
        "File",
        ("Ctrl+Alt+O",),
        enabled_when=lambda now: now.project and not now.busy,
        icon="chat",
    ),
    Action("demo.open", "Open the demo", "File", enabled_when=_idle, icon="lorestudio"),
    Action(
        "vault.reload",
        "Reload from disk",
        "File",
        ("Ctrl+Shift+R", "F5"),
        enabled_when=lambda now: now.project and not now.busy,
        icon="reload",
        separator_before=True,
    ),
    Action("entry.save", "Save", "File", ("Ctrl+S",), enabled_when=lambda now: now.unsaved, icon="save"),
    Action(
        "settings.import",
        "Import settings…",
        "File/Settings",
        enabled_when=_project,
        tip="Take settings over from SillyTavern's settings.json, a snippet, or a file of lorestudio",
        separator_before=True,
    ),
    Action(
        "settings.export",
        "Export settings…",
        "File/Settings",
        enabled_when=_project,
        tip="Carry the settings into SillyTavern's settings.json, or take them as text",
    ),
    Action("settings.copy_changes", "Copy what differs from the defaults", "File/Settings", enabled_when=_project),
    Action(
        "settings.choose_profile",
        "Choose settings profile…",
        "File/Settings",
        ("Ctrl+Alt+,",),
        enabled_when=_project,
        separator_before=True,
    ),
    Action("settings.save_profile", "Save settings as a profile…", "File/Settings", enabled_when=_project),
    Action("settings.profiles", "Settings profiles…", "File/Settings", tip="Use, rename, delete and compare profiles"),
    Action(
        "chat.write_state",
        "Write pins, blocks and context into the chat…",
        "File",
        enabled_when=_chat,
        tip="Put a chat's choices back into its file, and nothing else",
    ),
    Action("app.quit", "Quit", "File", ("Ctrl+Q",), separator_before=True),
    Action(
        "vault.undo",
        "Undo change",
        "Edit",
        ("Ctrl+Alt+Z",),
        enabled_when=lambda now: now.undo,
        icon="undo",
        tip="Take the last change of the vault's files back",
    ),
    Action(
        "vault.redo",
        "Redo change",
        "Edit",
        ("Ctrl+Alt+Shift+Z",),
        enabled_when=lambda now: now.redo,
        icon="redo",
        tip="Do again what was undone last",
    ),
    Action(
        "adjust.undo",
        "Undo setting or chat change",
        "Edit",
        ("Ctrl+Z",),
        Where.RUNS,
        lambda now: now.adjusted,
        "undo",
        "Take the last change of settings, chat or choices for the chat back",
    ),
    Action(
        "adjust.redo",
        "Redo setting or chat change",
        "Edit",
        ("Ctrl+Shift+Z",),
        Where.RUNS,
        lambda now: now.taken_back,
        "redo",
        "Do again what was taken back last",
    ),
    Action("go.entry", "Go to entry…", "Edit", ("Ctrl+O",), enabled_when=lambda now: now.project, icon="entry"),
    Action("go.graph", "Relationship graph", "View", ("Ctrl+G",), enabled_when=_project, icon="graph"),
    Action("go.settings", "Settings", "Edit", ("Ctrl+,",), icon="switches", tip="Show the settings and try them out"),
    Action("go.command", "Command palette…", "Edit", ("Ctrl+P", "Ctrl+Shift+P"), icon="search"),
    Action(
        "find.pane",
        "Find in this pane",
        "Edit",
        ("Ctrl+F",),
        enabled_when=lambda now: now.project,
        separator_before=True,
    ),
    Action("find.vault", "Search in vault", "Edit", ("Ctrl+Shift+F",), enabled_when=_project, icon="search"),
    Action(
        "copy.why",
        "Copy the explanation",
        "Edit",
        enabled_when=lambda now: now.trace and now.row,
        icon="copy",
        separator_before=True,
    ),
    Action("copy.row", "Copy row as Markdown", "Edit", ("Ctrl+C",), Where.TRACE, lambda now: now.trace and now.row),
    Action("copy.text", "Copy the run as text", "Trace", enabled_when=_trace),
    Action("copy.report", "Copy the run as Markdown", "Trace", enabled_when=_trace, icon="copy"),
    Action(
        "copy.redacted",
        "Copy a redacted report",
        "Trace",
        ("Ctrl+Shift+C",),
        enabled_when=_trace,
        tip="Names, keys and texts are replaced, so that it can be posted where everybody reads it",
    ),
    Action("note.new", "New note…", "Entry", ("Ctrl+N",), enabled_when=lambda now: now.files, icon="plus"),
    Action("note.duplicate", "Duplicate", "Entry", ("Ctrl+D",), enabled_when=_notes, icon="copy"),
    Action("note.rename", "Rename…", "Entry", ("F2",), enabled_when=_notes, icon="pencil"),
    Action("note.move", "Move to folder…", "Entry", ("Ctrl+Shift+M",), enabled_when=_notes, icon="folder"),
    Action("note.batch", "Change a property…", "Entry", ("Ctrl+Shift+E",), enabled_when=_notes, icon="switches"),
    Action("note.enable", "Switch on or off", "Entry", ("Space",), Where.VAULT, _notes, "slash"),
    Action("note.delete", "Move to trash", "Entry", ("Del",), Where.VAULT, _notes, "trash"),
    Action("note.trash", "Trash…", "Entry", enabled_when=lambda now: now.files, icon="trash"),
    Action(
        "entry.back",
        "Back",
        "Entry",
        ("Ctrl+Alt+Left", "Alt+Left"),
        enabled_when=lambda now: now.back,
        icon="chevron-left",
        separator_before=True,
    ),
    Action(
        "entry.forward",
        "Forward",
        "Entry",
        ("Ctrl+Alt+Right", "Alt+Right"),
        enabled_when=lambda now: now.forward,
        icon="chevron-right",
    ),
    Action("entry.previous", "Previous entry in list", "Entry", ("Alt+Up",), enabled_when=lambda now: now.project),
    Action("entry.next", "Next entry in list", "Entry", ("Alt+Down",), enabled_when=lambda now: now.project),
    Action(
        "entry.source",
        "Switch between form and source",
        "Entry",
        ("Ctrl+E",),
        enabled_when=_entry,
        separator_before=True,
    ),
    Action("entry.preview", "Show the injected text", "Entry", ("Ctrl+Shift+V",), enabled_when=_entry),
    Action(
        "entry.add_property", "Add property…", "Entry", ("Ctrl+;",), Where.EDITOR, _note, "plus", separator_before=True
    ),
    Action("entry.follow", "Follow the link", "Entry", ("Alt+Return", "Alt+Enter"), Where.EDITOR, _note),
    Action("entry.link", "Link the selection", "Entry", ("Ctrl+Shift+L",), Where.EDITOR, _note, "link"),
    Action("entry.comment", "Make a comment of it", "Entry", ("Ctrl+/",), Where.EDITOR, _note),
    Action("entry.history", "History of this note…", "Entry", enabled_when=_note, separator_before=True),
    Action("entry.revert", "Throw away unsaved changes…", "Entry", enabled_when=lambda now: now.unsaved),
    Action(
        "propose.summaries",
        "Propose summaries…",
        "Entry",
        enabled_when=_project,
        icon="ai",
        tip="Have summaries proposed for notes that have none; nothing is written unless you accept it",
        separator_before=True,
    ),
    Action(
        "propose.keys",
        "Propose keys…",
        "Entry",
        enabled_when=_entry,
        tip="Have better keys proposed for the chosen entry, with what each finds in the chat",
    ),
    Action(
        "propose.draft",
        "Draft a note from these messages…",
        "Entry",
        enabled_when=_chat,
        tip="Have a new note drafted from messages of the chat",
    ),
    Action(
        "entry.lock",
        "Lock against proposals",
        "Entry",
        enabled_when=_entry,
        tip="Never propose anything for the chosen note",
        checkable=True,
    ),
    Action(
        "replay.all",
        "Replay all",
        "Run",
        ("Ctrl+R",),
        enabled_when=lambda now: now.chat and not now.busy,
        icon="play",
        tip="Run every reply of the chat through the pipeline",
    ),
    Action(
        "replay.here",
        "Run to this message",
        "Run",
        ("Ctrl+Return",),
        Where.RUNS,
        lambda now: now.message and not now.busy,
    ),
    Action(
        "replay.onward",
        "Replay from this message to the end",
        "Run",
        ("Ctrl+Shift+Return",),
        Where.RUNS,
        lambda now: now.message and not now.busy,
    ),
    Action(
        "replay.range",
        "Replay some messages…",
        "Run",
        enabled_when=lambda now: now.chat and not now.busy,
        tip="Run the replies from one message to another, with their swipes",
    ),
    Action(
        "replay.fresh",
        "Replay, asking everything again…",
        "Run",
        enabled_when=lambda now: now.chat and now.model and not now.busy,
        tip="Ask again also where an answer is recorded, or kept from an earlier run",
    ),
    Action("replay.follow", "Go to the reply that is running", "Run", enabled_when=lambda now: now.replaying),
    Action("replay.cancel", "Stop", "Run", ("Ctrl+.",), enabled_when=lambda now: now.replaying, icon="stop"),
    Action(
        "message.first",
        "First message",
        "Run",
        ("Home",),
        Where.CHAT,
        _chat,
        icon="first",
        separator_before=True,
    ),
    Action("message.previous", "Previous message", "Run", ("Left",), Where.CHAT, _chat, icon="previous"),
    Action("message.next", "Next message", "Run", ("Right",), Where.CHAT, _chat, icon="next"),
    Action("message.last", "Last message", "Run", ("End",), Where.CHAT, _chat, icon="last"),
    Action("message.number", "Go to message number…", "Run", ("G",), Where.RUNS, _chat),
    Action(
        "message.previous_change", "Previous message with a change", "Run", ("K",), Where.RUNS, lambda now: now.trace
    ),
    Action("message.next_change", "Next message with a change", "Run", ("J",), Where.RUNS, lambda now: now.trace),
    Action(
        "swipe.previous",
        "Previous swipe",
        "Run",
        ("Shift+Left",),
        Where.CHAT,
        lambda now: now.swipes,
        separator_before=True,
    ),
    Action("swipe.next", "Next swipe", "Run", ("Shift+Right",), Where.CHAT, lambda now: now.swipes),
    Action("message.expand", "Show all of a long message", "Run", ("X",), Where.CHAT, lambda now: now.message),
    Action(
        "mode.keywords-only",
        "Keywords only",
        "Run/Mode",
        ("Ctrl+Alt+1",),
        enabled_when=_project,
        checkable=True,
        separator_before=True,
    ),
    Action("mode.two-stage", "Two-stage", "Run/Mode", ("Ctrl+Alt+2",), enabled_when=_project, checkable=True),
    Action("mode.ai-only", "AI only", "Run/Mode", ("Ctrl+Alt+3",), enabled_when=_project, checkable=True),
    Action("answers.stand-in", "Offline stand-in (no model)", "Run/Answers", enabled_when=_project, checkable=True),
    Action("answers.recorded", "Recorded answers", "Run/Answers", enabled_when=_project, checkable=True),
    Action("answers.provider", "Provider…", "Run/Answers", enabled_when=_project, checkable=True, icon="server"),
    Action("answers.typed", "I type the answers", "Run/Answers", enabled_when=_project, checkable=True),
    Action("profiles.edit", "Provider profiles…", "Run", icon="server"),
    Action("behaviour.edit", "Behaviour switches…", "Run", enabled_when=_project, icon="switches"),
    Action("trace.ai", "What the model was asked", "Trace", ("A",), Where.RUNS, _trace, icon="ai"),
    Action("trace.entry", "Open the chosen entry", "Trace", ("E",), Where.RUNS, _entry),
    Action("trace.why", "Why? for the chosen cell", "Trace", ("W",), Where.RUNS, lambda now: now.row),
    Action(
        "trace.why_not",
        "What would bring it in, or keep it out?",
        "Trace",
        ("Y",),
        Where.RUNS,
        lambda now: now.why_not,
        "search",
        "Try single changes with the engine, and list those that bring the chosen entry in, or keep it out",
    ),
    Action("trace.filter", "Filter rows", "Trace", ("F",), Where.TRACE, _trace),
    Action(
        "preview.toggle",
        "Show the run before what is tried out",
        "Trace",
        ("B",),
        Where.RUNS,
        lambda now: now.preview,
        checkable=True,
    ),
    Action("trace.show_all", "Show all rows of the journey", "Trace", enabled_when=_trace),
    Action(
        "trace.all_stages",
        "Show quiet stages",
        "Trace",
        ("Q",),
        Where.TRACE,
        checkable=True,
        tip="Give stages that decided nothing a column and a step too",
    ),
    Action("why.scores", "Scores and order in numbers", "Trace", ("S",), Where.RUNS, _entry, "number"),
    Action("flow.measure", "Funnel in entries or tokens", "Trace", enabled_when=_trace, separator_before=True),
    Action("flow.table", "Funnel as a table", "Trace", enabled_when=_trace, icon="table"),
    Action("flow.save_csv", "Save the funnel's table…", "Trace/Save the funnel", enabled_when=_trace),
    Action("flow.save_svg", "Save the funnel as SVG…", "Trace/Save the funnel", enabled_when=_trace),
    Action("flow.save_png", "Save the funnel as PNG…", "Trace/Save the funnel", enabled_when=_trace),
    Action("prompt.copy_text", "Copy the prompt as text", "Trace", enabled_when=_trace),
    Action("prompt.copy_markdown", "Copy the prompt as Markdown", "Trace", enabled_when=_trace),
    Action(
        "report.save",
        "Save a report…",
        "Trace",
        enabled_when=_trace,
        icon="save",
        separator_before=True,
        tip="A page, Markdown, text or JSON of this reply or of the whole chat",
    ),
    Action("report.redacted", "Save a redacted report…", "Trace", enabled_when=_trace, icon="hidden"),
    Action(
        "scenario.save",
        "Save as scenario…",
        "Trace",
        enabled_when=_trace,
        tip="One file from which “lorestudio run” decides the same again",
    ),
    Action(
        "timeline.wider", "Wider turns", "Trace/Timeline", ("]",), Where.TIMELINE, _chat, "plus", separator_before=True
    ),
    Action("timeline.narrower", "Narrower turns", "Trace/Timeline", ("[",), Where.TIMELINE, _chat, "minus"),
    Action(
        "timeline.swipes",
        "Show every swipe as a turn",
        "Trace/Timeline",
        enabled_when=_chat,
        checkable=True,
        separator_before=True,
    ),
    Action("timeline.injected", "Show only entries that went in", "Trace/Timeline", enabled_when=_chat, checkable=True),
    Action(
        "timeline.csv", "Save turns as CSV…", "Trace/Timeline", enabled_when=_chat, icon="save", separator_before=True
    ),
    Action("timeline.csv_entries", "Save entries as CSV…", "Trace/Timeline", enabled_when=_chat, icon="save"),
    Action("compare.mark", "Mark this run for comparison", "Trace/Compare", ("M",), Where.RUNS, _trace, "place"),
    Action(
        "compare.marked",
        "Compare the marked run with this one",
        "Trace/Compare",
        ("Ctrl+M",),
        Where.WINDOW,
        lambda now: now.trace and now.marked,
        "columns",
    ),
    Action("compare.before", "Compare with the turn before", "Trace/Compare", enabled_when=_trace),
    Action(
        "compare.former",
        "Compare with the run before the change",
        "Trace/Compare",
        enabled_when=_trace,
        tip="Compare this run with the one before the last change of settings, notes or chat",
    ),
    Action("compare.settings", "Compare with other settings…", "Trace/Compare", enabled_when=_trace),
    Action("compare.copy", "Copy the comparison as Markdown", "Trace/Compare", enabled_when=_trace, icon="copy"),
    Action("timeline.picture", "Save the map as a picture…", "Trace/Timeline", enabled_when=_chat, icon="save"),
    Action("view.theme.system", "Like the system", "View/Theme", icon="contrast", checkable=True),
    Action("view.theme.light", "Light", "View/Theme", checkable=True),
    Action("view.theme.dark", "Dark", "View/Theme", checkable=True),
    Action("vault.table", "Vault as a table", "View", ("Ctrl+Alt+T",), enabled_when=_project, checkable=True),
    Action("view.next_pane", "Next pane", "View", ("F6",), separator_before=True),
    Action("view.previous_pane", "Previous pane", "View", ("Shift+F6",)),
    Action("view.full_screen", "Full screen", "View", ("F11",), checkable=True),
    Action("view.reset", "Reset layout", "View", separator_before=True),
    Action("help.shortcuts", "Keyboard shortcuts", "Help", ("F1", "?"), icon="question"),
    Action("help.remap", "Change keyboard shortcuts…", "Help"),
    Action("help.details", "Details of the last problem", "Help"),
    Action("help.about", "About lorestudio", "Help", separator_before=True),
)

MENUS: Final = ("File", "Edit", "Entry", "Chat", "View", "Run", "Trace", "Help")
"""The menu bar, from left to right."""

VIEW_KEYS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "in the graph": (
        ("Go to the nearest entry that way", "Left  Right  Up  Down"),
        ("Go round the neighbours of the entry", "Tab  Shift+Tab"),
        ("Back to the entry whose neighbours they are", "Esc"),
        ("Open the note", "Return"),
        ("Move the picture", "Shift+Left  Shift+Right  Shift+Up  Shift+Down"),
        ("Zoom", "+  -"),
        ("Show all of it", "0"),
        ("What can be done with the entry", "Menu"),
    ),
    "in the funnel's flow": (
        ("From stage to stage", "Up  Down  Home  End"),
        ("Through the ribbons of a stage", "Left  Right"),
        ("List the entries of the ribbon", "Return"),
    ),
    "in the memories": (
        ("Write the memory", "Return"),
        ("From the field above to the list", "Down"),
    ),
    "in the prompt": (
        ("Show all of a part", "X  Space"),
        ("Go to the message of a part", "Return"),
    ),
    "in the choices above the chat": (
        ("Go to the next or previous choice", "Right  Left"),
        ("Go to the first or last choice", "Home  End"),
        ("Take the choice away", "Del"),
        ("Change the choice, or go to its entry", "Return"),
    ),
}
"""Keys that a view answers itself, by the place where they work: titles with their keys."""

PANE_SHORTCUT: Final = "Ctrl+{number}"
"""Opens the pane with that number; the panes' actions are made from the panes."""

LAST_WITH_SHORTCUT: Final = 9
"""There are no more digits; further panes are in the View menu and the palette."""

_OVERLAPS: Final = {
    Where.WINDOW: set(Where),
    Where.TIMELINE: {Where.WINDOW, Where.RUNS, Where.TIMELINE},
    Where.VAULT: {Where.WINDOW, Where.VAULT},
    Where.EDITOR: {Where.WINDOW, Where.EDITOR},
    Where.MEMORIES: {Where.WINDOW, Where.MEMORIES},
    Where.CHAT: {Where.WINDOW, Where.CHAT, Where.RUNS},
    Where.TRACE: {Where.WINDOW, Where.TRACE, Where.RUNS},
    Where.RUNS: {Where.WINDOW, Where.CHAT, Where.TRACE, Where.TIMELINE, Where.RUNS},
}


def pane_action(number: int, name: str, title: str) -> Action:
    """The action that shows a pane and gives it the keyboard."""
    return Action(
        f"pane.{name}",
        title,
        "View",
        (PANE_SHORTCUT.format(number=number),) if number <= LAST_WITH_SHORTCUT else (),
        separator_before=number == 1,
    )


def conflicts(actions: Iterable[Action]) -> list[tuple[str, str, str]]:
    """Shortcuts that two actions share in places that overlap: the shortcut and both ids."""
    found: list[tuple[str, str, str]] = []
    seen: list[tuple[str, Action]] = []
    for action in actions:
        for shortcut in action.shortcuts:
            found += [
                (shortcut, other.id, action.id)
                for known, other in seen
                if known.casefold() == shortcut.casefold() and action.where in _OVERLAPS[other.where]
            ]
            seen.append((shortcut, action))
    return found
