import ssl

import pytest

from hubbub.model.programs.proxy_trust import authorities, trusts_environment
from tests.support.each_row import each_row

HERE = ("http://127.0.0.1:8420", "http://[::1]:8420", "http://localhost")


@each_row("url", HERE)
def test_this_machine_needs_no_proxy(url: str) -> None:
    """Proxies of the environment are for other machines, not for the way to this one."""
    assert not trusts_environment(url)
    assert trusts_environment("https://hub.example.com")


@each_row("url", HERE)
def test_nobody_vouches_for_this_machine(url: str) -> None:
    """Where there is no TLS, no authorities are read; should there be TLS after all, nobody is believed."""
    context = authorities(url)
    assert isinstance(context, ssl.SSLContext)
    assert (context.get_ca_certs(), context.verify_mode) == ([], ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:8420", "https://hub.example.com", "http://hub.example.com"]
)
def test_the_system_says_who_vouches_for_others(url: str) -> None:
    """A TLS server proves itself to the authorities that the system knows."""
    found = authorities(url)
    if isinstance(
        found, ssl.SSLContext
    ):  # of this machine itself, where httpx2 would leave out the environment's
        assert found.check_hostname
        assert found.verify_mode is ssl.CERT_REQUIRED
        assert found.get_ca_certs() == ssl.create_default_context().get_ca_certs()
    else:
        assert found is True
