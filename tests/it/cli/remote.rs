//! Components that come by http and https, from servers that are honest, absent or hostile.

use std::fs;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram::app::App;
use openprogram::fetch::WebOptions;
use openprogram::settings::Settings;
use openprogram_tests::cli::Project;
use openprogram_tests::many;
use openprogram_tests::serving::{Answer, Server};
use openprogram_tests::web::{Certificate, certificate};
use serde_json::json;

use super::install::{done, lock, refused, run_shop, stored};
use super::project;

/// A server that has `shop.wasm` as it is and nothing else.
pub(super) fn shop_server() -> Server {
    Server::start(|asked| match asked.path.as_str() {
        "/shop.wasm" => Answer::ok(many::component("shop", 1, 1)),
        _ => Answer::of(404, "nothing here\nand nothing there"),
    })
}

#[test]
fn a_component_is_added_by_its_url_pinned_by_digest_and_fetched_again_in_a_clone() {
    let server = shop_server();
    let url = server.url("/shop.wasm");
    let project = project();
    let added = done(&project, &["add", &url]);
    assert!(
        added
            .stderr
            .contains(&format!("installed `shop` from `{url}`")),
        "{added:?}"
    );
    let locked = lock(&project);
    assert!(locked.contains(&format!("source = \"{url}\"")), "{locked}");
    assert_eq!(run_shop(&project), json!(2));
    done(&project, &["update"]);
    assert_eq!(lock(&project), locked);

    let fetched = server.asked().len();
    fs::remove_dir_all(project.path(".openprogram")).unwrap();
    let told = done(&project, &["doctor"]).stdout;
    assert!(
        told.contains("its bytes are not in the state folder yet"),
        "{told}"
    );
    assert_eq!(server.asked().len(), 0, "{fetched} before");
    assert_eq!(run_shop(&project), json!(2));
    assert_eq!(server.asked().len(), 1);
    // From now on the server is not needed.
    drop(server);
    assert_eq!(run_shop(&project), json!(2));
}

#[test]
fn what_the_url_serves_later_is_taken_by_update_alone() {
    let serve = |add: u32| Server::start(move |_| Answer::ok(many::component("shop", 1, add)));
    let (first, second) = (serve(1), serve(66));
    let project = project();
    done(&project, &["add", &first.url("/shop.wasm")]);
    // The same place with other bytes.
    let moved = lock(&project).replace(&first.host(), &second.host());
    let project = project.file("openprogram.lock", &moved);
    fs::remove_file(stored(&project)).unwrap();
    fs::remove_dir_all(project.path(".openprogram/cache")).unwrap();
    let run = ["run", "add-0", "--arg", "number=1"];
    let said = refused(&project, 2, &run);
    assert!(said.contains("wrong digest: the bytes of `shop`"), "{said}");
    assert!(
        said.contains("`openprogram update shop` takes what it is now"),
        "{said}"
    );
    assert_eq!(lock(&project), moved);
    done(&project, &["update", "shop", "--yes"]);
    assert_eq!(run_shop(&project), json!(67));
    assert_ne!(lock(&project), moved);
}

