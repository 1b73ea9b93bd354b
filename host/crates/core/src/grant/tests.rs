//! Grants read, written, matched.

use std::fmt::Display;
use std::str::FromStr;

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn line<T: FromStr<Err = GrantTextError> + Display>(text: &str, expected: &str) {
    let read: Grant<T> = text.parse().unwrap();
    assert_eq!(read.to_string(), expected);
    let again: Grant<T> = expected.parse().unwrap();
    assert_eq!(again.to_string(), expected);
}

#[test]
fn a_grant_is_written_as_it_is_read_in_its_normal_form() {
    line::<HttpGrant>(
        "https://API.Example.com:443/v1",
        "https://api.example.com/v1",
    );
    line::<HttpGrant>(
        "post,GET https://bücher.example./a/../b/",
        "GET,POST https://xn--bcher-kva.example/b/",
    );
    line::<HttpGrant>("HEAD,GET http://0x7f.1:8080", "http://127.0.0.1:8080/");
    line::<HttpGrant>(
        "ask * https://[::FFFF:1.2.3.4]",
        "ask * https://[::ffff:1.2.3.4]/",
    );
    line::<FolderGrant>("ro:data", "ro:data");
    line::<FolderGrant>("ask rw:/var/x y=/out", "ask rw:/var/x y=/out");
    line::<FolderGrant>("ro:a=b=/c", "ro:a=b=/c");
    line::<VariableGrant>("LANG", "LANG");
    line::<ModelGrant>("openai:gpt", "openai:gpt=100000");
    line::<ModelGrant>("a:b=5", "a:b=5");
    line::<CallGrant>("ask desk.refund", "ask desk.refund");
    line::<SecretGrant>("KEY=https://a.b/v1", "KEY=https://a.b/v1");
    line::<SecretGrant>("KEY=https://a.b X-Api-Key", "KEY=https://a.b/ x-api-key");
    line::<SecretGrant>(
        "KEY=https://a.b Authorization: Token",
        "KEY=https://a.b/ authorization: Token",
    );
}

#[track_caller]
fn refused<T: FromStr<Err = GrantTextError> + std::fmt::Debug>(text: &str, expected: Expect) {
    let read: Result<Grant<T>, _> = text.parse();
    expected.assert_eq(&read.unwrap_err().to_string());
}

#[test]
fn a_line_that_is_no_place_of_the_network_says_what_would_be() {
    refused::<HttpGrant>(
        "api.example.com",
        expect!["`api.example.com` has no scheme; write `https://` or `http://` before it"],
    );
    refused::<HttpGrant>(
        "localhost:8080",
        expect!["`localhost:8080` has no scheme; write `https://` or `http://` before it"],
    );
    refused::<HttpGrant>(
        "https://*.a.b/",
        expect![
            "`https://*.a.b/` holds `?`, `#`, `*` or a space; a grant is `[METHOD[,METHOD] ]URL` with the beginning of a path"
        ],
    );
    refused::<HttpGrant>(
        "https://u:p@a.b/",
        expect!["a URL holds a user or a password; nothing is sent with one"],
    );
    refused::<HttpGrant>(
        "ftp://a.b/",
        expect!["`ftp://a.b/` has a scheme other than http and https"],
    );
    refused::<HttpGrant>(
        "https://a.b:0/",
        expect!["`https://a.b:0/` has port 0, which no server has"],
    );
    refused::<HttpGrant>(
        "G€T https://a.b/",
        expect!["`G€T` is not an HTTP method; write for example `GET,POST`, or `*` for all"],
    );
    refused::<HttpGrant>(
        "https://a.b/%2Fx",
        expect![
            "the path of `https://a.b/%2Fx` hides a separator, a zero byte or a step upwards in an encoded form or before `;`"
        ],
    );
}

#[test]
fn a_line_that_is_no_other_grant_says_what_would_be() {
    refused::<FolderGrant>(
        "data",
        expect![
            "`data` is not a folder with its access; write `ro:PATH` or `rw:PATH`, and `=GUEST-PATH` behind it to give it another name"
        ],
    );
    refused::<FolderGrant>("ro:", expect!["`ro:` names no folder"]);
    refused::<FolderGrant>(
        "ro:../x",
        expect![
            "`ro:../x` leads upwards for the guest; write `=GUEST-PATH` behind it, for example `=x`"
        ],
    );
    refused::<VariableGrant>(
        "A=B",
        expect!["`A=B` is not the name of a variable of the environment"],
    );
    refused::<ModelGrant>(
        "gpt",
        expect![
            "`gpt` is not a model; write `PROVIDER:MODEL`, and `=TOKENS` behind it for another budget than 100000"
        ],
    );
    refused::<ModelGrant>(
        "a:b=many",
        expect!["`many` in `a:b=many` is not a number of tokens"],
    );
    refused::<SecretGrant>(
        "KEY",
        expect![
            "`KEY` is not a secret; write `VARIABLE=URL`, and ` HEADER` or ` HEADER: PREFIX` behind it for another header than `authorization: Bearer`"
        ],
    );
    refused::<SecretGrant>(
        "KEY=https://a.b/ Content-Length",
        expect![
            "`content-length` in `KEY=https://a.b/ Content-Length` is not a header for a secret"
        ],
    );
    refused::<CallGrant>("", expect!["`` is not a function"]);
    refused::<CallGrant>("a\u{7}", expect!["a grant holds a control character"]);
}

