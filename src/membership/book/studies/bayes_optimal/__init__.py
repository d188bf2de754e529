"""Sablayrolles et al. (2019): white-box against black-box, file by file.

`settings` and `names`; `regressions` and `networks` train for Tables 1 and 2, and `evidence` lists
every file of evidence. Then a file a question of the page: `gaussian` (Figure 1), `logistic` and
`splits` (Table 1), `ladder` and `ladder_tables` (Table 1 by features and penalties),
`network_tables` and `promises` (Table 2, and what Property 2 promises there), `augmentation`
(instead of Table 3, whose recipe is in ``recipes/imagenet``), `posterior` (games in which the
Bayes-optimal attack is exact), `finite_games` (games in which all can be summed). What they show
is declared in ``exhibits.toml``, of what `reads` says; `claims` decides what is claimed.
"""
