from membership.book.studies.lood.settings import Settings


def test_quick_has_fifty_networks_a_side_and_twenty_reconstructions():
    settings = Settings.from_values({})
    assert settings.n_networks >= 50
    assert settings.n_reconstructed >= 20


def test_the_networks_have_no_more_records_than_the_process():
    assert Settings.from_values({"n_records": 60}).network_records == 60
