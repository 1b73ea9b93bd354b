//! The gate in a network of its own, with names that lie, change and point inwards.
//!
//! `93.184.216.34` and `.35` stand for the internet; whatever else has a server here must not be
//! reached without a grant of its address.

use openprogram_component::Network;
use openprogram_tests::web::{
    Answer, Asked, Names, Record, Server, WebHost, certificate, in_own_network,
};

const PUBLIC: &str = "93.184.216.34";

/// Names that always answer the same.
fn zone(name: &str, _: usize) -> Vec<Record> {
    let addresses: &[&str] = match name {
        "public.example" => &[PUBLIC],
        "closed.example" => &["93.184.216.35"],
        "private.example" => &["10.0.0.5"],
        "metadata.example" => &["169.254.169.254"],
        "loopback.example" => &["127.0.0.1"],
        "loopback6.example" => &["::1"],
        "mapped.example" => &["::ffff:127.0.0.1"],
        "translated.example" => &["64:ff9b::7f00:1"],
        "unspecified.example" => &["0.0.0.0"],
        "shared.example" => &["100.64.0.1"],
        "mixed.example" => &["10.0.0.5", "127.0.0.1", PUBLIC, "::1"],
        "mixed-closed.example" => &["10.0.0.5", "93.184.216.35", "127.0.0.1"],
        "end.example" => &[PUBLIC],
        "inner-end.example" => &["10.0.0.5"],
        "alias.example" => return chain(&["middle.example", "end.example"], PUBLIC),
        "inner-alias.example" => {
            return chain(&["public.example", "inner-end.example"], "10.0.0.5");
        }
        _ => &[],
    };
    addresses.iter().map(|text| Record::address(text)).collect()
}

fn chain(names: &[&'static str], address: &str) -> Vec<Record> {
    let aliases = names.iter().map(|name| Record::Alias(name));
    aliases.chain([Record::address(address)]).collect()
}

async fn server(address: &str) -> Server {
    let text = format!("this is {address}");
    Server::at(&format!("{address}:80"), None, move |_| Answer::ok(&text)).await
}

/// Servers on everything that is not public.
async fn inner() -> Vec<Server> {
    let mut servers = Vec::new();
    for address in ["127.0.0.1", "10.0.0.5", "169.254.169.254", "[::1]"] {
        servers.push(server(address).await);
    }
    servers
}

#[track_caller]
fn assert_untouched(servers: &[Server]) {
    for server in servers {
        assert_eq!(server.asked(), [], "{}", server.url("/"));
    }
}

#[test]
fn a_public_name_is_looked_up_once_and_reached_under_its_own_name() {
    in_own_network(async {
        let names = Names::start(zone).await;
        let server = server(PUBLIC).await;
        let host = WebHost::new().http("http://public.example/");
        let called = host.get("http://PUBLIC.example.:80/x").await;
        assert!(
            called.seen().ends_with("this is 93.184.216.34"),
            "{}",
            called.all()
        );
        let asked = server.asked();
        assert_eq!(asked[0].head, "GET /x HTTP/1.1\nhost: public.example\n\n");
        assert_eq!(names.lookups("public.example"), 1);
    });
}

#[test]
fn a_name_that_points_inwards_the_second_time_is_refused_the_second_time() {
    in_own_network(async {
        let names = Names::start(|_, nth| {
            vec![Record::address(if nth == 0 { PUBLIC } else { "127.0.0.1" })]
        })
        .await;
        let inner = inner().await;
        let public = server(PUBLIC).await;
        let host = WebHost::new().http("http://rebinding.example/");
        // What was checked is what is connected to: there is no second lookup.
        let called = host.get("http://rebinding.example/").await;
        assert!(
            called.seen().ends_with("this is 93.184.216.34"),
            "{}",
            called.all()
        );
        assert_eq!(names.lookups("rebinding.example"), 1);
        let called = host.get("http://rebinding.example/").await;
        assert_eq!(called.seen(), "error: ErrorCode::DestinationIpProhibited");
        assert_eq!(
            (names.lookups("rebinding.example"), public.asked().len()),
            (2, 1)
        );
        assert_untouched(&inner);
    });
}

#[test]
fn names_of_addresses_that_are_not_public_are_refused_with_the_grant_of_the_address() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let inner = inner().await;
        for (name, address, kind) in [
            ("private.example", "10.0.0.5", "private"),
            ("metadata.example", "169.254.169.254", "link-local"),
            ("loopback.example", "127.0.0.1", "loopback"),
            ("loopback6.example", "::1", "loopback"),
            ("mapped.example", "::ffff:127.0.0.1", "loopback"),
            ("translated.example", "64:ff9b::7f00:1", "loopback"),
            ("unspecified.example", "0.0.0.0", "reserved"),
            ("shared.example", "100.64.0.1", "private"),
            ("inner-alias.example", "10.0.0.5", "private"),
            ("localhost", "127.0.0.1", "loopback"),
        ] {
            let url = format!("http://{name}/latest/meta-data");
            let called = WebHost::new()
                .http(&format!("http://{name}/"))
                .get(&url)
                .await;
            let seen = called.seen();
            assert_eq!(seen, "error: ErrorCode::DestinationIpProhibited", "{name}");
            let bracketed = match address.contains(':') {
                true => format!("[{address}]"),
                false => address.to_owned(),
            };
            let expected = format!(
                "http GET {url}: refused, `{name}` is {address}, which is a {kind} address; such \
                 an address is reached only where a grant names it; needs \
                 `http://{bracketed}/latest/meta-data`"
            );
            assert!(
                called.noted().ends_with(&expected),
                "{name}: {}",
                called.noted()
            );
        }
        assert_untouched(&inner);
    });
}

