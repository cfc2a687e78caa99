"""Help from a model, as proposals only: a summary, better keys, a draft from the chat. Nothing is written unaccepted.

`planning` says which notes are asked about, `making` asks, `judging` makes proposals of answers and of what a person
typed, `accepting` writes them through the change log.
"""

from lorestudio.studio.proposals.accepting import Accepted, change_of, change_set, write_accepted
from lorestudio.studio.proposals.answers import default_records, proposal_answers, proposals_cost
from lorestudio.studio.proposals.judging import Judge
from lorestudio.studio.proposals.key_counts import SearchableChat, count_keys
from lorestudio.studio.proposals.making import Ended, Maker
from lorestudio.studio.proposals.model import (
    KeyCount,
    Material,
    Passage,
    Plan,
    Proposal,
    ProposalKind,
    Remark,
    Skipped,
    Task,
    Value,
)
from lorestudio.studio.proposals.planning import Guard, plan_draft, plan_keys, plan_summaries

__all__ = [
    "Accepted",
    "Ended",
    "Guard",
    "Judge",
    "KeyCount",
    "Maker",
    "Material",
    "Passage",
    "Plan",
    "Proposal",
    "ProposalKind",
    "Remark",
    "SearchableChat",
    "Skipped",
    "Task",
    "Value",
    "change_of",
    "change_set",
    "count_keys",
    "default_records",
    "plan_draft",
    "plan_keys",
    "plan_summaries",
    "proposal_answers",
    "proposals_cost",
    "write_accepted",
]
