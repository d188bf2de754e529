"""Which files a run reads its data from, by what its parameters name."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from membership import addresses
from membership.data import registry
from membership.data.locate import locate

_NO_DATA_SET = ("profile", "data_root", "results_dir", "device")


def input_files(parameters: Mapping[str, Any], further: Iterable[str] = ()) -> list[Path]:
    """List the files that a run may read its data from; none for embedded data sets."""
    root = parameters.get("data_root") or None
    values = [value for name, value in parameters.items() if name not in _NO_DATA_SET]
    listed = [part for value in values for part in (value if isinstance(value, list) else [value])]
    found = {file for text in listed if isinstance(text, str) and (file := _file_of(text, root))}
    if found:
        found |= {file for name in further if (file := _file_of(name, root))}
    return sorted(found)


def _file_of(text: str, root: str | None) -> Path | None:
    """The file of a data set under the rule of `membership.data.load`; None where it has none."""
    address = addresses.read(text)
    name = address.place
    if address.is_own:
        path = Path(name).expanduser()
        return path.resolve() if path.exists() else None
    found = locate(name, root) if name in registry.names() else None
    return found.resolve() if found else None
