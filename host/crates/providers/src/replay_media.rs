//! Pictures and sound on their way to a server: what arrives is what was given, byte for byte.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, Message, Role, settle_media};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{ModelRequest, NoEvents, Provider};

use crate::profile::Protocol;
use crate::replay::{Play, document, serve};
use crate::requests::generous;
use crate::{ServerModel, ServerOptions, TextProtocol, Transport, TransportOptions};

/// A whole picture: 2 pixels by 2, in four colours.
const PICTURE: &[u8] = include_bytes!("../fixtures/media/four.png");

/// The request that a server gets, once the picture was taken for a film by its name.
async fn sent(protocol: TextProtocol, profile: Protocol, answer: &str) -> Json {
    let answer = document("200 OK", "content-type: application/json\r\n", answer);
    let (url, server) = serve(vec![Play::Close(answer)]).await;
    let options = ServerOptions {
        name: "test:m".to_owned(),
        protocol,
        base_url: url,
        key: None,
        model: "m".to_owned(),
        profile: generous(profile),
    };
    let transport = Transport::new(TransportOptions::default()).unwrap();
    let model = ServerModel::new(options, transport).unwrap();
    let mut content = vec![
        ContentBlock::Text("What is this?".to_owned()),
        ContentBlock::Video {
            mime_type: "video/mp4".to_owned(),
            data: PICTURE.into(),
        },
    ];
    let mismatches = settle_media(&mut content).unwrap();
    assert_eq!(mismatches[0].found, "image/png");
    let message = Message {
        role: Role::User,
        content,
    };
    let request = ModelRequest::new(None, vec![message], SessionId::from_bits(1));
    let reply = model.complete(&request, &NoEvents).await.unwrap();
    assert_eq!(reply.text(), "Four colours.");
    let requests = server.await.unwrap().requests;
    let (_, body) = requests[0].split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn a_picture_reaches_chat_completions_byte_for_byte() {
    let answer = r#"{"choices":[{"message":{"content":"Four colours."},"finish_reason":"stop"}]}"#;
    let body = sent(TextProtocol::OpenAi, Protocol::OpenAi, answer).await;
    let part = &body["messages"][0]["content"][1];
    assert_eq!(part["type"], "image_url");
    let url = part["image_url"]["url"].as_str().unwrap();
    let data = url.strip_prefix("data:image/png;base64,").unwrap();
    assert_eq!(STANDARD.decode(data).unwrap(), PICTURE);
}

#[tokio::test]
async fn a_picture_reaches_messages_byte_for_byte() {
    let answer = r#"{"content":[{"type":"text","text":"Four colours."}],"stop_reason":"end_turn"}"#;
    let body = sent(TextProtocol::Anthropic, Protocol::Anthropic, answer).await;
    let block = &body["messages"][0]["content"][1];
    assert_eq!(block["type"], "image");
    assert_eq!(block["source"]["type"], "base64");
    assert_eq!(block["source"]["media_type"], "image/png");
    let data = block["source"]["data"].as_str().unwrap();
    assert_eq!(STANDARD.decode(data).unwrap(), PICTURE);
}
