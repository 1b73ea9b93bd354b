//! The bytes of a component from its source: a file, what a folder builds to, or another machine.
//!
//! Signatures are checked here, wherever bytes come in: when something is added or updated, and when
//! what is locked is fetched again.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openprogram_component::digest_of;

use super::components::Loader;
use crate::fetch::{
    FetchError, Fetched, Remote, RemoteSignature, SIGNATURE_BYTES_MAX, SIGNATURE_EXTENSIONS,
};
use crate::install::{InstallError, LockEntry, Place};
use crate::settings::SignatureSettings;
use crate::signature::{SignatureError, signer_of_artifact, signer_of_file};

/// The bytes of a source as they are now.
pub(super) struct Obtained {
    pub(super) bytes: Arc<[u8]>,
    /// The digest of the manifest, for what a registry has.
    pub(super) manifest: Option<String>,
    /// The key that signed it.
    pub(super) signed_by: Option<String>,
}

impl Loader {
    /// The bytes of a file, or of what a folder was built to.
    pub(super) fn obtain_file(
        &self,
        name: &str,
        given: &Path,
        file: &Path,
    ) -> anyhow::Result<Obtained> {
        let bytes = self.read(name, file)?;
        let is_built = given != file;
        let signed_by = if is_built {
            self.unsigned(name, "a source folder is built here, and has none")?
        } else {
            let found = local_signatures(file)?;
            self.signer(name, &bytes, None, &found)?
        };
        Ok(Obtained {
            bytes,
            manifest: None,
            signed_by,
        })
    }

    /// The bytes of another machine, as they are now.
    pub(super) async fn obtain_remote(
        &self,
        name: &str,
        remote: &Remote,
        words: &mut dyn Write,
    ) -> anyhow::Result<Obtained> {
        let max = self.engine.options().component_bytes_max;
        // Words that cannot be written are no reason to fail: nobody is there to read them.
        let _ = writeln!(words, "fetching `{remote}`");
        let fetched = self.fetcher.fetch(remote, max).await;
        let fetched = fetched.map_err(InstallError::from)?;
        self.signed(name, remote, fetched).await
    }

    /// The bytes of a locked component from its source, when they are still the same.
    pub(super) async fn obtain_locked(
        &self,
        name: &str,
        entry: &LockEntry,
        words: &mut dyn Write,
    ) -> anyhow::Result<Arc<[u8]>> {
        let source_text = entry.source.clone();
        let obtained = match (
            Place::of(&entry.source, &self.project_folder)?,
            &entry.manifest,
        ) {
            (Place::Local(path), _) => {
                if !path.exists() {
                    let name = name.to_owned();
                    return Err(InstallError::Gone { name, source_text }.into());
                }
                // To fetch is part of a run, and a run builds no more than the project file names.
                if path.is_dir() {
                    let name = name.to_owned();
                    return Err(InstallError::NotBuilt { name, source_text }.into());
                }
                self.obtain_file(name, &path, &path)?
            }
            (Place::Remote(remote @ Remote::Oci(_)), Some(manifest)) => {
                let Remote::Oci(reference) = &remote else {
                    return Err(InstallError::Gone {
                        name: name.to_owned(),
                        source_text,
                    }
                    .into());
                };
                let max = self.engine.options().component_bytes_max;
                let fetched = self.fetcher.fetch_pinned(reference, manifest, max).await;
                let fetched = fetched.map_err(InstallError::from)?;
                self.signed(name, &remote, fetched).await?
            }
            (Place::Remote(remote), _) => self.obtain_remote(name, &remote, words).await?,
        };
        let found = digest_of(&obtained.bytes);
        let name = name.to_owned();
        if found != entry.digest {
            let locked = entry.digest.clone();
            return Err(InstallError::SourceChanged {
                name,
                source_text,
                locked,
                found,
            }
            .into());
        }
        check_size(&name, entry, &obtained.bytes)?;
        check_still_signed(&name, entry, obtained.signed_by.as_deref())?;
        Ok(obtained.bytes)
    }

    async fn signed(
        &self,
        name: &str,
        remote: &Remote,
        fetched: Fetched,
    ) -> anyhow::Result<Obtained> {
        let Fetched { bytes, manifest } = fetched;
        let bytes: Arc<[u8]> = bytes.into();
        let found = if self.signatures.keys.is_empty() {
            Vec::new()
        } else {
            let found = self.fetcher.signatures(remote, manifest.as_deref()).await;
            found.map_err(InstallError::from)?
        };
        let signed_by = self.signer(name, &bytes, manifest.as_deref(), &found)?;
        Ok(Obtained {
            bytes,
            manifest,
            signed_by,
        })
    }

