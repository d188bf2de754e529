"""A Sphinx extension: several processes read and write the pages, as many as there are cores."""

from typing import Any

import torch
from sphinx_proof.domain import ProofDomain

from membership import limits
from membership.site import overview

MOST = 4
"""Processes at most: each holds PyTorch, and the pages that it reads."""
# They do not say that they are safe: they act before the pages are read, or when all are.
_SILENT = ("sphinx-mathjax-offline", "sphinx_jupyterbook_latex", "sphinx_multitoc_numbering")


class Proofs(ProofDomain):
    """sphinx-proof's, which says that it is safe and cannot be merged."""

    def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
        """There is none: sphinx-proof merges what it knows by itself."""


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx, which calls this, of the processes."""
    app.setup_extension("sphinx_proof")
    app.add_domain(Proofs, override=True)
    app.parallel = min(MOST, limits.cores())
    # Sphinx forks, and PyTorch would wait for threads that stay behind.
    torch.set_num_threads(1)
    app.connect("env-before-read-docs", _prepare)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _prepare(app: Any, env: Any, pages: list[str]) -> None:
    for name in _SILENT:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True
    # Here and once: each process would test every claim.
    if app.parallel > 1 and overview.PAGE in pages:
        overview.parts()
