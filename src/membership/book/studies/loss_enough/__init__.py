"""Is the loss enough? Three games that are solved exactly, file by file.

`settings` and `names`; then the games: `mean` (of Gaussian records), `ridge` (regression under
SGD), `logistic` (by brute force), `clouds` (where SGD comes to rest). `games` plays or sums all of
them, `exact_roc` gives their curves without sampling, `losses` says what losses tell. What
they show is declared in ``exhibits.toml``; `claims` decides what the papers say of each other.
"""