#[test]
fn the_grant_of_an_address_lets_a_name_through_that_has_it_and_a_narrower_one_does_not() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let server = server("10.0.0.5").await;
        let named = || WebHost::new().http("http://private.example/");
        for narrower in [
            "http://10.0.0.5/v2",
            "http://10.0.0.5:8080/",
            "https://10.0.0.5/",
            "POST http://10.0.0.5/",
            "http://10.0.0.6/",
        ] {
            let called = named()
                .http(narrower)
                .get("http://private.example/v1")
                .await;
            let refused = "error: ErrorCode::DestinationIpProhibited";
            assert_eq!(called.seen(), refused, "{narrower}");
        }
        assert_eq!(server.asked(), []);
        let host = named().http("http://10.0.0.5/v1");
        let called = host.get("http://private.example/v1").await;
        assert!(
            called.seen().ends_with("this is 10.0.0.5"),
            "{}",
            called.all()
        );
        // And the address alone is no grant of the name.
        let host = WebHost::new().http("http://10.0.0.5/");
        let called = host.get("http://private.example/v1").await;
        assert_eq!(called.seen(), "error: ErrorCode::HttpRequestDenied");
        let called = host.get("http://10.0.0.5/v1").await;
        assert!(
            called.seen().ends_with("this is 10.0.0.5"),
            "{}",
            called.all()
        );
    });
}

#[test]
fn of_mixed_answers_only_what_is_public_is_tried() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let inner = inner().await;
        let _public = server(PUBLIC).await;
        let host = WebHost::new().http("http://mixed.example/");
        let called = host.get("http://mixed.example/").await;
        assert!(
            called.seen().ends_with("this is 93.184.216.34"),
            "{}",
            called.all()
        );
        // Nobody listens at the public one, and the others are not tried instead.
        let host = WebHost::new().http("http://mixed-closed.example/");
        let called = host.get("http://mixed-closed.example/").await;
        assert_eq!(called.seen(), "error: ErrorCode::ConnectionRefused");
        assert_untouched(&inner);
    });
}

#[test]
fn a_chain_of_aliases_is_what_it_ends_in() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let _public = server(PUBLIC).await;
        let host = WebHost::new().http("http://alias.example/");
        let called = host.get("http://alias.example/").await;
        assert!(
            called.seen().ends_with("this is 93.184.216.34"),
            "{}",
            called.all()
        );
    });
}

#[test]
fn names_that_do_not_exist_and_servers_that_are_not_there_are_told_apart() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let host = WebHost::new()
            .http("http://nowhere.example/")
            .http("http://closed.example/");
        let called = host.get("http://nowhere.example/").await;
        assert!(
            called.seen().starts_with("error: ErrorCode::DnsError"),
            "{}",
            called.seen()
        );
        let called = host.get("http://closed.example/").await;
        assert_eq!(called.seen(), "error: ErrorCode::ConnectionRefused");
    });
}

