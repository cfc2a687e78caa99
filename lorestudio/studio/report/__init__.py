"""Reports of one turn or of a whole chat: what happened, with pictures and tables, in one file that can be given away.

`source` gathers what a report tells (and takes a person's words out of it), `page` makes HTML of it, `plain` Markdown
and JSON.
"""

from lorestudio.studio.report.formats import Format, report_text
from lorestudio.studio.report.source import ReportSource, gather, without_words

__all__ = ["Format", "ReportSource", "gather", "report_text", "without_words"]
