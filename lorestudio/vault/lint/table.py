"""The one table of checks: what each reports, how bad that is, why, what to do, and where the rule comes from.

Codes without a digit in front of them, and letters with numbers below 50, are those of DeepLore
(rules: deeplore-tools 3.2, 3.3); a letter with a number from 51 on is a check of the studio's own. Where the original's
check has a fault, the explanation says what is done here instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lorestudio.domain.entry import NoteProblem
from lorestudio.vault.lint.model import Check, CheckGroup, Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

LINT: Final = "rules: deeplore-tools 3.2"
HEALTH: Final = "rules: deeplore-tools 3.3"

_PARSER: Final = (
    Check("W_ALIAS_USED", CheckGroup.PARSER, WARNING, "Field name in other letters",
          "A field is spelled with other capitals than DeepLore's own name for it. It is read all the same, but only "
          "while untidy front matter is forgiven (setting lenientAuthoring).",
          "Write the field's own name.", f"{LINT} W_ALIAS_USED"),
    Check("W_COMMA_SPLIT", CheckGroup.PARSER, WARNING, "Keys as one text with commas",
          "keys is one text; it is cut at its commas, but only while untidy front matter is forgiven. A key that "
          "contains a comma cannot be written this way.",
          "Write a list.", f"{LINT} W_COMMA_SPLIT"),
    Check("W_COERCED_NUM", CheckGroup.PARSER, WARNING, "Number in quotes",
          "A number is written as a text. It is read all the same, but only while untidy front matter is forgiven.",
          "Remove the quotes.", f"{LINT} W_COERCED_NUM"),
    Check("W_NOT_IMPLEMENTED", CheckGroup.PARSER, WARNING, "Field without effect",
          "sticky, delay, group and group_weight come from other lorebook tools. DeepLore keeps them and shows them to "
          "the AI selector, and does nothing else with them.",
          "Remove the field, or say what you want with cooldown, warmup, probability or priority.",
          f"{LINT} W_NOT_IMPLEMENTED"),
    Check("W_MERGE_CONFLICT", CheckGroup.PARSER, ERROR, "Field that cannot be merged",
          "Two notes of the same title are merged, and one has a list where the other has a number or true. The studio "
          "keeps the first value; DeepLore itself fails to build its index.",
          "Write the field as a list in both notes.", "rules: deeplore 1.12"),
    Check("P51", CheckGroup.PARSER, WARNING, "Passed over because of its form",
          "The setting lenientAuthoring is off, so a field name with other capitals, a quoted number or keys in one "
          "text with commas are not read as they were meant, without a word.",
          "Write the field in the proper form, or switch the setting on."),
    Check("P52", CheckGroup.PARSER, WARNING, "Field that nothing reads",
          "The name is close to that of a field which DeepLore reads (keywords for keys, refineKeys for refine_keys), "
          "but DeepLore does not know it.",
          "Write the field's own name."),
    Check("P53", CheckGroup.PARSER, WARNING, "YAML reads another value",
          "Obsidian and other tools read front matter as YAML, DeepLore with a line reader of its own, and here the "
          "two come to different values: comments behind values, folded texts, nested or many-line lists, True and "
          "no.",
          "Use the spelling that both read alike."),
    Check("P54", CheckGroup.PARSER, ERROR, "Front matter without an end",
          "The note begins with a line of three dashes, and no later line begins with three dashes, so nothing of it "
          "is read as front matter.",
          "Put a line of three dashes below the last field."),
    Check("P55", CheckGroup.PARSER, WARNING, "Field that stands twice",
          "DeepLore takes the last of several fields of the same name; YAML forbids them.",
          "Keep one of them."),
    Check("P56", CheckGroup.PARSER, WARNING, "Front matter that is not recognised",
          "Front matter is only recognised when its three dashes are the very first characters of the file, with "
          "nothing behind them on their line, and when there is at least one line before the closing dashes.",
          "Remove what stands before or behind the first three dashes."),
    Check("P57", CheckGroup.PARSER, WARNING, "Two spellings of one field",
          "A field stands there in DeepLore's spelling and again with other capitals; the second is dropped.",
          "Keep the one in DeepLore's spelling."),
    Check("P58", CheckGroup.PARSER, WARNING, "Value that cannot be used",
          "The field has a value of a kind that DeepLore does not take there (a word for a number, a quoted number for "
          "scanDepth or depth, an unknown position or role, a quoted true), so the field counts as not there. A number "
          "outside its range is brought to the nearest limit.",
          "Write a value of the kind that the field takes."),
    Check("P59", CheckGroup.PARSER, WARNING, "Looks switched off, but is on",
          "Only the exact word false switches an entry off. False, no, off, quotes around the word or a comment behind "
          "it leave the entry on.",
          "Write enabled: false."),
    Check("P60", CheckGroup.PARSER, WARNING, "Not valid YAML",
          "DeepLore's line reader passes over what it does not understand, but Obsidian and other tools may refuse "
          "this front matter.",
          "Correct the named line."),
    Check("P61", CheckGroup.PARSER, WARNING, "One text where several were meant",
          "Only keys is cut at commas. refine_keys with commas in one text is a single long refine key.",
          "Write a list."),
)  # fmt: skip

_NOTES: Final = (
    Check(NoteProblem.NO_FRONT_MATTER, CheckGroup.NOTE, INFO, "No front matter",
          "An ordinary note. Most vaults have many, and nothing is wrong with them.",
          "To make it an entry, begin the file with front matter that has the lorebook tag.",
          f"{LINT} SKIP_NO_FRONTMATTER"),
    Check(NoteProblem.NO_LOREBOOK_TAG, CheckGroup.NOTE, INFO, "No lorebook tag",
          "An ordinary note with front matter. Nothing is wrong with it.",
          "To make it an entry, add the lorebook tag.", f"{LINT} SKIP_NO_LOREBOOK_TAG"),
    Check(NoteProblem.DISABLED, CheckGroup.NOTE, INFO, "Switched off",
          "The note says enabled: false.", "Remove that line to use the entry again.", f"{LINT} SKIP_ENABLED_FALSE"),
    Check(NoteProblem.NEVER_INSERT, CheckGroup.NOTE, INFO, "Never inserted",
          "The note has the tag that keeps it out of the index.", "Remove the tag to use the entry.",
          f"{LINT} SKIP_NEVER_INSERT_TAG"),
    Check(NoteProblem.EMPTY_TITLE, CheckGroup.NOTE, ERROR, "No title",
          "The note would have an empty title, which stops DeepLore's index from ever being finished.",
          "Write a name behind the # of its first heading, or give the file a name.", "rules: deeplore 1.6"),
    Check(NoteProblem.TOO_LARGE, CheckGroup.NOTE, ERROR, "Too large to read",
          "Files of many megabytes are not read; no note has this size.", "Split the note, or move the file away."),
    Check(NoteProblem.BAD_ENCODING, CheckGroup.NOTE, ERROR, "Not UTF-8 text",
          "The file has bytes that are no UTF-8 text.", "Save the file as UTF-8."),
    Check(NoteProblem.UNREADABLE, CheckGroup.NOTE, ERROR, "Cannot be read",
          "The system does not let the file be read.", "See that it exists and that you may read it."),
    Check(NoteProblem.LOOP, CheckGroup.NOTE, ERROR, "Folders in a circle",
          "A link leads to a folder around it.", "Remove the link."),
    Check(NoteProblem.TOO_DEEP, CheckGroup.NOTE, ERROR, "Folders too deep",
          "DeepLore does not list folders at this depth.", "Move the folder up.", "rules: deeplore 1.1"),
    Check("N51", CheckGroup.NOTE, WARNING, "Lorebook tag that does not count",
          "The note names the lorebook tag in a way that DeepLore does not take: with a number sign, in one text with "
          "commas, with blanks or a comment, as a nested tag, in the field tag, or with the tag in the text.",
          "Write the tag into the list tags of the front matter, without a number sign."),
    Check("N52", CheckGroup.NOTE, WARNING, "Keys, but no lorebook tag",
          "The note has keys as an entry has, but it is none, because the tag is missing.",
          "Add the lorebook tag, or remove the keys."),
    Check("N53", CheckGroup.NOTE, INFO, "Left out because of its title",
          "Another note has the same title, and the setting multiVaultConflictResolution keeps or merges only one of "
          "them. This holds within one vault too.",
          "Give the notes different titles, or set it to “all”."),
)  # fmt: skip

_ENTRY: Final = (
    Check("E01", CheckGroup.ENTRY, WARNING, "No keys",
          "The entry is neither constant nor bootstrap and has no keys, so no text can wake it; only an AI selection, "
          "a cascade link or the fuzzy search can. Keys of nothing but blanks count as none, and guides are left out, "
          "because their keys are never looked for.",
          "Give it keys, or make it constant.", f"{HEALTH} E01"),
    Check("E02", CheckGroup.ENTRY, WARNING, "No text",
          "Nothing is left of the body once comments, the heading and images are taken away, so only the wrapper goes "
          "into the prompt.",
          "Write a text below the heading.", f"{HEALTH} E02"),
    Check("E03", CheckGroup.ENTRY, INFO, "Cooldown on a constant",
          "A constant comes in on every generation; its cooldown is not looked at.",
          "Remove the cooldown, or do not make it constant.", f"{HEALTH} E03"),
    Check("E04", CheckGroup.ENTRY, WARNING, "Warmup with short keys only",
          "The warmup asks for several occurrences, and all keys have at most three characters. Such keys are usually "
          "abbreviations that a chat seldom repeats.",
          "Add longer keys, or lower the warmup.", f"{HEALTH} E04"),
    Check("E05", CheckGroup.ENTRY, WARNING, "Bootstrap without keys",
          "A bootstrap entry without keys comes in while the chat is short and never again.",
          "Give it keys, if it should return later.", f"{HEALTH} E05"),
    Check("E06", CheckGroup.ENTRY, WARNING, "No keys, and hidden from recursion",
          "excludeRecursion hides the entry's text from the recursive scan; without keys the entry does not match "
          "either.",
          "Give it keys, or make it constant.", f"{HEALTH} E06"),
    Check("E07", CheckGroup.ENTRY, WARNING, "Probability 0",
          "A key hit never brings the entry in.",
          "Set the probability above 0, or switch the entry off.", f"{HEALTH} E07"),
    Check("E08", CheckGroup.ENTRY, ERROR, "Same title twice in one vault",
          "Links, requires, excludes and AI picks go by title, so they cannot tell the two apart. Titles are compared "
          "without regard to case.",
          "Rename one of them.", f"{HEALTH} E08"),
    Check("E09", CheckGroup.ENTRY, INFO, "Same title in several vaults",
          "All copies take part (setting multiVaultConflictResolution: all), told apart by their vault; links and "
          "requires cannot tell them apart.",
          "Rename one, or let the setting keep or merge one of them.", f"{HEALTH} E09"),
    Check("E52", CheckGroup.ENTRY, INFO, "Condition on a constant",
          "A constant comes in on every generation; its warmup, probability, refine keys and scan depth are not "
          "looked at.",
          "Remove the field, or do not make it constant."),
    Check("E53", CheckGroup.ENTRY, WARNING, "Probability above 1",
          "A probability is a share between 0 and 1. A larger number counts as 1, so the entry always wins its draw; "
          "50 does not mean 50 %.",
          "Write a share: 0.5 for every second time."),
    Check("E54", CheckGroup.ENTRY, WARNING, "Priority 0 counts as 50",
          "Smaller numbers are more important, but where requires and excludes are resolved and the budget is filled, "
          "DeepLore takes a priority of 0 for 50.",
          "Write 1 for the most important entries."),
    Check("E55", CheckGroup.ENTRY, WARNING, "Guide with another part",
          "A guide is for the Librarian only and never goes into the story's prompt, whatever other tags or fields "
          "(constant, seed, bootstrap, the lorebook tag with keys) say.",
          "Remove the guide tag, or what contradicts it."),
    Check("E56", CheckGroup.ENTRY, WARNING, "Title out of a code block",
          "The title is the first line that begins with # and a blank, also inside a code block.",
          "Put a heading above the code block."),
    Check("E57", CheckGroup.ENTRY, INFO, "Title out of the next line",
          "A lone # takes the next line with text as its title, and that line is then missing from the prompt.",
          "Write the title on the line of the #."),
)  # fmt: skip

_GATING: Final = (
    Check("G01", CheckGroup.GATING, ERROR, "Requires a missing title",
          "No entry has this title, so DeepLore drops the requirement: with nothing else required, the entry comes in "
          "as if it asked for nothing. What is looked at is the list as it is written.",
          "Correct the title, or remove it.", f"{HEALTH} G01"),
    Check("G02", CheckGroup.GATING, ERROR, "Excludes a missing title",
          "No entry has this title, so the exclusion has no effect.",
          "Correct the title, or remove it.", f"{HEALTH} G02"),
    Check("G03", CheckGroup.GATING, WARNING, "Cascade link to a missing title",
          "Neither a title nor a file has this name, so the link leads nowhere.",
          "Correct the title, or remove it.", f"{HEALTH} G03"),
    Check("G04", CheckGroup.GATING, ERROR, "Excludes itself",
          "The entry leaves whenever it is a candidate. Constants, seeds and bootstraps are exempt and not reported.",
          "Remove its own title from excludes.", f"{HEALTH} G04"),
    Check("G05", CheckGroup.GATING, ERROR, "Requires and excludes the same title",
          "Whether the other is there or not, this entry leaves.",
          "Keep the title in one of the two lists.", f"{HEALTH} G05"),
    Check("G06", CheckGroup.GATING, WARNING, "Excludes a constant",
          "The constant is always there, so this entry never is. The original also reports seeds and bootstraps here; "
          "a seed is only there when its keys hit, and for bootstraps see G52.",
          "Remove the title, or do not make the other constant.", f"{HEALTH} G06"),
    Check("G07", CheckGroup.GATING, ERROR, "Requires in a circle",
          "Each of these entries needs the next, so they come in only when all of them match on the same generation; "
          "where one is cut or does not match, none comes in. The original finds circles of two only and says that "
          "none can ever come in.",
          "Remove one of the requirements.", f"{HEALTH} G07"),
    Check("G51", CheckGroup.GATING, WARNING, "Cascade link to a file name",
          "A file has this name, but the entry in it another title. DeepLore's check accepts file names, its engine "
          "follows titles only, so the link leads nowhere.",
          "Write the title."),
    Check("G52", CheckGroup.GATING, INFO, "Excludes a bootstrap entry",
          "A bootstrap entry is there at the beginning of every chat, so this entry is not.",
          "Nothing, if that is what you want."),
    Check("G53", CheckGroup.GATING, ERROR, "Can never come in",
          "What the entry requires can never be in the prompt itself: a guide, an entry that no key can wake, one that "
          "excludes itself, and so on along the chain.",
          "Mend the entry at the end of the chain, or remove the requirement."),
    Check("G54", CheckGroup.GATING, ERROR, "Requirements that exclude each other",
          "Along the chain of what the entry requires, one entry excludes another, so they are never there together.",
          "Remove one of the requirements or the exclusion."),
    Check("G55", CheckGroup.GATING, INFO, "Requires or excludes without effect",
          "Constants, seeds and bootstraps stay in whatever their own requires and excludes say.",
          "Remove the lists, or the tag that exempts the entry."),
    Check("G56", CheckGroup.GATING, INFO, "Requires itself",
          "An entry that is a candidate meets this requirement by itself.", "Remove its own title from requires."),
    Check("G57", CheckGroup.GATING, INFO, "Cascade links in a circle",
          "Cascade links are followed for one step only, so a circle does no harm; but none of these entries brings in "
          "more than the next one.",
          "Name every entry that should come along."),
)  # fmt: skip

_FIELDS: Final = (
    Check("F51", CheckGroup.FIELDS, ERROR, "Mistake in the field definitions",
          "The file that defines the gating fields has a line that DeepLore drops or reads in another way.",
          "Correct the named line.", "rules: deeplore 5.4"),
    Check("F52", CheckGroup.FIELDS, WARNING, "Value that the field does not list",
          "The definition of the field lists its values, and this one is not among them. DeepLore does not check that, "
          "so a slip of the pen keeps the entry out for ever.",
          "Correct the value, or add it to the definition."),
    Check("F53", CheckGroup.FIELDS, WARNING, "Not a number",
          "The field is defined as a number, and this value is none, so the field counts as empty.",
          "Write a number."),
)  # fmt: skip

_KEYWORDS: Final = (
    Check("K01", CheckGroup.KEYWORDS, INFO, "Very short key",
          "A key of one or two characters is likely to be found where nobody means it. In scripts that write a whole "
          "word in two signs, only single signs are reported.",
          "Use a longer key, or switch whole words on.", f"{HEALTH} K01"),
    Check("K02", CheckGroup.KEYWORDS, INFO, "Same key on several entries",
          "The key wakes several entries at once, compared without regard to case. Guides are left out, because their "
          "keys are never looked for.",
          "Nothing, if they belong together; else use keys that tell them apart.", f"{HEALTH} K02"),
    Check("K51", CheckGroup.KEYWORDS, WARNING, "Key that matches nearly everything",
          "A single letter or digit, or nothing but punctuation, is found in almost every message, the more so as each "
          "scanned message begins with the speaker's name, a colon and a blank.",
          "Use a real word, or make the entry constant if it should always be there."),
    Check("K52", CheckGroup.KEYWORDS, INFO, "Key that stands twice",
          "The second copy finds nothing that the first does not; with a warmup it counts every occurrence twice.",
          "Remove the second copy."),
    Check("K53", CheckGroup.KEYWORDS, INFO, "Key contained in another key of the entry",
          "Wherever the longer key is found, the shorter one is found too, so the longer one adds nothing but a "
          "second count for the warmup.",
          "Remove the longer key, or the shorter one if it finds too much."),
    Check("K54", CheckGroup.KEYWORDS, INFO, "Key contained in another entry's key",
          "Whenever the longer key wakes the other entry, the shorter one wakes this entry as well.",
          "Nothing, if they belong together; else use a longer key."),
    Check("K55", CheckGroup.KEYWORDS, WARNING, "Key that looks like a pattern",
          "DeepLore has no regular expressions: the slashes and all signs between them are searched as they stand.",
          "Write each word that the pattern means as a key."),
    Check("K56", CheckGroup.KEYWORDS, WARNING, "Blanks around a key",
          "Keys are not trimmed, so the blanks have to be in the chat too: at the beginning or end of a line, or "
          "before a full stop, the key is not found.",
          "Remove the blanks."),
    Check("K57", CheckGroup.KEYWORDS, INFO, "Whole words do not hold for this key",
          "Whole words is on, but a key with a blank in it is searched as a plain piece of text, and next to letters "
          "beyond A to Z no word boundary is known: war room is found in war rooms, and a key in Cyrillic or Chinese "
          "inside longer words.",
          "Nothing, if that does no harm; else use a more specific key."),
    Check("K58", CheckGroup.KEYWORDS, WARNING, "Key in decomposed letters",
          "Case matters, so texts are compared as they stand, and this key has its accents as signs of their own, "
          "which hardly any chat has. The two forms look the same.",
          "Write the key with composed letters."),
    Check("K59", CheckGroup.KEYWORDS, WARNING, "Invisible sign in a key",
          "The key has a sign that cannot be seen or told from a blank (no-break blank, zero-width blank, tab, line "
          "end), which the chat will not have.",
          "Write the key again, with ordinary blanks."),
    Check("K60", CheckGroup.KEYWORDS, INFO, "Very long key",
          "Only the first 200 characters of a key are searched.", "Use a shorter key.", "rules: deeplore 3.4"),
    Check("K61", CheckGroup.KEYWORDS, INFO, "Empty key",
          "A key of nothing, or of blanks only, is passed over.", "Remove it.", "rules: deeplore 3.4"),
    Check("K62", CheckGroup.KEYWORDS, WARNING, "Punctuation at the edge of a whole word",
          "Whole words is on, and the key begins or ends with a sign that in texts mostly clings to a word. Next to a "
          "letter or digit the key is then not found: -san not in Kenji-san, pre- not in pre-war.",
          "Write the whole word, or the key without the sign."),
    Check("K63", CheckGroup.KEYWORDS, INFO, "Curly quotes in a key",
          "A curly apostrophe and a straight one are different characters, and chats have either.",
          "Add the key in the other spelling too."),
)  # fmt: skip

_REST: Final = (
    Check("L01", CheckGroup.LINKS, INFO, "Link that leads to no entry",
          "DeepLore resolves links by the titles of entries alone: not by file names, aliases or headings, and not to "
          "notes that are no entries. In Obsidian the link may work all the same.",
          "Nothing, if the link is for you; else link to an entry's title.", f"{HEALTH} L01"),
    Check("Z01", CheckGroup.SIZE, WARNING, "Long entry",
          "The entry has more than 1,500 tokens (estimated), half of DeepLore's default budget.",
          "Split it, or move what is seldom needed to a note of its own.", f"{HEALTH} Z01"),
    Check("Z02", CheckGroup.SIZE, WARNING, "Long seed",
          "A seed of more than 2,000 tokens is sent to the AI selector whole whenever a chat is new.",
          "Shorten it.", f"{HEALTH} Z02"),
    Check("Z03", CheckGroup.SIZE, WARNING, "Constants beyond the budget",
          "The constants alone have more tokens than the budget, so some are shortened or cut on every generation and "
          "nothing else comes in.",
          "Shorten them, make some of them ordinary entries, or raise “Token budget”.", f"{HEALTH} Z03"),
    Check("Z51", CheckGroup.SIZE, WARNING, "Longer than the whole budget",
          "The entry alone has more tokens than the budget, so it is shortened every time and nothing comes after it.",
          "Split it, or raise “Token budget”."),
    Check("Z52", CheckGroup.SIZE, WARNING, "Constants take every place",
          "There are as many constants as entries may go in, so nothing else has a place.",
          "Make some of them ordinary entries, or raise “Most entries”."),
    Check("A01", CheckGroup.AI, WARNING, "No summary",
          "AI selection is on. Without a summary the selector reads the beginning of the text, or, where only "
          "summaries are shown, is not offered the entry at all. Guides are left out: the selector never sees them.",
          "Write a summary that says when the entry matters.", f"{HEALTH} A01"),
    Check("A51", CheckGroup.AI, WARNING, "Long summary",
          "A summary is never shortened. One longer than what the selector is shown of an entry without a summary "
          "makes every question to it longer and dearer.",
          "Shorten it to the few words that the selector needs."),
    Check("I01", CheckGroup.INJECTION, WARNING, "Depth without effect",
          "A depth counts only for entries that go into the chat; this one goes elsewhere.",
          "Remove depth, or write position: in_chat.", f"{HEALTH} I01"),
    Check("I02", CheckGroup.INJECTION, WARNING, "Role without effect",
          "A role counts only for entries that go into the chat, and for outlets; this one goes elsewhere.",
          "Remove role, or write position: in_chat.", f"{HEALTH} I02"),
    Check("M51", CheckGroup.CONTENT, INFO, "Unknown macro",
          "SillyTavern fills in {{macros}} of names that it knows; any other goes to the model as it stands. "
          "Extensions can add names that the studio does not know.",
          "Correct the name, or remove the braces."),
    Check("M52", CheckGroup.CONTENT, WARNING, "Dollar signs that the template eats",
          "Behind a dollar sign, another dollar sign, an ampersand, a backtick or an apostrophe has a meaning of its "
          "own when DeepLore fills in the template: $$ becomes one $, $& the placeholder, and the others copy parts of "
          "the template.",
          "Put a blank between the two signs, or write the amount in words.", "rules: deeplore 5.7"),
    Check("M53", CheckGroup.CONTENT, ERROR, "Excluded part without an end",
          "%%deeplore-exclude%% has no %%/deeplore-exclude%% behind it, so the text that was to stay out goes into the "
          "prompt.",
          "Put %%/deeplore-exclude%% behind the part.", "rules: deeplore 1.8"),
    Check("M54", CheckGroup.CONTENT, WARNING, "Comment that goes into the prompt",
          "Obsidian hides what stands between %% and %%. DeepLore takes out comments on one line without a percent "
          "sign inside, and blocks whose closing %% stands alone on its line; this one is neither.",
          "Put the closing %% on a line of its own, or keep the comment on one line.", "rules: deeplore 1.8"),
)  # fmt: skip

_SETTINGS: Final = (
    Check("S01", CheckGroup.SETTINGS, ERROR, "No vault is switched on",
          "The settings list no vault that is enabled, so DeepLore has nothing to read. Only looked at in settings "
          "that list vaults.",
          "Switch a vault on in DeepLore's settings.", f"{HEALTH} S01"),
    Check("S02", CheckGroup.SETTINGS, WARNING, "Vault without a key",
          "DeepLore cannot reach the vault without the key of Obsidian's plugin.",
          "Enter the key in DeepLore's settings.", f"{HEALTH} S02"),
    Check("S03", CheckGroup.SETTINGS, ERROR, "Nothing can match",
          "The scan depth is 0 and AI selection is off, so only constants and bootstrap entries ever come in.",
          "Raise “Scan depth”, or switch AI selection on.", f"{HEALTH} S03"),
    Check("S04", CheckGroup.SETTINGS, ERROR, "AI selection without a profile",
          "The AI chooses from the whole vault through a connection profile, and none is named. Connections are only "
          "looked at in settings that come from a file: in the studio, who answers is chosen elsewhere.",
          "Choose a profile in DeepLore's settings.", f"{HEALTH} S04"),
    Check("S05", CheckGroup.SETTINGS, ERROR, "AI selection without an address",
          "AI selection goes through a proxy, and its address is empty.",
          "Enter the address in DeepLore's settings.", f"{HEALTH} S05"),
    Check("S06", CheckGroup.SETTINGS, ERROR, "Scribe without a profile",
          "The session scribe uses a connection profile of its own, and none is named.",
          "Choose a profile in DeepLore's settings.", f"{HEALTH} S06"),
    Check("S07", CheckGroup.SETTINGS, ERROR, "Scribe without an address",
          "The session scribe goes through a proxy, and its address is empty.",
          "Enter the address in DeepLore's settings.", f"{HEALTH} S07"),
    Check("S08", CheckGroup.SETTINGS, WARNING, "Very small budget",
          "The token budget is below 200; that is one short note.", "Raise “Token budget”.", f"{HEALTH} S08"),
    Check("S09", CheckGroup.SETTINGS, INFO, "Recursion of one step",
          "With one step, the texts of matched entries are searched once; what they bring in is not searched again.",
          "Raise “Recursion steps” if chains should be followed.", f"{HEALTH} S09"),
    Check("S10", CheckGroup.SETTINGS, INFO, "Vault read on every generation",
          "The index lifetime is 0, so DeepLore fetches the whole vault before each generation.",
          "Set “Index lifetime” above 0 if generations start slowly.", f"{HEALTH} S10"),
    Check("S11", CheckGroup.SETTINGS, WARNING, "Index out of date",
          "The index is older than three times its lifetime. The studio follows folders as they change, so this is "
          "only reported where the age of the index is known.",
          "Reload the vault.", f"{HEALTH} S11"),
    Check("S51", CheckGroup.SETTINGS, ERROR, "One tag with two meanings",
          "Two of the special tags are the same, so every note with the tag is both.",
          "Give each its own tag."),
    Check("S52", CheckGroup.SETTINGS, ERROR, "AI selection without a profile (two stages)",
          "As S04, which the original checks in the mode ai-only alone; in two stages the requests fail just so.",
          "Choose a profile in DeepLore's settings."),
    Check("S53", CheckGroup.SETTINGS, WARNING, "Two stages without a first stage",
          "In two stages the AI chooses among what the keys found, and with a scan depth of 0 they find nothing.",
          "Raise “Scan depth”, or let the AI choose from the whole vault."),
)  # fmt: skip

_CHAT: Final = (
    Check("D51", CheckGroup.CHAT, INFO, "Never matched in this chat",
          "In none of the replies that were run has the entry become a candidate.",
          "Nothing, if the story has not come to it; else add keys that the chat uses."),
    Check("D52", CheckGroup.CHAT, WARNING, "Matched, but never injected",
          "The entry became a candidate, and each time a later stage took it out.",
          "Choose the entry and read “Why?” at one of the named replies."),
    Check("D53", CheckGroup.CHAT, WARNING, "Key that hits all the time",
          "The key is in more than a third of the messages of this chat. With the default scan depth of four messages, "
          "it then wakes the entry on four generations of five: a constant in all but name, that takes room from the "
          "others.",
          "Use a rarer key, add refine keys, or make the entry constant if that is what you want."),
    Check("D54", CheckGroup.CHAT, INFO, "Key that never hit",
          "The key is in no message of this chat, while others of the entry are.",
          "Nothing, if the story has not come to it; else write it as the chat does."),
    Check("D55", CheckGroup.CHAT, INFO, "Key that is a speaker's name",
          "Each scanned message begins with its speaker's name, so the entry wakes whenever that character speaks, "
          "whatever is said.",
          "Nothing, if that is what you want; else use a key that the name does not contain.",
          "rules: deeplore 3.3"),
    Check("B01", CheckGroup.CHAT, INFO, "Searched for in vain",
          "The Librarian looked for this at least three times and found nothing.",
          "Consider an entry about it.", f"{HEALTH} B01"),
)  # fmt: skip

CHECKS: Final[Mapping[str, Check]] = MappingProxyType({
    str(check.code): check
    for part in (_PARSER, _NOTES, _ENTRY, _GATING, _FIELDS, _KEYWORDS, _REST, _SETTINGS, _CHAT)
    for check in part
})  # fmt: skip
"""Every check by its code."""


def check_of(code: str) -> Check:
    """The check with that code; a parser warning of a kind that the table lacks is a warning by itself."""
    known = CHECKS.get(code)
    return known if known is not None else Check(code, CheckGroup.PARSER, WARNING, "Parser warning", "", "")


def as_markdown() -> str:
    """The table as pages for people have it, one part a group."""
    parts: list[str] = []
    for group in CheckGroup:
        rows = [check for check in CHECKS.values() if check.group is group]
        parts.append(f"## {group}\n")
        parts.append("| Code | Severity | What | When and why | What to do | From |\n|---|---|---|---|---|---|")
        for check in rows:
            origin = "DeepLore" if check.source.startswith("rules: deeplore-tools") else "lorestudio"
            cells = (f"`{check.code}`", check.severity, check.title, check.explanation, check.advice, origin)
            parts.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)
