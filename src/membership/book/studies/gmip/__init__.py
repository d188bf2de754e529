"""Leemann et al. (2023), Gaussian membership inference privacy, file by file.

`settings` says what is run, `setups` how it differs from the paper (Tables 1 to 4), `experiment`
trains and audits, `evidence` names what is gathered. Then by question, evidence before tables, and
each table before what is said and drawn of it: `theory` (Figure 1, Table 5: what the formulas
give), `audit` (Figures 2, 4 and 5: does the attack reach the level), `moments` (rank, p-values, the
gap on real gradients), `several_steps`, `law_of_k` (single records), `utility` (Figure 3: what
privacy costs), `shared_steps` (noise that classes share), `noise` (the best attack under noise),
`spectrum` (how much noise it takes), `training_promise` (all steps attacked), `loss_attack` (Figure
6, and time), `rivals` and `rival_table` (gradient and loss on the same models), `forensics` (the
authors' pictures). `claims` and `formula_tests` decide the claims; ``exhibits.toml`` declares what
each exhibit asks and shows, of what `reads` says.
"""