#[test]
fn a_server_that_cannot_be_used_is_named_with_the_way_there() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/gone" => Answer::of(404, "nothing here\nand nothing there"),
        "/page" => Answer::of(500, "<html>broken</html>"),
        "/escape" => Answer::of(403, "no \u{1b}[31mway\u{1b}[0m \u{202e}"),
        "/loop" => Answer::moved("/loop"),
        "/elsewhere" => Answer::moved("http://192.0.2.1/x.wasm"),
        "/metadata" => Answer::moved("http://169.254.169.254/latest"),
        "/file" => Answer::moved("file:///etc/passwd"),
        "/password" => Answer::moved("https://me:hunter2@192.0.2.1/"),
        "/nowhere" => Answer::of(302, ""),
        "/away" => Answer::moved("/gone"),
        "/text" => Answer::ok("hello"),
        "/empty" => Answer::ok(""),
        "/huge" => Answer::Endless {
            claimed: Some(10 << 30),
        },
        "/endless" => Answer::Endless { claimed: None },
        "/module" => Answer::ok(b"\0asm\x01\0\0\0".to_vec()),
        other => Answer::of(400, format!("what is {other}?")),
    });
    let project = project();
    let mut shown = String::new();
    for path in [
        "gone",
        "page",
        "escape",
        "loop",
        "elsewhere",
        "metadata",
        "file",
        "password",
        "nowhere",
        "away",
        "text",
        "empty",
        "huge",
        "endless",
        "module",
    ] {
        let outcome = project.run(&["add", &server.url(&format!("/{path}"))]);
        assert_ne!(outcome.code, 0, "{path}: {outcome:?}");
        let said = project
            .shown(&outcome.stderr)
            .replace(&server.host(), "<server>");
        shown.push_str(&format!("# {path}: exit {}\n{said}\n", outcome.code));
    }
    assert!(!shown.contains("hunter2"), "{shown}");
    let closed = {
        let server = shop_server();
        server.url("/shop.wasm")
    };
    for source in [
        closed.as_str(),
        "http://192.0.2.1/shop.wasm",
        "https://me:hunter2@192.0.2.1/shop.wasm",
        "ftp://192.0.2.1/shop.wasm",
    ] {
        let outcome = project.run(&["add", source]);
        let code = outcome.code;
        assert_ne!(code, 0, "{outcome:?}");
        let port = closed
            .trim_start_matches("http://")
            .trim_end_matches("/shop.wasm");
        let said = project.shown(&outcome.stderr).replace(port, "<closed>");
        shown.push_str(&format!("# exit {code}\n{said}\n"));
    }
    insta::assert_snapshot!("remote_refused", shown);
    assert!(!project.path("openprogram.lock").exists());
}

/// What adding a source says, with these options and no process in between.
async fn add(project: &Project, source: &str, web: WebOptions) -> Result<String, String> {
    let settings = Settings::load(&project.folder(), &|_| None).unwrap();
    let app = App::with_web(settings, web);
    let pending = app.check_add(source, None, &mut std::io::sink()).await;
    match pending.and_then(|pending| app.add(pending)) {
        Ok(added) => Ok(added.entry.source),
        Err(error) => Err(format!("{error:#}")),
    }
}

fn trusting(certificate: &Certificate) -> WebOptions {
    let root = STANDARD.encode(&certificate.root);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{root}\n-----END CERTIFICATE-----\n");
    WebOptions {
        extra_roots_pem: Some(pem.into_bytes()),
        ..WebOptions::default()
    }
}

#[tokio::test]
async fn tls_is_verified_and_never_left() {
    let plain = shop_server();
    let to_plain = plain.url("/shop.wasm");
    let certificate = certificate("127.0.0.1");
    let trusting = || trusting(&certificate);
    let secure = Server::start_tls(certificate.server(), move |asked| {
        match asked.path.as_str() {
            "/shop.wasm" => Answer::ok(many::component("shop", 1, 1)),
            "/moved" => Answer::moved("/shop.wasm"),
            _ => Answer::moved(to_plain.clone()),
        }
    });
    let project = project();
    let unknown = add(&project, &secure.url("/shop.wasm"), WebOptions::default()).await;
    let unknown = unknown.unwrap_err();
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    let other_name = secure.url("/shop.wasm").replace("127.0.0.1", "127.0.0.2");
    assert!(add(&project, &other_name, trusting()).await.is_err());
    let left = add(&project, &secure.url("/left"), trusting())
        .await
        .unwrap_err();
    assert!(left.contains("redirects from https to `http://"), "{left}");
    assert_eq!(plain.asked(), []);
    assert!(!project.path("openprogram.lock").exists());
    for path in ["/shop.wasm", "/moved"] {
        let url = secure.url(path);
        let fresh = super::project();
        assert_eq!(add(&fresh, &url, trusting()).await, Ok(url));
    }
}

#[tokio::test]
async fn a_silent_and_an_endless_server_end_in_their_own_limits() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/silent" => Answer::Silence,
        _ => Answer::Endless { claimed: None },
    });
    let short = Duration::from_millis(50);
    let idle = WebOptions {
        idle: short,
        ..WebOptions::default()
    };
    let project = project();
    let said = add(&project, &server.url("/silent"), idle)
        .await
        .unwrap_err();
    assert!(
        said.contains("was silent for more than 50 ms (`fetch_idle_ms`)"),
        "{said}"
    );
    let wall = WebOptions {
        wall: Duration::from_nanos(1),
        ..WebOptions::default()
    };
    let said = add(&project, &server.url("/endless"), wall)
        .await
        .unwrap_err();
    assert!(said.contains("(`fetch_wall_ms`)"), "{said}");
}

