//! Which addresses of the network are public. Everything else is reached only by a grant that names
//! the address itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for, as far as it matters to a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// A host of the internet.
    Public,
    /// This machine.
    Loopback,
    /// A network of its owner: RFC 1918, RFC 6598, unique local.
    Private,
    /// The link, with the metadata services of clouds.
    LinkLocal,
    /// Unspecified, multicast, broadcast, reserved, documentation, benchmarking.
    Special,
}

impl AddressKind {
    /// In a sentence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Special => "reserved",
        }
    }
}

/// The kind of an address. One that carries an IPv4 address (mapped, compatible, translated, 6to4,
/// Teredo) is what it carries, unless that is public: then it is reserved, since nobody needs the
/// detour, with mapped ones alone as the exception.
///
/// Sources: the IANA special-purpose address registries (RFC 6890 and its updates).
#[must_use]
pub fn address_kind(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

fn v4(address: Ipv4Addr) -> AddressKind {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => AddressKind::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => AddressKind::Private,
        (169, 254, _) => AddressKind::LinkLocal,
        (0 | 224..=255, ..)
        | (192, 0, 0 | 2)
        | (192, 88, 99)
        | (198, 18 | 19, _)
        | (198, 51, 100)
        | (203, 0, 113) => AddressKind::Special,
        // The metadata and platform service of one cloud has a public address (168.63.129.16).
        (168, 63, 129) if address.octets()[3] == 16 => AddressKind::LinkLocal,
        _ => AddressKind::Public,
    }
}

fn v6(address: Ipv6Addr) -> AddressKind {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return v4(mapped);
    }
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    let s = address.segments();
    match s {
        [0xfe80..=0xfebf, ..] => AddressKind::LinkLocal,
        // Unique local, and the site-local range that was given up.
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => AddressKind::Private,
        // Compatible (also the unspecified address), translated, local translation.
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        [0x64, 0xff9b, ..] => AddressKind::Special,
        [0x2002, high, low, ..] => carried(high, low),
        // Teredo holds its client's address inverted; all of 2001::/23 is for protocols.
        [0x2001, 0, .., high, low] => carried(!high, !low),
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => AddressKind::Special,
        [0x3fff, second, ..] if second < 0x1000 => AddressKind::Special,
        // Global unicast is 2000::/3; everything else is not assigned.
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        _ => AddressKind::Special,
    }
}

fn carried(high: u16, low: u16) -> AddressKind {
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    match v4(Ipv4Addr::new(a, b, c, d)) {
        AddressKind::Public => AddressKind::Special,
        kind => kind,
    }
}
