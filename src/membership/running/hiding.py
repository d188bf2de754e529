"""What is published names no folder of this machine: own data go by name, the rest is cut."""

import html
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membership import addresses, paths


def own_data(parameters: Mapping[str, Any]) -> list[str]:
    """The names, without their folders, of the reader's own data among a run's parameters."""
    own: list[str] = []
    addresses.changed(parameters, lambda a: own.append(Path(a.place).name) or a)
    return sorted(set(own))


def hidden(whole: Any, parameters: Mapping[str, Any]) -> Any:
    """Plain JSON values with this machine's folders cut from every string.

    What the run's parameters place absolutely is shown by its name alone.
    """
    return _walk(whole, [*_own(parameters), *_machine()])


def _walk(whole: Any, rules: list[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(whole, dict):
        return {_walk(key, rules): _walk(value, rules) for key, value in whole.items()}
    if isinstance(whole, list):
        return [_walk(item, rules) for item in whole]
    if not isinstance(whole, str) or os.sep not in whole:
        return whole
    for pattern, shown in rules:
        whole = pattern.sub(lambda _, shown=shown: shown, whole)
    return whole


def _own(parameters: Mapping[str, Any]) -> list[tuple[re.Pattern[str], str]]:
    named = [value for v in parameters.values() for value in (v if isinstance(v, list) else [v])]
    # Of 'model@place', too.
    texts = [
        part
        for value in named
        if isinstance(value, str)
        for part in (value, value.partition("@")[2])
    ]
    places = {addresses.read(text).place for text in texts}
    return _rules((p, Path(p).name) for p in places if os.path.isabs(p) and Path(p).name)


def _machine() -> list[tuple[re.Pattern[str], str]]:
    """The project, the environment and the home folder, wherever they are mentioned."""
    root = str(paths.project_root())
    places = [(sys.prefix, Path(sys.prefix).name), (f"{root}/", ""), (root, ".")]
    places.append((str(Path.home()), "~"))
    return _rules((place, shown) for place, shown in places if len(Path(place).parts) > 1)


def _rules(places: Any) -> list[tuple[re.Pattern[str], str]]:
    """The longest first; as text, as Python and JSON write it within quotes, and as HTML."""
    rules = []
    for place, shown in sorted(places, key=lambda pair: -len(pair[0])):
        forms = {place, json.dumps(place)[1:-1], repr(place)[1:-1], html.escape(place)}
        forms.add(place.encode("unicode_escape").decode())
        # Not within what goes on, such as a picture's bytes in base64.
        ends = "" if place.endswith(os.sep) else r"(?![\w-])"
        rules += [(re.compile(rf"(?<![\w+]){re.escape(form)}{ends}"), shown) for form in forms]
    return rules
