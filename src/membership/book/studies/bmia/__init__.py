"""One Bayesian reference model in the place of many (Liu et al., 2025).

Read `settings`, `experiment` (who is trained on what), `trained` (models and posteriors),
`answers` and `measured` (what they are asked), `by_model` (large models, each by itself) and
`evidence`, which lists what gathers every file; `scores` reads it. Then a file a question of the
page: `toy`, `tables`, `equal_budgets`, `accuracy`, `thresholds`, `p_values`, `posteriors`,
`convolutional`, `theory`. ``exhibits.toml`` declares what they show, of what
`reads` says; `claims` decides what is claimed.
"""