#[test]
fn a_redirect_inwards_is_refused_when_the_guest_follows_it() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let inner = inner().await;
        let targets = [
            "http://169.254.169.254/latest/meta-data",
            "http://metadata.example/latest/meta-data",
            "http://[::ffff:169.254.169.254]/latest/meta-data",
            "http://0xa9fea9fe/latest/meta-data",
            "http://public.example@169.254.169.254/",
        ];
        let _public = Server::at(&format!("{PUBLIC}:80"), None, move |asked: &Asked| {
            let nth = asked
                .line()
                .split(['/', ' '])
                .nth(2)
                .and_then(|n| n.parse().ok());
            let target = nth.and_then(|nth: usize| targets.get(nth)).copied();
            let location = format!("location: {}", target.unwrap_or_default());
            Answer::of("307 Temporary Redirect", &[&location], "")
        })
        .await;
        let host = WebHost::new().http("http://public.example/");
        for (nth, target) in targets.iter().enumerate() {
            let called = host.get(&format!("http://public.example/{nth}")).await;
            assert!(called.seen().contains(target), "{}", called.all());
            let followed = host.get(target).await;
            let seen = followed.seen();
            let refused = ["HttpRequestDenied", "HttpRequestUriInvalid"];
            assert!(
                refused.iter().any(|code| seen.ends_with(code)),
                "{target}: {seen}"
            );
        }
        assert_untouched(&inner);
    });
}

#[test]
fn a_server_has_to_show_a_certificate_for_the_name_that_was_granted() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let good = certificate("public.example");
        let other = certificate("elsewhere.example");
        let network = Network::default().with_root(good.root.clone()).unwrap();
        let network = network.with_root(other.root.clone()).unwrap();
        let answer = |_: &Asked| Answer::ok("hello");
        let _good = Server::at(&format!("{PUBLIC}:443"), Some(&good), answer).await;
        let _other = Server::at(&format!("{PUBLIC}:444"), Some(&other), answer).await;
        let host = WebHost::new()
            .http("https://public.example/")
            .network(network);
        let host = host
            .http("https://public.example:444/")
            .http(&format!("https://{PUBLIC}/"));
        let called = host.get("https://public.example/").await;
        assert!(called.seen().ends_with("hello"), "{}", called.all());
        for url in [
            "https://public.example:444/".to_owned(),
            format!("https://{PUBLIC}/"),
        ] {
            let called = host.get(&url).await;
            assert_eq!(
                called.seen(),
                "error: ErrorCode::TlsCertificateError",
                "{url}"
            );
            assert!(
                called.noted().contains("not valid for name"),
                "{}",
                called.noted()
            );
        }
    });
}

#[test]
fn a_secret_is_not_sent_unencrypted_to_another_machine() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let plain = server(PUBLIC).await;
        let good = certificate("public.example");
        let secured = Server::at(&format!("{PUBLIC}:443"), Some(&good), |_| Answer::ok("")).await;
        let network = Network::default().with_root(good.root.clone()).unwrap();
        let host = WebHost::new()
            .network(network)
            .http("http://public.example/");
        let host = host.http("https://public.example/");
        let host = host.secret("KEY=https://public.example/", Some("s3cr3t-value"));
        let called = host.get("https://public.example/").await;
        assert!(called.seen().starts_with("200"), "{}", called.all());
        let asked = secured.asked();
        assert_eq!(
            asked[0].header("authorization"),
            Some("Bearer s3cr3t-value")
        );
        let host = host.secret("KEY=http://public.example/", Some("s3cr3t-value"));
        let called = host.get("http://public.example/").await;
        assert_eq!(called.seen(), "error: ErrorCode::HttpRequestDenied");
        let expected = "`KEY` is not sent without encryption to another machine; use https";
        assert!(called.noted().ends_with(expected), "{}", called.noted());
        assert_eq!(plain.asked(), []);
    });
}

#[test]
fn an_answer_of_10_gigabytes_from_the_internet_is_cut() {
    in_own_network(async {
        let _names = Names::start(zone).await;
        let _public = Server::at(&format!("{PUBLIC}:80"), None, |_| Answer::Repeated {
            start: b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n".to_vec(),
            piece: vec![b'x'; 1 << 20],
            pause: std::time::Duration::ZERO,
        })
        .await;
        let host = WebHost::new().http("http://public.example/");
        let arguments = serde_json::json!({"url": "http://public.example/"});
        let called = host.call("size", arguments).await;
        let end = "then HTTP response body size exceeds limit: 67108864 bytes";
        assert!(called.seen().ends_with(end), "{}", called.seen());
        assert!(
            called.report.ingress_bytes < 80 << 20,
            "{}",
            called.report.ingress_bytes
        );
    });
}
