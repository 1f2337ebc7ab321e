import CCurl

extension EasyHandle {
    /// An option that takes text, which libcurl copies (curl_easy_setopt(3)).
    public struct TextOption: Sendable {
        let value: CURLoption

        /// The URL of the transfer.
        public static let url = TextOption(value: CURLOPT_URL)
        /// The Unix socket to connect to instead of the URL's host.
        public static let unixSocketPath = TextOption(value: CURLOPT_UNIX_SOCKET_PATH)
        /// The URL schemes that are allowed, separated by commas.
        public static let protocols = TextOption(value: CURLOPT_PROTOCOLS_STR)
        /// The proxy, as a URL.
        public static let proxy = TextOption(value: CURLOPT_PROXY)
        /// Hosts that are connected to without a proxy; `*` for all. Unset, the environment is asked.
        public static let noProxy = TextOption(value: CURLOPT_NOPROXY)

        static let customRequest = TextOption(value: CURLOPT_CUSTOMREQUEST)
    }

    /// An option that takes a number or a flag (curl_easy_setopt(3)).
    public struct NumberOption: Sendable {
        let value: CURLoption

        /// Milliseconds for the whole transfer; 0 for no limit.
        public static let timeoutMs = NumberOption(value: CURLOPT_TIMEOUT_MS)
        /// Milliseconds for a connection to be made; 0 for libcurl's default.
        public static let connectTimeoutMs = NumberOption(value: CURLOPT_CONNECTTIMEOUT_MS)
        /// Whether a URL that names a user is refused.
        public static let disallowUserNameInURL = NumberOption(value: CURLOPT_DISALLOW_USERNAME_IN_URL)
        /// Whether the path goes out as it was given, dots included.
        public static let pathAsIs = NumberOption(value: CURLOPT_PATH_AS_IS)
        /// Whether the delegate does not see the header lines of a proxy's answer to CONNECT.
        public static let suppressConnectHeaders = NumberOption(value: CURLOPT_SUPPRESS_CONNECT_HEADERS)
        /// Whether libcurl installs no signal handlers: a process with threads needs that.
        public static let noSignal = NumberOption(value: CURLOPT_NOSIGNAL)
        /// Whether small pieces are sent at once.
        public static let tcpNoDelay = NumberOption(value: CURLOPT_TCP_NODELAY)
        /// Whether the kernel asks now and then whether the peer is still there.
        public static let tcpKeepAlive = NumberOption(value: CURLOPT_TCP_KEEPALIVE)
        /// Bytes that are received at once.
        public static let bufferSize = NumberOption(value: CURLOPT_BUFFERSIZE)
        /// Whether a new connection is made although a kept one could be used.
        public static let freshConnect = NumberOption(value: CURLOPT_FRESH_CONNECT)

        static let get = NumberOption(value: CURLOPT_HTTPGET)
        static let post = NumberOption(value: CURLOPT_POST)
        static let noBody = NumberOption(value: CURLOPT_NOBODY)
        static let httpVersion = NumberOption(value: CURLOPT_HTTP_VERSION)
    }
}
