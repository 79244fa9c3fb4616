"""Worst cases: tables on which a splitter's split costs a large multiple of the optimum, found by search.

Nothing here is proven but what a certificate shows: a table, both splits, both impurities. The committed list of the
worst known tables is ``splitlab/published/worst_tables.json``.

>>> from splitlab.adversary import worst_known
>>> worst_known()["lca", "gini"].ratio > 4 / 3
True
"""

from splitlab.adversary.certificate import Found, certified
from splitlab.adversary.known import Known, proven, worst_known
from splitlab.adversary.search import search

__all__ = ["Found", "Known", "certified", "proven", "search", "worst_known"]
