"""Every attack of the book on one bench, file by file.

`settings` and `names` say which cells are run, `experiment` trains, `evidence` lists and gathers
what is kept, `scores` reads a cell and averages over cells. Then by question: `leaderboard` (which
attack finds most), `costs` (what reference models cost and buy), `thresholds` (what is set in
advance), `tuning` (settings by references), `agreement` (do attacks find the same members),
`bounds` (what is proven, and where there is nothing to find), `risk` (who is at risk, and what
plays another game), `outside` (two attacks as others run them), `convolutional` (a network of
another chapter). ``exhibits.toml`` declares what they show, of what `reads` says; `claims` decides
what is claimed.
"""
