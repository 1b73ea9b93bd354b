//! What may go out: a request in its normal form, the grant that covers it, and the addresses that
//! it may be sent to.
//!
//! What is checked here is what is sent: the sender takes method, host, port and path from the
//! normal form, never from the guest.

use std::net::IpAddr;

use http::request::Parts;
use http::{Method, Uri};
use openprogram_core::grant::{
    Access, AddressKind, Grant, GrantKind, HttpGrant, HttpTarget, address_kind,
};
use openprogram_core::question::Sending;
use wasmtime_wasi_http::Error;

use super::call::HttpCall;
use super::stop::Stop;

/// Longest URL that is sent, in bytes. Servers take about as much.
const URL_BYTES_MAX: usize = 16 << 10;
/// Longest method that a grant can name, in bytes.
const METHOD_BYTES_MAX: usize = 32;
/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 4;
/// Characters of a URL that are shown where it cannot be used.
const SHOWN_CHARS: usize = 120;

/// A request as it would go out.
pub(super) struct Wanted {
    pub(super) method: Method,
    pub(super) target: HttpTarget,
    /// The path and the query, as they stand in the request line.
    pub(super) path_and_query: String,
    /// In a sentence: method and place, without the query, which may hold what is nobody's business.
    pub(super) what: String,
    /// What a person is shown of it, where one is asked.
    pub(super) sends: Option<Sending>,
}

/// Brings a request into its normal form.
pub(super) fn wanted(parts: &Parts) -> Result<Wanted, Stop> {
    let method = parts.method.clone();
    let shown = shown(&parts.uri);
    let what = format!("{method} {shown}");
    if is_unusable(&method) {
        let message = format!(
            "the method `{method}` is not sent; methods are upper-case letters, and neither \
             CONNECT nor TRACE"
        );
        return Err(Stop::refused(
            Error::HttpRequestMethodInvalid,
            &shown,
            message,
        ));
    }
    let url = parts.uri.to_string();
    if url.len() > URL_BYTES_MAX {
        let message = format!("the URL is longer than {URL_BYTES_MAX} bytes");
        return Err(Stop::refused(Error::HttpRequestUriTooLong, &what, message));
    }
    let target = HttpTarget::parse(&url)
        .map_err(|error| Stop::refused(Error::HttpRequestUriInvalid, &what, error.to_string()))?;
    let query = parts.uri.query().map(|query| format!("?{query}"));
    Ok(Wanted {
        what: format!("{method} {target}"),
        path_and_query: format!("{}{}", target.path(), query.unwrap_or_default()),
        method,
        target,
        sends: None,
    })
}

/// Tunnels have no path to check, traces give back what the host added, and what is no plain word
/// cannot stand in a grant.
fn is_unusable(method: &Method) -> bool {
    let name = method.as_str();
    let is_plain = name.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    !is_plain || name.len() > METHOD_BYTES_MAX || [Method::CONNECT, Method::TRACE].contains(method)
}

/// A URL as the guest gave it, without its user and its query.
fn shown(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("https");
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit('@').next().unwrap_or("");
    let text = format!("{scheme}://{host}{}", uri.path());
    text.chars().take(SHOWN_CHARS).collect()
}

impl HttpCall {
    /// The grant that covers a request.
    pub(super) fn grant(&self, wanted: &Wanted) -> Result<&Grant<HttpGrant>, Stop> {
        let Wanted { method, target, .. } = wanted;
        let grant = self.permissions.grants.http_for(method.as_str(), target);
        grant.ok_or_else(|| {
            let what = &wanted.what;
            let message = format!(
                "`{what}` is not granted to `{}`",
                self.permissions.component
            );
            let needed = HttpGrant::for_request(method.as_str(), target).to_string();
            let access = Access::refused(GrantKind::Http, what, message, Some(needed));
            Stop::noted(Error::HttpRequestDenied, access)
        })
    }

    /// Whether a person may be asked about a request with this grant: by it, by one that names the
    /// address that its host turns out to have, or by one of a secret.
    pub(super) fn may_ask(&self, wanted: &Wanted, grant: &Grant<HttpGrant>) -> bool {
        let grants = &self.permissions.grants;
        let is_address = |grant: &&Grant<HttpGrant>| grant.what.target().address().is_some();
        let by_address = wanted.target.address().is_none()
            && grants
                .http
                .iter()
                .filter(is_address)
                .any(|grant| grant.asks);
        let mut secrets = grants.secrets_for(&wanted.target);
        grant.asks || by_address || secrets.any(|grant| grant.asks)
    }

    /// The addresses that a request may be sent to, out of one answer of the resolver. Those that
    /// are not public stay only where a grant names the address itself.
    pub(super) async fn addresses(&self, wanted: &Wanted) -> Result<Vec<IpAddr>, Stop> {
        if let Some(address) = wanted.target.address() {
            // The grant that covers the request names this address.
            return Ok(vec![address]);
        }
        let host = wanted.target.host();
        let found = self.permissions.network.resolver().resolve(host).await;
        let found = found.map_err(|_| Stop::from(unknown_host()))?;
        let (allowed, refused): (Vec<_>, Vec<_>) = found
            .iter()
            .copied()
            .partition(|address| address_kind(*address) == AddressKind::Public);
        if !allowed.is_empty() {
            return Ok(allowed.into_iter().take(ADDRESSES_MAX).collect());
        }
        for address in &refused {
            let at = wanted.target.at_address(*address);
            let grants = &self.permissions.grants;
            if let Some(grant) = grants.http_for(wanted.method.as_str(), &at) {
                let what = format!("{} {at}", wanted.method);
                self.use_grant(GrantKind::Http, &what, grant, wanted)
                    .await?;
                return Ok(vec![*address]);
            }
        }
        let Some(address) = refused.first() else {
            return Err(unknown_host().into());
        };
        Err(not_public(wanted, *address))
    }
}

fn unknown_host() -> Error {
    Error::DnsError {
        rcode: Some("no addresses".to_owned()),
        info_code: None,
    }
}

fn not_public(wanted: &Wanted, address: IpAddr) -> Stop {
    let kind = address_kind(address).as_str();
    let host = wanted.target.host();
    let message = format!(
        "`{host}` is {address}, which is a {kind} address; such an address is reached only where a \
         grant names it"
    );
    let at = wanted.target.at_address(address);
    let needed = HttpGrant::for_request(wanted.method.as_str(), &at).to_string();
    let access = Access::refused(GrantKind::Http, &wanted.what, message, Some(needed));
    Stop::noted(Error::DestinationIpProhibited, access)
}
