"""Public addresses."""

from shellgate.ip_addresses import AddressReach, is_public, reach
from tests.support.each_row import each_row


@each_row(
    "address",
    [
        "1.1.1.1",
        "140.82.112.3",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2002:101:101::1",
    ],
)
def test_public_addresses(address: str) -> None:
    """An address of the internet is public, also where it is an IPv4 address in the clothes of IPv6."""
    assert is_public(address)


@each_row(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
        *(
            "169.254.169.254",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.18.0.1",
            "192.0.0.192",
            "192.0.0.8",
        ),
        *(
            "::",
            "::1",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001:2::1",
            "3fff::1",
        ),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::7f00:1"),
        *(
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2002:a00:1::1",
            "2001:0:1:2::3",
        ),
        *("", "localhost", "2130706433", "0x7f.1", "127.1", "1.1.1.1.1", "example.org"),
    ],
)
def test_private_addresses(address: str) -> None:
    """Private, loopback, link-local, shared, multicast and reserved addresses are not, in whatever IPv6 form."""
    assert not is_public(address)


@each_row(
    ("address", "expected"),
    [
        *(
            (address, AddressReach.PRIVATE)
            for address in ("10.0.0.1", "172.31.0.1", "192.168.1.1", "fd12::1", "fc00::1")
        ),
        *((address, AddressReach.PRIVATE) for address in ("::ffff:10.0.0.1", "::10.0.0.1", "2002:a00:1::1")),
        *(
            (address, AddressReach.LOCAL)
            for address in ("127.0.0.1", "::1", "169.254.169.254", "fe80::1", "100.64.0.1")
        ),
        *(
            (address, AddressReach.LOCAL)
            for address in ("fd00:ec2::254", "168.63.129.16", "172.32.0.1.x", "", "localhost")
        ),
        *(
            (address, AddressReach.PUBLIC)
            for address in ("1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1")
        ),
    ],
)
def test_who_is_at_an_address(address: str, expected: AddressReach) -> None:
    """Somebody's own network is private; this machine, its link and where its provider keeps its secrets are local."""
    assert reach(address) is expected
