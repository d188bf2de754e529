"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from membership.book.exhibits.declaration import drawn, exhibits_of, later
from membership.book.studies.my_paper import evidence

(overfitting,) = later(__package__, "overfitting")
exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("tab-1", overfitting.table_1, evidence.names, judge=overfitting.beside_the_paper),
    exhibit(
        "ctl-1",
        overfitting.gap_and_advantage,
        evidence.names,
        draw=drawn("lines_with_intervals", x="width", by="metric", log_x=True),
    ),
)
