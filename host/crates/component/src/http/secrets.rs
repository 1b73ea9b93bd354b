//! Secrets in requests: which headers the host adds, and where it refuses to.
//!
//! A header of a secret is the host's wherever the secret is sent: one of the same name that the
//! guest gave is dropped.

use std::net::IpAddr;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, RANGE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};
use openprogram_core::grant::{Access, AddressKind, Grant, GrantKind, SecretGrant, address_kind};
use openprogram_core::secret::SECRET_BYTES_MIN;
use wasmtime_wasi_http::Error;

use super::call::HttpCall;
use super::gate::Wanted;
use super::stop::Stop;

const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// A header that the host adds.
pub(super) type Added = (HeaderName, HeaderValue);

impl HttpCall {
    /// The headers of the secrets that belong into a request to these addresses.
    pub(super) async fn secrets(
        &self,
        wanted: &Wanted,
        addresses: &[IpAddr],
    ) -> Result<Vec<Added>, Stop> {
        let mut added: Vec<Added> = Vec::new();
        for grant in self.permissions.grants.secrets_for(&wanted.target) {
            let secret = &grant.what;
            let what = format!("`{}` in {}", secret.variable, wanted.what);
            let header = self.header(grant, wanted, addresses);
            let (name, value) = header.map_err(|message| refused(&what, message))?;
            if added.iter().any(|(other, _)| *other == name) {
                let message = format!(
                    "several secrets are the header `{name}` of this request; revoke all but one"
                );
                return Err(refused(&what, message));
            }
            self.use_grant(GrantKind::Secrets, &what, grant, wanted)
                .await?;
            added.push((name, value));
        }
        Ok(added)
    }

    fn header(
        &self,
        grant: &Grant<SecretGrant>,
        wanted: &Wanted,
        addresses: &[IpAddr],
    ) -> Result<Added, String> {
        let SecretGrant {
            variable,
            header,
            prefix,
            ..
        } = &grant.what;
        let mut set = self.permissions.secrets.iter();
        let Some((_, secret)) = set.find(|(name, _)| name == variable) else {
            return Err(format!(
                "the variable `{variable}` is not set; set it where openprogram runs, or revoke \
                 the secret"
            ));
        };
        let is_loopback = |address: &IpAddr| address_kind(*address) == AddressKind::Loopback;
        if wanted.target.scheme() == "http" && !addresses.iter().all(is_loopback) {
            return Err(format!(
                "`{variable}` is not sent without encryption to another machine; use https"
            ));
        }
        if secret.expose().len() < SECRET_BYTES_MIN {
            return Err(format!(
                "`{variable}` is shorter than {SECRET_BYTES_MIN} bytes, too short to be kept from \
                 the component in what comes back"
            ));
        }
        let name = HeaderName::try_from(header.as_str())
            .map_err(|_| format!("`{header}` is not a header for a secret"))?;
        let value = HeaderValue::try_from(format!("{prefix}{}", secret.expose()));
        let mut value = value
            .map_err(|_| format!("`{variable}` holds characters that cannot stand in a header"))?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

fn refused(what: &str, message: String) -> Stop {
    let access = Access::refused(GrantKind::Secrets, what, message, None);
    Stop::noted(Error::HttpRequestDenied, access)
}

/// Puts the headers in, in place of those of the guest.
pub(super) fn add(headers: &mut HeaderMap, added: Vec<Added>) {
    for (name, value) in added {
        headers.insert(name, value);
    }
}

/// Asks for an answer in which a secret can be seen.
pub(super) fn ask_readable(headers: &mut HeaderMap) {
    // What comes back compressed could hold the value unseen.
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    // Parts of an answer would hold parts of a secret, which nobody finds.
    headers.remove(RANGE);
}

/// Refuses an answer in which the value could not be seen.
pub(super) fn check_readable(headers: &HeaderMap) -> Result<(), Error> {
    let hides = |name: HeaderName, plain: &str| {
        let values = headers.get_all(name).iter();
        let mut codings = values.flat_map(|value| value.as_bytes().split(|b| *b == b','));
        let hiding = codings.find(|coding| {
            let coding = coding.trim_ascii();
            !coding.is_empty() && !coding.eq_ignore_ascii_case(plain.as_bytes())
        });
        hiding.map(|coding| String::from_utf8_lossy(coding.trim_ascii()).into_owned())
    };
    if let Some(coding) = hides(CONTENT_ENCODING, "identity") {
        return Err(Error::HttpResponseContentCoding(Some(coding)));
    }
    if let Some(coding) = hides(TRANSFER_ENCODING, "chunked") {
        return Err(Error::HttpResponseTransferCoding(Some(coding)));
    }
    Ok(())
}
