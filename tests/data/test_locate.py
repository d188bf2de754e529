"""Where files are looked for."""

import pytest

from membership.data.locate import locate, looked_in, places
from membership.errors import InputError


@pytest.fixture
def folders(tmp_path, data_folder, monkeypatch):
    root, named = tmp_path / "root", tmp_path / "named"
    root.mkdir()
    named.mkdir()
    monkeypatch.setenv("MEMBERSHIP_DATA", str(named))
    return [root, named, data_folder]


def test_root_then_environment_then_project(folders):
    root = folders[0]
    assert places(root) == folders
    assert places("") == places(None) == folders[1:]
    assert locate("toy", root) is None
    for folder in reversed(folders):
        (folder / "toy.npz").touch()
        assert locate("toy", root) == folder / "toy.npz"


def test_message_names_the_file_and_every_folder(folders):
    message = looked_in("toy", folders[0])
    assert message.startswith("toy.npz is not in ")
    assert all(str(folder) in message for folder in folders)


def test_a_folder_that_is_none_is_refused(tmp_path, data_folder, monkeypatch):
    with pytest.raises(InputError, match="data_root='/nowhere' is no folder"):
        places("/nowhere")
    monkeypatch.setenv("MEMBERSHIP_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"\$MEMBERSHIP_DATA='.*gone' is no folder"):
        places()
