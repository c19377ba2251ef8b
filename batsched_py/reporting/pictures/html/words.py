"""Texts of the page that are the same for all runs."""

from __future__ import annotations

from typing import Final

TOOLBAR: Final = """\
<div class="toolbar">
<button type="button" id="closer" aria-label="zoom in">+</button>
<button type="button" id="wider" aria-label="zoom out">&minus;</button>
<button type="button" id="whole">whole run</button>
<label>colours: <select id="mode">{options}</select></label>
<label>job: <input id="find" type="search" size="12" placeholder="name, Enter"></label>
<output id="window"></output>
</div>"""

KEYS: Final = """\
<p class="quiet" id="keys">Drag to move; Ctrl and wheel to zoom, or the wheel alone once a chart was clicked (with \
Shift: hosts); click a job to find it in all runs. Keys: <kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd> move, \
<kbd>+</kbd> <kbd>&minus;</kbd> zoom, <kbd>0</kbd> whole run, <kbd>n</kbd> <kbd>p</kbd> next and previous job.</p>"""

DEFINITIONS: Final = """\
<dl>
<dt>wait</dt><dd>start &minus; submission</dd>
<dt>turnaround</dt><dd>finish &minus; submission</dd>
<dt>bounded slowdown</dt><dd>max(1, (wait + run) / max(run, {bound} s)), run = finish &minus; start (Feitelson, \
Rudolph, Schwiegelshohn, Sevcik and Wong, JSSPP 1997)</dd>
<dt>makespan</dt><dd>finish of the last job, counted from 0, the start of the simulation</dd>
<dt>utilisation</dt><dd>host seconds allocated / (hosts &times; makespan)</dd>
<dt>throughput</dt><dd>jobs that ran / makespan</dd>
<dt>over time</dt><dd>each step where steps are few, otherwise means over equal times; the queue does not count jobs \
that will be rejected</dd>
</dl>
<p class="quiet">Means and maxima are over the jobs that ran; rejected jobs are only counted.</p>"""
