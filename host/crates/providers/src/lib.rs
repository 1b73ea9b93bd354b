//! Providers: from a runtime name to something that answers model requests.