/// Each piece comes in time, and all of them never would.
#[tokio::test]
async fn a_server_that_sends_byte_by_byte_ends_in_the_limit_of_all() {
    let server = Server::start(|_| Answer::Dripping(20));
    let options = WebOptions {
        idle: Duration::from_secs(20),
        wall: Duration::from_millis(300),
        ..WebOptions::default()
    };
    let project = project();
    let said = add(&project, &server.url("/slow"), options).await;
    let said = said.unwrap_err();
    assert!(said.contains("(`fetch_wall_ms`)"), "{said}");
}

#[tokio::test]
async fn lengths_that_lie_heads_without_end_and_packed_answers_give_no_component() {
    let bytes = many::component("shop", 1, 1);
    let raw = move |head: &str, body: &[u8]| {
        let mut all = format!("HTTP/1.1 200 X\r\n{head}\r\n").into_bytes();
        all.extend_from_slice(body);
        Answer::Raw(all)
    };
    let server = Server::start(move |asked| {
        let n = bytes.len();
        match asked.path.as_str() {
            "/shorter" => raw(&format!("Content-Length: {}\r\n", n + 1), &bytes),
            "/longer" => raw("Content-Length: 20\r\n", &bytes),
            "/two-lengths" => raw(
                &format!("Content-Length: {n}\r\nContent-Length: 8\r\n"),
                &bytes,
            ),
            "/chunk" => raw(
                "Transfer-Encoding: chunked\r\n",
                b"FFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n",
            ),
            "/head" => raw(&format!("X-Long: {}\r\n", "x".repeat(4 << 20)), &bytes),
            "/heads" => raw(&"X-Many: x\r\n".repeat(100_000), &bytes),
            // The head of what is packed; it is not unpacked.
            "/packed" => raw(
                "Content-Encoding: gzip\r\n",
                b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
            ),
            _ => raw("Content-Length: 0\r\n", b""),
        }
    });
    let project = project();
    for (path, part) in [
        ("shorter", ""),
        ("longer", "cannot be loaded"),
        ("two-lengths", ""),
        ("chunk", ""),
        ("head", ""),
        ("heads", ""),
        ("packed", "cannot be loaded"),
    ] {
        let url = server.url(&format!("/{path}"));
        let said = add(&project, &url, WebOptions::default()).await;
        let said = said.expect_err(path);
        assert!(said.contains(part), "{path}: {said}");
        assert!(said.len() < 2_000, "{path}: {said}");
    }
    assert!(!project.path("openprogram.lock").exists());
}

/// TLS is what keeps a redirect from the machines of one's own network: none of them is asked without.
#[tokio::test]
async fn a_redirect_of_https_leads_to_no_address_without_tls() {
    let inside = Server::start(|_| Answer::ok(many::component("shop", 1, 1)));
    let port = inside.host().split_once(':').unwrap().1.to_owned();
    let certificate = certificate("127.0.0.1");
    let targets = [
        inside.url("/x"),
        inside.url("/x").replace("127.0.0.1", "localhost"),
        inside.url("/x").replace("http:", "https:"),
        format!("https://[::ffff:127.0.0.1]:{port}/x"),
        format!("https://me:hunter2@127.0.0.1:{port}/x"),
    ];
    let shared = targets.clone();
    let secure = Server::start_tls(certificate.server(), move |asked| {
        let at = asked.path.trim_start_matches('/').parse::<usize>();
        Answer::moved(shared[at.unwrap()].clone())
    });
    let project = project();
    for (at, target) in targets.iter().enumerate() {
        let url = secure.url(&format!("/{at}"));
        let said = add(&project, &url, trusting(&certificate)).await;
        let said = said.expect_err(target);
        assert!(!said.contains("hunter2"), "{said}");
    }
    assert_eq!(inside.asked(), []);
}
