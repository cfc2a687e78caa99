"""Settings of the context window (rules: context-window 1.4, 2, 12)."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias, get_args

from lorestudio.settings.declaration import Group, Section

ContextWindowStage: TypeAlias = Literal[
    "text match", "links", "dependants", "requirements", "locks", "weight order", "page budgets", "lore budget",
    "lore filling",
    "context elements", "conversation",
]  # fmt: skip
"""The stages that the settings change."""


_ALL: Final[tuple[ContextWindowStage, ...]] = ("context elements", "conversation", "lore budget", "lore filling")

window = Group("Context window", affects=_ALL)
pages = Group("Pages", affects=("page budgets",))
request = Group("Budget of the request", affects=_ALL)
counting = Group("Token counter", affects=_ALL)


class ContextWindowSettings(Section):
    """How lore, context elements and conversation share the window, and how words are counted.

    Rules: context-window 2, 12.
    """

    stages: ClassVar = get_args(ContextWindowStage)

    total_token_budget: int = window(
        8000, "Token budget", "Room for lore, context elements and conversation together.",
        unit="tokens", low=0, high=1_000_000,
    )  # fmt: skip
    multiply_window_size_by: int = window(
        0, "Multiplier", "The budget is multiplied by this; 0 leaves it as it is.", low=0, high=1000, least="off"
    )
    truncate_method: str = window(
        "TruncateTop", "What is cut", "Where elements and turns are dropped when they do not fit.",
        choices={
            "TruncateTop": "The oldest: the end stays.",
            "TruncateBottom": "The newest: the beginning stays.",
            "TruncateMiddle": "The middle: both ends stay.",
        },
        affects=("context elements", "conversation"),
    )  # fmt: skip
    fill_mode: bool = window(
        False, "Fill",
        "Lore takes as much of the budget as it can, also entries that the text does not mention; the rest gets what "
        "is left.",
        affects=("lore filling", "context elements", "conversation"),
    )  # fmt: skip
    fill_and_split_mode: bool = window(
        False, "Fill half",
        "Like Fill, but lore may take half of the budget only where there is anything else.",
        affects=("lore filling", "context elements", "conversation"),
    )  # fmt: skip
    preserve_text_matches: bool = window(
        False, "Keep what the text mentions",
        "Elements and turns that share a word with the text are kept before all others, and move to the front.",
        affects=("context elements", "conversation"),
    )  # fmt: skip
    source_compatible: bool = window(
        False, "As the original",
        "Takes over what the original program does where it differs from its description: merging, cleaning, string "
        "mode, locks and multipliers.",
        advanced=True, affects=(),
    )  # fmt: skip
    scanned_messages: int = window(
        1, "Messages looked at", "Lore comes in by what these newest messages say; the original looks at the prompt.",
        unit="messages", low=1, high=1000, affects=("text match", "links", "dependants"),
    )  # fmt: skip
    with_conversation: bool = window(
        True, "The conversation shares the budget", "Off: the whole budget is for lore and context elements.",
        affects=("conversation", "lore budget"),
    )  # fmt: skip
    pages_by: str = pages(
        "one", "Pages",
        "A page is a window of its own with a share of the budget; links, requirements and locks stay within it.",
        choices={
            "one": "One page holds everything.",
            "properties": "A page for each cw_page that notes have.",
            "folders": "A page for each folder at the top of a vault; a note's cw_page wins.",
            "vaults": "A page for each vault; a note's cw_page wins.",
        },
    )  # fmt: skip
    main_page: str = pages("main", "Main page", "Holds notes that are on no other page, and the conversation.")
    page_order: str = pages(
        "", "First pages", "Pages that come first, separated by commas; also ones that hold no note."
    )
    locked_pages: str = pages("", "Locked pages", "Pages that come out empty, separated by commas.", affects=("locks",))
    multi_page_budget_strategy: str = pages(
        "DYNAMIC_SIZE_FILL", "How pages share",
        "What each page may use of the budget. The size of a page is that of its JSON.",
        choices={
            "EQUAL_SPLIT": "The same for every page.",
            "WEIGHTED_SPLIT": "By the weights of the pages.",
            "PRIORITY_FILL": "In their order, each as much as it holds.",
            "DYNAMIC_FILL": "In their order; what a page does not use goes to those that need more.",
            "DYNAMIC_SIZE_FILL": "The smallest first; what a page does not use goes to those that need more.",
        },
    )  # fmt: skip
    page_weights: str = pages(
        "", "Weights of pages", "As in places=2, people=1; a page that is not named has the weight 0."
    )
    reserve_empty_page_budget: bool = pages(
        True, "Empty pages keep a share", "Off: a page that holds nothing takes nothing."
    )
    budget_from_context: bool = request(
        False, "What the context leaves",
        "The budget is the context's size less the reply, the thinking and the prompt, instead of “Token budget”. "
        "Where the size of the context is not known, “Token budget” stands for it.",
    )  # fmt: skip
    max_tokens: int = request(
        0, "Room for the reply", "Taken from the context's size.", unit="tokens", low=0, high=1_000_000
    )
    reasoning_budget: int = request(
        0, "Room for thinking", "Taken from the context's size, where thinking counts against it.",
        unit="tokens", low=0, high=1_000_000,
    )  # fmt: skip
    user_prompt_size: int = request(
        0, "Size of the prompt", "0: the messages that are looked at are counted.",
        unit="tokens", low=0, high=1_000_000, least="counted",
    )  # fmt: skip
    word_list: str = counting(
        "", "Word list", "A file with a word a line; empty: the studio counts tokens as it does everywhere else."
    )
    count_sub_words_in_first_word: bool = counting(
        True, "Longest word in the first one",
        "The first word of a text takes the longest entry of the word list found anywhere in it, off: only at its "
        "front, like every other word.",
    )  # fmt: skip
    favor_whole_words: bool = counting(
        True, "Whole words only",
        "An entry of the word list counts only where no letter follows; off: the longest beginning counts.",
    )  # fmt: skip
    count_only_first_word_found: bool = counting(
        False, "First entry only", "A word is done after the first entry of the word list found in it."
    )
    split_for_non_word_char: bool = counting(
        True, "Split at punctuation", "What follows punctuation after an entry is counted by its length."
    )
    always_split_if_whole_word_exists: bool = counting(
        False, "Split after every entry", "What follows any entry is counted by its length."
    )
    count_sub_words_if_split: bool = counting(
        False, "Look into what follows a split",
        "What follows a split is looked up in the word list again instead of being counted by its length.",
    )  # fmt: skip
    non_word_split_count: int = counting(
        4, "Characters per token",
        "For punctuation, for what follows a split and for unknown words.",
        unit="characters", low=1, high=100,
    )  # fmt: skip
    token_counting_bias: float = counting(
        0.0, "Bias", "Every count is multiplied by one plus this, and rounded.", low=-1, high=10
    )
