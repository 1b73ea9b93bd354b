//! Paths that mean something else to a server than to a grant: separators and steps upwards that
//! stand encoded, once or several times, or before parameters.

/// How often a path is decoded to look for what it hides. Chains of servers decode twice.
const DECODINGS_MAX: usize = 4;

/// Whether a path, as a URL parser gives it, hides a separator, a zero byte, an overlong encoding
/// or a step upwards.
pub(super) fn hides_something(path: &str) -> bool {
    let is_hidden = |part: &str| {
        let mut bytes = part.as_bytes().to_vec();
        for _ in 0..DECODINGS_MAX {
            let decoded = decoded(&bytes);
            // 0xC0 and 0xC1 are in no UTF-8; decoders that take them read ASCII out of them.
            let is_bad = |byte: &u8| matches!(byte, b'/' | b'\\' | 0 | 0xc0 | 0xc1);
            if decoded.iter().any(is_bad) || is_step(&decoded) {
                return true;
            }
            if decoded == bytes {
                return false;
            }
            bytes = decoded;
        }
        // Still something to decode: nobody writes that in good faith.
        true
    };
    path.split('/').any(is_hidden)
}

/// Whether a part of a path is `.` or `..`, parameters behind `;` left aside.
fn is_step(part: &[u8]) -> bool {
    let end = part.iter().position(|byte| *byte == b';');
    matches!(&part[..end.unwrap_or(part.len())], b"." | b"..")
}

fn decoded(bytes: &[u8]) -> Vec<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (*byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or(u8::MAX));
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_could_read_as_a_step_or_a_separator_is_found() {
        for path in [
            "/v1/..;/admin",
            "/v1/..;x=1/admin",
            "/v1/.;/x",
            "/v1/%252e%252e/admin",
            "/v1/%25252e./admin",
            "/v1/..%2fadmin",
            "/v1/..%252fadmin",
            "/v1/a%5cb",
            "/v1/%c0%ae%c0%ae/admin",
            "/v1/%C1%9c",
            "/v1/a%00",
            "/v1/%252525252541",
        ] {
            assert!(hides_something(path), "{path}");
        }
        for path in [
            "/",
            "/v1/x",
            "/v1/...",
            "/v1/..a",
            "/a;b=1/c",
            "/100%25",
            "/%E4%BD%A0",
            "/%e9",
            "/a%",
            "/a%2",
            "/%20%3F",
            "/.well-known/x",
        ] {
            assert!(!hides_something(path), "{path}");
        }
    }
}
