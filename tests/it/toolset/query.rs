//! The component `query`: texts without any grant, files in granted folders, and queries that try to
//! take more than they may.

use expect_test::expect;
use openprogram_tests::web::WebHost;
use serde_json::{Value, json};

use super::{Desk, told, told_with_notes};

fn desk() -> Desk {
    Desk::with([
        (
            "work/stock.json",
            r#"{"items": [{"name": "tyre", "left": 14}, {"name": "bell", "left": 0}]}"#,
        ),
        (
            "work/orders.csv",
            "order,item,price\n1001,tyre,15.00\n1002,\"bell, red\",9.90\n",
        ),
        (
            "work/log.jsonl",
            "{\"level\": \"info\"}\n{\"level\": \"error\", \"at\": 7}\n",
        ),
        (
            "work/settings.toml",
            "[server]\nport = 8080\nsince = 2026-12-01\n",
        ),
        ("work/picture.png", "\u{89}PNG"),
        ("beside/secret.json", "[\"secret\"]"),
    ])
}

async fn of_text(query: &str, text: &str) -> String {
    let arguments = json!({"query": query, "text": text});
    told(&WebHost::of("query").call("query-data", arguments).await)
}

#[tokio::test]
async fn a_text_is_queried_without_any_grant() {
    expect![[r#"
        {
          "value": [
            "bell"
          ],
          "items": 1
        }"#]]
    .assert_eq(&of_text("items[?left < `5`].name", &desk().text("work/stock.json")).await);
    let csv = json!({"query": "sum([].price)", "text": "price\n1.5\n2\n", "format": "csv"});
    let called = WebHost::of("query").call("query-data", csv).await;
    assert_eq!(called.result, Ok(json!({"value": 3.5})));
    let page = json!({"query": "@", "text": "[1,2,3]", "offset": 1, "limit": 1});
    expect![[r#"
        {
          "value": [
            2
          ],
          "items": 3,
          "more": "1 of 3 items are shown: go on with offset 2, or select less"
        }"#]]
    .assert_eq(&told(&WebHost::of("query").call("query-data", page).await));
}

#[tokio::test]
async fn files_are_queried_where_their_folder_is_granted() {
    let desk = desk();
    let query = async |grants: &[&str], path: &str, query: &str| {
        let arguments = json!({"query": query, "path": path});
        told_with_notes(
            &desk
                .host("query", grants)
                .call("query-data", arguments)
                .await,
        )
    };
    for (path, expression, expected) in [
        ("work/orders.csv", "[?price > `10`].item | [0]", "\"tyre\""),
        ("work/log.jsonl", "[?level == 'error'].at | [0]", "7"),
        ("work/settings.toml", "server.since", "\"2026-12-01\""),
        ("work/stock.json", "length(items)", "2"),
    ] {
        let told = query(&["ro:work"], path, expression).await;
        assert!(told.contains(&format!("\"value\": {expected}\n")), "{told}");
        assert!(told.ends_with("dirs read work: by `ro:work`"), "{told}");
    }
    expect![[r#"
        denied: no folder is granted here; a person can grant one with `openprogram grant query --dir ro:FOLDER`
    "#]].assert_eq(&query(&[], "work/stock.json", "@").await);
    expect![[r#"
        function-failed: there is no `beside/secret.json` in what is granted: work; a person can grant another folder with `openprogram grant query --dir ro:FOLDER`
    "#]].assert_eq(&query(&["ro:work"], "beside/secret.json", "@").await);
    expect![[r#"
        denied: `work/../beside/secret.json` is refused: it leads out of the granted folder, is kept from components, or a person said no
        dirs read work: by `ro:work`
        dirs work/../beside/secret.json: refused, `work/../beside/secret.json` leads out of the granted folder"#]]
    .assert_eq(&query(&["ro:work"], "work/../beside/secret.json", "@").await);
    expect![[r#"
        function-failed: `work` is a folder; name a file in it
        dirs read work: by `ro:work`"#]]
    .assert_eq(&query(&["ro:work"], "work", "@").await);
}

#[tokio::test]
async fn deep_data_and_endless_queries_end_in_a_sentence_or_a_limit() {
    for (query, text, said) in [
        ("@", "[".repeat(200_000), "recursion limit exceeded"),
        (
            "@",
            format!("{}{}", "{\"a\":".repeat(127), "1"),
            "EOF while parsing",
        ),
        ("x", "\u{0}".to_owned(), "no JSON"),
        (
            "@",
            format!("[\"{}\"]", "x".repeat(100_000)),
            "at most 24000 are given",
        ),
        (&"!".repeat(1_000), "1".to_owned(), "nested at most"),
        (&"(".repeat(1_000), "1".to_owned(), "nested at most"),
        (&"[*]".repeat(333), "[1]".to_owned(), "\"value\""),
        (&"a.".repeat(499), "{}".to_owned(), "no JMESPath"),
        (
            &format!("a{}", ".a".repeat(499)),
            "{}".to_owned(),
            "\"value\"",
        ),
        (
            &format!("a{}", "|a".repeat(499)),
            "{}".to_owned(),
            "\"value\"",
        ),
        (
            &format!("a{}", "||a".repeat(333)),
            "{}".to_owned(),
            "\"value\"",
        ),
        (
            &format!("a{}", "[]".repeat(499)),
            "{}".to_owned(),
            "\"value\"",
        ),
        (
            &format!("a{}", "[?a]".repeat(240)),
            "{\"a\": [[[1]]]}".to_owned(),
            "\"value\"",
        ),
        (
            &format!("[{}", "1,".repeat(400)),
            "1".to_owned(),
            "no JMESPath",
        ),
    ] {
        let told = of_text(query, &text).await;
        assert!(told.contains(said), "{query:.60}: {told}");
        assert!(told.len() < 1_000, "{query:.60}: {}", told.len());
    }
    // Each step makes twice as much of it.
    let doubled = format!("@{}", " | [@, @][]".repeat(60));
    let host = WebHost::of("query").limits(|limits| limits.memory_bytes = 32 << 20);
    let called = host
        .call("query-data", json!({"query": doubled, "text": "[1]"}))
        .await;
    let told = called.result.unwrap_err();
    assert!(told.contains("needs more memory"), "{told}");
    let both: Value = json!({"query": "@", "text": "1", "path": "a.json"});
    let both = WebHost::of("query").call("query-data", both).await;
    assert!(both.result.unwrap_err().contains("not both"));
}
