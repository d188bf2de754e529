"""A notebook's parameters cell, read as papermill reads it."""

import ast

import jupytext
from papermill.translators import PythonTranslator

from membership.book.settings import Parameter


def read_parameters_cell(text):
    """The parameters in the order of the cell; compare with `ChapterSettings.describe`."""
    for cell in jupytext.reads(text, "md:myst").cells:
        if "parameters" in cell.metadata.get("tags", []):
            return [
                Parameter(p.name, p.inferred_type_name, ast.literal_eval(p.default), p.help, {})
                for p in PythonTranslator.inspect(cell)
            ]
    raise AssertionError("the notebook has no cell tagged 'parameters'")
