"""The machine says how much memory it has, whatever the system tells."""

from membership import memory


def test_the_available_memory_is_some(monkeypatch, tmp_path):
    assert memory.available() > 2**20
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "absent")
    assert memory.available() > 2**20