    /// The key that signed these bytes, or nobody. Every file that claims a signature has to hold
    /// one; of those in a registry, which anyone who can push there may add to, one is enough.
    fn signer(
        &self,
        name: &str,
        bytes: &[u8],
        manifest: Option<&str>,
        found: &[RemoteSignature],
    ) -> Result<Option<String>, InstallError> {
        let keys = &self.signatures.keys;
        if keys.is_empty() {
            return Ok(None);
        }
        let refused = |source: SignatureError| InstallError::Signature {
            name: name.to_owned(),
            source,
        };
        let mut signer = None;
        let mut wrong = None;
        for signature in found {
            match signature {
                RemoteSignature::File { place, content } => {
                    let key = signer_of_file(keys, bytes, place, content).map_err(refused)?;
                    signer.get_or_insert(key);
                }
                RemoteSignature::Artifact { payload, signature } => {
                    let manifest = manifest.unwrap_or_default();
                    match signer_of_artifact(keys, manifest, payload, signature) {
                        Ok(key) => {
                            signer.get_or_insert(key);
                        }
                        Err(error) => wrong = Some(error),
                    }
                }
            }
        }
        match (signer, wrong) {
            (Some(key), _) => Ok(Some(key.id().to_owned())),
            (None, Some(error)) => Err(refused(error)),
            (None, None) => self.unsigned(name, "let its author sign it, or change that there"),
        }
    }

    fn unsigned(&self, name: &str, remedy: &'static str) -> Result<Option<String>, InstallError> {
        if !self.signatures.required {
            return Ok(None);
        }
        let name = name.to_owned();
        Err(InstallError::Unsigned { name, remedy })
    }

    /// The stored bytes of an installed component.
    pub(super) fn stored(&self, name: &str, entry: &LockEntry) -> anyhow::Result<Arc<[u8]>> {
        let path = self.store.file(&entry.digest);
        let bytes = self.read(name, &path)?;
        let found = digest_of(&bytes);
        let name = name.to_owned();
        if found != entry.digest {
            let locked = entry.digest.clone();
            return Err(InstallError::StoreChanged {
                name,
                path,
                locked,
                found,
            }
            .into());
        }
        check_size(&name, entry, &bytes)?;
        Ok(bytes)
    }
}

/// Checks that an installed component was signed as the project wants it.
pub(super) fn check_signed(
    signatures: &SignatureSettings,
    name: &str,
    entry: &LockEntry,
) -> Result<(), InstallError> {
    if !signatures.required {
        return Ok(());
    }
    let name = name.to_owned();
    match &entry.signed_by {
        None => Err(InstallError::Unsigned {
            name,
            remedy: "`openprogram update` looks for a signature beside its source",
        }),
        Some(id) if signatures.keys.iter().any(|key| key.id() == id) => Ok(()),
        Some(id) => Err(InstallError::KeyGone {
            name,
            signed_by: id.clone(),
        }),
    }
}

/// Checks that what was signed is signed still.
pub(super) fn check_still_signed(
    name: &str,
    old: &LockEntry,
    signed_by: Option<&str>,
) -> Result<(), InstallError> {
    match (&old.signed_by, signed_by) {
        (Some(key), None) => Err(InstallError::NoLongerSigned {
            name: name.to_owned(),
            source_text: old.source.clone(),
            signed_by: key.clone(),
        }),
        _ => Ok(()),
    }
}

fn check_size(name: &str, entry: &LockEntry, bytes: &[u8]) -> Result<(), InstallError> {
    let (locked, found) = (entry.size, bytes.len() as u64);
    if locked == found {
        return Ok(());
    }
    Err(InstallError::WrongSize {
        name: name.to_owned(),
        locked,
        found,
    })
}

/// The signatures beside a file.
fn local_signatures(file: &Path) -> Result<Vec<RemoteSignature>, InstallError> {
    let mut found = Vec::new();
    for extension in SIGNATURE_EXTENSIONS {
        let mut path = file.as_os_str().to_owned();
        path.push(format!(".{extension}"));
        let path = PathBuf::from(path);
        let mut content = Vec::new();
        // One byte more than is taken shows that there is too much.
        let read = File::open(&path)
            .and_then(|file| file.take(SIGNATURE_BYTES_MAX + 1).read_to_end(&mut content));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(source) => return Err(InstallError::Unreadable { path, source }),
            Ok(_) => {}
        }
        if content.len() as u64 > SIGNATURE_BYTES_MAX {
            return Err(InstallError::Fetch(FetchError::TooLarge {
                url: path.display().to_string(),
                what: "the signature",
                max: SIGNATURE_BYTES_MAX,
            }));
        }
        found.push(RemoteSignature::File {
            place: path.display().to_string(),
            content,
        });
    }
    Ok(found)
}
