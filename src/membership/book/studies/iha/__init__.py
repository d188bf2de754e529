"""Suri, Zhang and Evans (2024): the inverse Hessian attack.

From the top: ``settings`` (sizes, and what data they take), ``subjects`` (which data sets a run
has), ``experiment`` (records, networks, training), ``forms``, ``left_out``, ``neighbours`` and
``damped`` (what is kept of the models), ``evidence`` (every file of it), ``scores`` and
``evaluation`` (from evidence to scores and rows).

Then a file a question of the page, each with its tables, its sentences and its pictures:
``against_references``, ``inversion``, ``matrices``, ``costs``, ``score_taken_apart``,
``clean_game``, ``whole_game`` and ``by_damping`` (with the numbers of ``further_records`` and
``probability``), ``leave_one_out`` and ``small_game``, ``theory``, ``noise``, ``shuffled`` and
``expected``. What they show, of what ``reads`` says, is declared in ``exhibits.toml``, and tested
in ``claims``.
"""