#[test]
fn a_request_is_covered_by_scheme_host_port_path_and_method() {
    let grants = Grants {
        http: vec![
            "ask * https://a.b/".parse().unwrap(),
            "https://a.b/v1".parse().unwrap(),
            "POST http://127.0.0.1:8080/x/".parse().unwrap(),
        ],
        ..Grants::default()
    };
    let covered = |method: &str, url: &str| {
        let target = HttpTarget::parse(url).unwrap();
        let grant = grants.http_for(method, &target);
        grant.map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    for (method, url, expected) in [
        ("GET", "https://A.B./v1/x?q#f", "https://a.b/v1"),
        ("GET", "https://a.b/v1", "https://a.b/v1"),
        ("GET", "https://a.b/v10", "ask * https://a.b/"),
        ("GET", "https://a.b/v1/../w", "ask * https://a.b/"),
        ("GET", "https://a.b/v1/%2e%2E/w", "ask * https://a.b/"),
        ("POST", "https://a.b/v1", "ask * https://a.b/"),
        ("GET", "http://a.b/v1", "-"),
        ("GET", "https://a.b:444/v1", "-"),
        ("GET", "https://c.a.b/v1", "-"),
        (
            "POST",
            "http://2130706433:8080/x/y",
            "POST http://127.0.0.1:8080/x/",
        ),
        ("POST", "http://127.0.0.1:8080/x", "-"),
        ("post", "http://127.0.0.1:8080/x/y", "-"),
        ("POST", "http://[::ffff:127.0.0.1]:8080/x/y", "-"),
    ] {
        assert_eq!(covered(method, url), expected, "{method} {url}");
    }
    for url in [
        "https://a.b/v1/..%2fw",
        "https://a.b/v1\\..%5Cw",
        "https://@:x@a.b/",
    ] {
        assert!(HttpTarget::parse(url).is_err(), "{url}");
    }
}

#[test]
fn the_narrowest_grant_of_a_request_is_read_back_and_covers_it() {
    for byte in 0x21..0x7f_u8 {
        let url = format!("https://a.b/x{}y?q=*", char::from(byte));
        let Ok(target) = HttpTarget::parse(&url) else {
            assert_eq!(byte, b'\\', "{url}");
            continue;
        };
        let line = HttpGrant::for_request("POST", &target).to_string();
        let grant: HttpGrant = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert!(grant.covers("POST", &target), "{line}");
    }
}

#[test]
fn an_error_about_a_url_repeats_neither_password_nor_query() {
    for url in [
        "http://u:p4ss@h:99999/?k=p4ss",
        "ftp://u:p4ss@h/?p4ss",
        "https://u:p4ss@/",
    ] {
        let error = HttpTarget::parse(url).unwrap_err().to_string();
        assert!(!error.contains("p4ss"), "{error}");
    }
}

#[test]
fn only_hosts_of_the_internet_are_public() {
    for (address, expected) in [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("::ffff:8.8.8.8", "public"),
        ("127.8.0.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("10.0.0.1", "private"),
        ("172.31.0.1", "private"),
        ("172.32.0.1", "public"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd00::1", "private"),
        ("fec0::1", "private"),
        ("169.254.169.254", "link-local"),
        ("::ffff:169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fd00:ec2::254", "private"),
        ("168.63.129.16", "link-local"),
        ("0.0.0.0", "reserved"),
        ("::", "reserved"),
        ("255.255.255.255", "reserved"),
        ("224.0.0.1", "reserved"),
        ("ff02::1", "reserved"),
        ("192.0.2.1", "reserved"),
        ("198.18.0.1", "reserved"),
        ("2001:db8::1", "reserved"),
        ("2001::8.8.8.8", "reserved"),
        ("2002:808:808::", "reserved"),
        ("64:ff9b::8.8.8.8", "reserved"),
        ("100::1", "reserved"),
        ("5f00::1", "reserved"),
    ] {
        let kind = address_kind(address.parse().unwrap());
        assert_eq!(kind.as_str(), expected, "{address}");
    }
}

#[test]
fn the_same_grants_have_the_same_text() {
    let grants = |http: [&str; 2]| Grants {
        http: http.map(|line| line.parse().unwrap()).to_vec(),
        env: vec!["LANG".parse().unwrap()],
        ask_user: true,
        ..Grants::default()
    };
    let text = grants(["https://b.c", "POST https://a.b"]).canonical_text();
    assert_eq!(
        text,
        "env LANG\nhttp POST https://a.b/\nhttp https://b.c/\nask_user true\n"
    );
    assert_eq!(
        text,
        grants(["POST https://A.b/", "https://b.c:443"]).canonical_text()
    );
    assert!(Grants::default().is_empty() && Grants::default().canonical_text().is_empty());
}

#[test]
fn the_command_of_a_grant_is_safe_in_a_shell() {
    for (kind, text, expected) in [
        (
            GrantKind::Dirs,
            "ro:it's here",
            r"openprogram grant shop --dir 'ro:it'\''s here'",
        ),
        (
            GrantKind::Http,
            "https://a.b/",
            "openprogram grant shop --http https://a.b/",
        ),
        (
            GrantKind::Http,
            "POST https://a.b/$x",
            "openprogram grant shop --http 'POST https://a.b/$x'",
        ),
        (
            GrantKind::AskUser,
            "true",
            "openprogram grant shop --ask-user",
        ),
    ] {
        assert_eq!(grant_command("shop", kind, text), expected);
    }
    let no_option = grant_command("shop", GrantKind::Env, "--yes");
    assert_eq!(no_option, "openprogram grant shop --env=--yes");
    assert_eq!(shell_word("=sh"), "'=sh'");
}

#[test]
fn a_command_of_which_not_everything_is_seen_is_not_offered() {
    let copied = |line: &str| copied_grant_command("shop", GrantKind::Models, line);
    let command = "openprogram grant shop --use-model 'a:b c'";
    assert_eq!(copied("a:b c"), Some(command.to_owned()));
    for hidden in ["\n", "\t", "\r", "\u{1b}[2J", "\u{202e}", "\u{200b}", "\0"] {
        assert_eq!(copied(&format!("a:b{hidden}c")), None, "{hidden:?}");
    }
}

#[test]
fn an_access_is_read_as_it_was_written() {
    let granted = Access::granted(GrantKind::Http, "GET https://a.b/x", "https://a.b/");
    let refused = Access::refused(
        GrantKind::Env,
        "LANG",
        "not granted",
        Some("LANG".to_owned()),
    );
    for access in [granted, refused] {
        assert_eq!(Access::from_json(&access.to_json()), Some(access));
    }
    assert_eq!(Access::from_json(&crate::Json::Null), None);
}

#[test]
fn a_line_is_read_in_normal_form_and_takes_the_place_of_one_about_the_same() {
    fn read(kind: GrantKind, line: &str) -> GrantLine {
        GrantLine::parse(kind, line).unwrap()
    }
    for (kind, one, other, replaces) in [
        (GrantKind::Dirs, "ro:data", "rw:data", true),
        (GrantKind::Dirs, "ro:data", "ro:other=data", true),
        (GrantKind::Dirs, "ro:data", "ro:other", false),
        (GrantKind::Env, "LANG", "ask LANG", true),
        (GrantKind::Env, "LANG", "LANGUAGE", false),
        (GrantKind::Models, "a:b", "a:b=5", true),
        (GrantKind::Http, "https://a.b", "ask https://A.B:443/", true),
        (GrantKind::Http, "https://a.b", "POST https://a.b", false),
        (GrantKind::Calls, "a.b", "a.c", false),
        (GrantKind::AskUser, "true", "true", true),
    ] {
        let (one, other) = (read(kind, one), read(kind, other));
        assert_eq!(one.replaces(&other), replaces, "{one:?} {other:?}");
        assert_eq!(read(kind, &one.line), one);
    }
    assert!(!read(GrantKind::Env, "A").replaces(&read(GrantKind::Calls, "A")));
    assert_eq!(
        read(GrantKind::Models, "a:b").canonical(),
        "models a:b=100000"
    );
    let refused = GrantLine::parse(GrantKind::AskUser, "yes").unwrap_err();
    assert_eq!(refused.to_string(), "`ask_user` is `true` or `false`");
}

#[test]
fn grants_that_are_the_same_count_once_and_those_that_contradict_each_other_are_refused() {
    let with_env = |lines: &[&str]| Grants {
        env: lines.iter().map(|line| line.parse().unwrap()).collect(),
        ..Grants::default()
    };
    let mut grants = with_env(&["B", "A", "B", " A "]);
    grants.collapse().unwrap();
    assert_eq!(grants, with_env(&["B", "A"]));
    assert_eq!(grants.canonical_lines(), ["env A", "env B"]);
    let (kind, message) = with_env(&["A", "ask A"]).collapse().unwrap_err();
    assert_eq!(
        (kind, message.as_str()),
        (
            GrantKind::Env,
            "`A` and `ask A` are about the same thing and say different things; keep one"
        )
    );
}
