"""Ye et al. (2024): leave-one-out distinguishability through Gaussian processes, file by file.

`settings` says what is run, `experiment` has the records and the kernels, `networks` retrains real
networks with a record left out, and the folder `evidence` gathers all that is kept; `measures`
reads it. Then a file a question of the page: `influenced` (which query does a record influence
most), `queries` (does any query leak more than the record), `leakage` (which records leak, and who
sees it), `laws` (which law of wide networks predicts trained ones), `activations` (ReLU against
GeLU), `one_inverse` (what one inverse for all records saves), `reconstruction`, `statements` (the
theorem and the propositions against numbers). ``exhibits.toml`` declares what they show, of what
`reads` says.
`claims` has this book's own claims and the list of all, `claim_tests` those of the paper,
`claim_numbers` what both count.
"""
