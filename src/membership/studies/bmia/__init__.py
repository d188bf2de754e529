"""One Bayesian reference model in the place of many (Liu et al., 2025).

Read `settings`, `experiment` (who is trained on what), `trained` (models and posteriors) and
`evidence`, which lists what gathers every file; then a file a question of the page: `toy`,
`tables`, `equal_budgets`, `accuracy`, `thresholds`, `p_values`, `posteriors`, `convolutional`,
`theory`; then `claims`.
"""
