//! The manifest of an artifact: which blob is the component, or why none is.

use serde::Deserialize;

use super::reference::is_sha256;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
/// Everything that is asked for. What is no component is asked for too, so that it can be named.
pub(super) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";
/// The configurations of a component, as the CNCF has them, and as tools before it had.
const CONFIGS: [&str; 2] = [
    "application/vnd.wasm.config.v0+json",
    "application/vnd.wasm.config.v1+json",
];
/// The media types of its bytes, likewise.
const LAYERS: [&str; 2] = [
    "application/wasm",
    "application/vnd.wasm.content.layer.v1+wasm",
];
/// The media type of a signed text, as `cosign sign` keeps them in registries.
const SIGNED: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The annotation that holds the signature of such a text.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// How many signatures of one component are looked at.
const SIGNATURES_MAX: usize = 16;

/// One blob of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) size: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    schema_version: Option<u64>,
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    manifests: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
    size: u64,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

impl Descriptor {
    fn blob(&self) -> Result<Blob, String> {
        if !is_sha256(&self.digest) {
            return Err("it names its bytes by another digest than sha256".to_owned());
        }
        Ok(Blob {
            digest: self.digest.clone(),
            size: self.size,
        })
    }
}

/// The blob that is the component.
///
/// # Errors
/// What the artifact is instead.
pub(super) fn component(text: &[u8]) -> Result<Blob, String> {
    let text = read(text)?;
    let config = text.config.ok_or("its manifest has no `config`")?;
    let layers = text.layers.unwrap_or_default();
    if !CONFIGS.contains(&config.media_type.as_str()) {
        if config.media_type.contains("image.config")
            || config.media_type.contains("container.image")
        {
            return Err(
                "it is a container image; components are pushed as WebAssembly artifacts, by \
                 `wkg oci push` or `oras push`"
                    .to_owned(),
            );
        }
        let found = text.artifact_type.unwrap_or(config.media_type);
        return Err(format!(
            "it is an artifact of the type `{}`, where `{}` is expected",
            shown(&found),
            CONFIGS[0]
        ));
    }
    let [layer] = layers.as_slice() else {
        return Err(format!(
            "it has {} layers, where a component is one",
            layers.len()
        ));
    };
    if !LAYERS.contains(&layer.media_type.as_str()) {
        return Err(format!(
            "its layer has the type `{}`, where `{}` is expected",
            shown(&layer.media_type),
            LAYERS[0]
        ));
    }
    layer.blob()
}

/// The signed texts of an artifact of signatures, each with its signature in base64.
///
/// # Errors
/// What is wrong with it.
pub(super) fn signatures(text: &[u8]) -> Result<Vec<(Blob, String)>, String> {
    let layers = read(text)?.layers.unwrap_or_default();
    if layers.len() > SIGNATURES_MAX {
        return Err(format!("it has more than {SIGNATURES_MAX} signatures"));
    }
    let mut found = Vec::new();
    for layer in layers.iter().filter(|layer| layer.media_type == SIGNED) {
        let signature = layer.annotations.get(SIGNATURE);
        let signature = signature.ok_or("one of its signatures is missing")?;
        found.push((layer.blob()?, signature.clone()));
    }
    if found.is_empty() {
        return Err("it holds no signature of `cosign sign`".to_owned());
    }
    Ok(found)
}

fn read(text: &[u8]) -> Result<Text, String> {
    let text: Text = serde_json::from_slice(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("its manifest is none: line {line}, column {column}")
    })?;
    match text.media_type.as_deref() {
        _ if text.manifests.is_some() => return Err(index()),
        Some(INDEX | DOCKER_INDEX) => return Err(index()),
        None | Some(MANIFEST | DOCKER_MANIFEST) => {}
        Some(other) => return Err(format!("its manifest has the type `{}`", shown(other))),
    }
    match text.schema_version {
        Some(2) => Ok(text),
        _ => Err("its manifest has another schema version than 2".to_owned()),
    }
}

fn index() -> String {
    "it is an index of several artifacts, as images for several platforms have; name one of them by \
     `@sha256:…`"
        .to_owned()
}

fn shown(text: &str) -> String {
    crate::text::one_line(text, 100)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    fn manifest(config: &str, layers: &[(&str, &str)]) -> Value {
        let layers: Vec<_> = layers
            .iter()
            .map(|(kind, digest)| json!({"mediaType": kind, "digest": digest, "size": 3}))
            .collect();
        json!({"schemaVersion": 2, "mediaType": MANIFEST, "layers": layers,
               "config": {"mediaType": config, "digest": "sha256:00", "size": 2}})
    }

    #[test]
    fn one_layer_of_webassembly_is_a_component() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (config, layer) in CONFIGS.iter().zip(LAYERS) {
            let text = manifest(config, &[(layer, &digest)]).to_string();
            let blob = component(text.as_bytes()).unwrap();
            assert_eq!((blob.digest, blob.size), (digest.clone(), 3));
        }
    }

    #[test]
    fn what_is_no_component_is_named() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let check = |manifest: Value, expected: Expect| {
            expected.assert_eq(&component(manifest.to_string().as_bytes()).unwrap_err());
        };
        let wasm = ("application/wasm", digest.as_str());
        check(
            manifest("application/vnd.docker.container.image.v1+json", &[wasm]),
            expect![
                "it is a container image; components are pushed as WebAssembly artifacts, by `wkg oci push` or `oras push`"
            ],
        );
        check(
            manifest("application/vnd.acme+json", &[wasm]),
            expect![
                "it is an artifact of the type `application/vnd.acme+json`, where `application/vnd.wasm.config.v0+json` is expected"
            ],
        );
        check(
            manifest(CONFIGS[0], &[wasm, wasm]),
            expect!["it has 2 layers, where a component is one"],
        );
        check(
            manifest(CONFIGS[0], &[]),
            expect!["it has 0 layers, where a component is one"],
        );
        check(
            manifest(CONFIGS[0], &[("application/x-tar", &digest)]),
            expect![
                "its layer has the type `application/x-tar`, where `application/wasm` is expected"
            ],
        );
        check(
            manifest(CONFIGS[0], &[("application/wasm", "sha512:00")]),
            expect!["it names its bytes by another digest than sha256"],
        );
        check(
            json!({"schemaVersion": 2, "manifests": []}),
            expect![
                "it is an index of several artifacts, as images for several platforms have; name one of them by `@sha256:…`"
            ],
        );
        check(
            json!({"schemaVersion": 1, "fsLayers": []}),
            expect!["its manifest has another schema version than 2"],
        );
        check(
            json!({"schemaVersion": 2}),
            expect!["its manifest has no `config`"],
        );
        check(json!([]), expect!["its manifest is none: line 1, column 2"]);
        // Nesting is bounded by the reader.
        let deep = format!("{{\"x\": {}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(component(deep.as_bytes()).is_err());
    }
}
