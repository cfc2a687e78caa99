"""How a report looks: on a screen of any width, light or dark, and on paper."""

from __future__ import annotations

from typing import Final

from lorestudio.studio.report.colours import css_variables
from lorestudio.studio.report.svg import PICTURE_STYLE

_SCREEN: Final = """
*{box-sizing:border-box}body{margin:0;background:var(--window);color:var(--text);
font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
main,header,nav,footer{max-width:1000px;margin:0 auto;padding:0 20px}header{padding-top:24px}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.2rem;margin:0 0 .4em}h3{font-size:1rem;margin:1.4em 0 .4em}
section.turn,section.part{background:var(--panel);border:1px solid var(--border);border-radius:8px;
padding:18px 20px;margin:18px 0}
a{color:var(--accent)}.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px}
.summary{font-size:1.05rem}.muted{color:var(--text_muted)}.warning{background:var(--warning_soft);
color:var(--warning);padding:6px 10px;border-radius:6px}.error{background:var(--error_soft);color:var(--error);
padding:6px 10px;border-radius:6px}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem;margin:0 0 14px}
caption{text-align:left;color:var(--text_muted);padding:2px 0 4px}
th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--border);vertical-align:top;
overflow-wrap:break-word}th{font-weight:600}td.n,th.n{text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}td:first-child{min-width:5.5em}td.n:first-child{min-width:0}
figure{margin:10px 0;overflow-x:auto}svg{display:block;width:100%;max-width:760px;min-width:600px;height:auto}
details{margin:8px 0}summary{cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--raised);border:1px solid var(--border);
border-radius:6px;padding:10px;font:13px/1.45 ui-monospace,Consolas,monospace}
.piece{border-left:5px solid;padding-left:8px;display:block}.who{display:inline-block;font:600 12px system-ui;
border-radius:4px;padding:0 6px}mark{background:var(--mark);color:var(--on_mark);border-radius:3px;padding:0 2px}
mark.refine{background:none;color:inherit;outline:1px dashed;outline-offset:-1px}
mark.lacking{text-decoration:underline dotted 2px}
.message{margin:6px 0}.message b{margin-right:6px}footer{color:var(--text_muted);padding:8px 20px 30px}
.paper{display:none}.top{float:right;font-size:.9rem}
@media(max-width:640px){main,header,nav,footer{padding:0 8px}section.turn,section.part{padding:12px 10px}}
"""

_PAPER: Final = """
@page{margin:14mm}
@media print{body{background:none;font-size:10.5pt}main,header,nav,footer{max-width:none;padding:0}
header{padding-top:0}section.turn,section.part{background:none;border:0;padding:0;margin:0 0 18px}
.top,.skip,.whole details,.whole .folded{display:none}.paper{display:block}
h2,h3,caption,summary{break-after:avoid}tr,figure,.message{break-inside:avoid}thead{display:table-header-group}
thead tr{break-after:avoid}tbody tr:first-child{break-before:avoid}
.scroll,figure{overflow:visible}svg{min-width:0}a{color:inherit}
mark,.who,.warning,.error{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.single details::details-content{content-visibility:visible;block-size:auto;height:auto}}
"""
"""On paper a report of one turn shows what is folded on the screen; that of a whole chat, which would be hundreds of
pages, leaves it out and says so.
"""


def page_style() -> str:
    """The style sheet of a page, colours included."""
    return css_variables(":root") + _SCREEN + _PAPER + PICTURE_STYLE
