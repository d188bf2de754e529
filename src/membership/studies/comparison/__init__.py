"""Every attack of the book on one bench, file by file.

`settings` and `names` say which cells are run, `experiment` trains, `evidence` lists and gathers
what is kept, `scores` reads a cell and averages over cells. Then by question: `leaderboard` (which
attack finds most), `another_game` (what plays another game), `power` (what reference models buy),
`tuned` (settings chosen alike), `thresholds` (what a threshold keeps), `agreement` (do attacks find
the same members), `bounds` (what is proven), `risk` (who is at risk), `nulls` (where there is
nothing to find).
"""
