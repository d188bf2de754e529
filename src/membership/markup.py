"""Pages that need nothing beside them: where their templates lie, and files as addresses."""

import base64

import jinja2


def templates(*packages: str) -> jinja2.Environment:
    """The templates of packages; what is put into one is escaped, a missing name is an error."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def embedded(kind: str, content: bytes) -> str:
    """An address that holds a picture of a kind, such as ``svg+xml``."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
