//! Asks for sockets and for the addresses of names by the standard library, and tells what came of it.

/// The network.
#[openprogram_guest::functions(package = "test:socket-client")]
pub mod network {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

    /// Connects and sends a word.
    pub fn connect(address: String) -> String {
        told(TcpStream::connect(address.as_str()).and_then(|mut stream| stream.write_all(b"hello")))
    }

    /// Waits for connections.
    pub fn listen(address: String) -> String {
        told(TcpListener::bind(address.as_str()).map(drop))
    }

    /// Sends a word without a connection.
    pub fn send(from: String, to: String) -> String {
        told(
            UdpSocket::bind(from.as_str()).and_then(|socket| socket.send_to(b"hello", to.as_str())),
        )
    }

    /// Looks a name up, so many times.
    pub fn look_up(name: String, times: u32) -> String {
        let mut last = String::new();
        for _ in 0..times {
            let found = (name.as_str(), 80).to_socket_addrs();
            last = told(found.map(|found| found.count()));
        }
        last
    }

    /// The time of day in milliseconds, which is nothing of the network.
    pub fn clock() -> u64 {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        since.map_or(0, |since| since.as_millis() as u64)
    }

    fn told<T>(result: std::io::Result<T>) -> String {
        match result {
            Ok(_) => "done".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        }
    }
}
