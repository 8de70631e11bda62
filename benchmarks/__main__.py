"""All benchmarks, the quick ones first; takes about twenty minutes on two cores."""

from benchmarks import calls, embedded, indexing, large, overhead, starting
from benchmarks.report import show, show_machine

show_machine()
for part in (starting, overhead, calls, indexing, large, embedded):
    show(part.measure())
