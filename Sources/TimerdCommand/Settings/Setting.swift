import ArgumentParser

/// A setting: the one place that declares its flag, its variable, its default and its help.
struct Setting: Sendable {
    /// The prefix of every variable.
    static let prefix = "TIMERD_"

    /// The flag without its dashes.
    let flag: String
    /// The name of the value in the help.
    let value: String
    /// The default, written as a user would; nil for none, and for one that other things decide.
    let initial: String?
    /// The default that other things decide, in words.
    var derived: String?
    /// The form of the value in a file.
    var form = Form.text
    /// Whether SIGHUP puts a file's new value into effect.
    var reloads = false
    /// Whether the value is a URL that may hold a password, which is never shown.
    var hidesPassword = false
    /// The description in the help, without a full stop.
    let meaning: String

    /// The form of a value in a file.
    enum Form: Sendable {
        /// A string.
        case text
        /// A whole number.
        case number
        /// A string of parts between commas, or a list of them.
        case parts
        /// `true` or `false`; the flag has no value.
        case yesNo
        /// A list of strings, or a single one: the flag may be given several times, and a variable has its values
        /// between commas.
        case list
    }

    /// Whether the flag may be given several times.
    var repeats: Bool { form == .list }

    /// The variable: `--max-timers` is `TIMERD_MAX_TIMERS`.
    var variable: String {
        Self.prefix + flag.uppercased().split(separator: "-", omittingEmptySubsequences: false).joined(separator: "_")
    }

    /// The flag, for the parser.
    var name: NameSpecification { .customLong(flag) }

    /// The help, for the parser.
    var help: ArgumentHelp {
        let initially = initial.map { ", default \($0)" } ?? ""
        let derivation = derived.map { ". Default \($0)" } ?? ""
        return ArgumentHelp("\(meaning)\(derivation) [\(variable)\(initially)]", valueName: value)
    }
}

extension Setting {
    static let listen = Setting(
        flag: "listen", value: "address", initial: "127.0.0.1:8080", form: .list,
        meaning:
            "A listener: 127.0.0.1:8080, https://[::1]:8443, unix:/path?mode=0660&group=www; may repeat, port 0 picks one"
    )
    static let tlsCertificate = Setting(
        flag: "tls-certificate", value: "file", initial: nil,
        meaning: "The certificate of the https:// listeners and its chain, in PEM; read again when it changes")
    static let tlsKey = Setting(
        flag: "tls-key", value: "file", initial: nil,
        meaning: "The private key of the certificate in PEM, without a password; read again when it changes")
    static let data = Setting(
        flag: "data", value: "directory", initial: "./timerd-data",
        meaning: "The data directory; one server at a time")
    static let store = Setting(
        flag: "store", value: "sqlite|memory|postgres://…", initial: "sqlite", hidesPassword: true,
        meaning: "The store of the timers; memory: nothing survives the process; a PostgreSQL can have several servers")
    static let storePasswordFile = Setting(
        flag: "store-password-file", value: "file", initial: nil,
        meaning: "The password for PostgreSQL, on the first line; ~/.pgpass and PGPASSFILE are read too")
    static let migrate = Setting(
        flag: "migrate", value: "true|false", initial: "false", form: .yesNo,
        meaning: "Make PostgreSQL's tables at start, or bring them to this version, as timerd store migrate does")
    static let clusterURL = Setting(
        flag: "cluster-url", value: "url", initial: nil,
        derived: "the first listener of a server that shares a database",
        meaning: "The URL of this server, which the others give to their clients")
    static let clusterListen = Setting(
        flag: "cluster-listen", value: "address", initial: nil,
        meaning: "The address for requests that other servers forward, 10.0.0.1:8081; then any server answers")
    static let clusterTokenFile = Setting(
        flag: "cluster-token-file", value: "file", initial: nil,
        meaning: "The tokens by which servers admit each other, one a line; the first is sent, each is accepted")
    static let standby = Setting(
        flag: "standby", value: "warm|cold", initial: "warm",
        meaning: "warm: a server that stands by holds the timers in memory too; cold: it reads them at a take-over")
    static let acceptLoss = Setting(
        flag: "accept-loss", value: "true|false", initial: "false", form: .yesNo,
        meaning: "Go on at once if a fail-over of PostgreSQL has lost answered changes; else an operator is asked")
    static let durability = Setting(
        flag: "durability", value: "commit|interval=D", initial: "commit",
        meaning: "commit: an answer leaves when it is on disk; interval=100ms: at once, a crash may lose the last 100ms"
    )
    static let ioThreads = Setting(
        flag: "io-threads", value: "n", initial: nil,
        derived: "one fewer than the processors of the server; with TLS as many", form: .number,
        meaning: "Threads that serve connections")
    static let maxTimers = Setting(
        flag: "max-timers", value: "n", initial: "20000000", form: .number,
        meaning: "Most timers; above, creates get 429 timer-limit")
    static let maxStreams = Setting(
        flag: "max-streams", value: "n", initial: "10000", form: .number,
        meaning: "Most open streams and waits; above, they get 503 stream-limit")
    static let maxConnections = Setting(
        flag: "max-connections", value: "n", initial: nil, derived: "--max-streams + 2048", form: .number,
        meaning: "Most connections, also streams; above, the address with most makes room")
    static let maxConnectionsPerAddress = Setting(
        flag: "max-connections-per-address", value: "n", initial: nil, form: .number,
        meaning: "Most connections of one IPv4 address or IPv6 /64; above, they are closed. Default none")
    static let idleTimeout = Setting(
        flag: "idle-timeout", value: "duration", initial: "75s",
        meaning: "How long a kept connection stays open without a request; balancers must close theirs before")
    static let maxIdempotencyKeys = Setting(
        flag: "max-idempotency-keys", value: "n", initial: "1000000", form: .number,
        meaning: "How many idempotency keys are remembered, for 24h at most; above, who holds most forgets its oldest")
    static let maxIdempotencyBytes = Setting(
        flag: "max-idempotency-bytes", value: "size", initial: "256MiB",
        meaning: "How many bytes of answers are kept for idempotency keys; above, who holds most forgets its oldest")
    static let retainEvents = Setting(
        flag: "retain-events", value: "age,size", initial: "24h,1GiB", form: .parts,
        meaning: "How long and how much history is kept, whichever comes first; a part left out sets no bound")
    static let heartbeat = Setting(
        flag: "heartbeat", value: "duration", initial: "15s", meaning: "The longest silence on a stream")
    static let drain = Setting(
        flag: "drain", value: "duration", initial: "10s", meaning: "How long a stop may take")
    static let alarm = Setting(
        flag: "alarm", value: "timerfd|dispatch", initial: "timerfd",
        meaning: "The alarm that wakes the server; dispatch notices a clock step or sleep up to a second late"
    )
    static let tokenFile = Setting(
        flag: "token-file", value: "file", initial: nil,
        meaning: "Bearer tokens of at least 16 bytes, one a line; then requests but health checks need one or a key")
    static let allowHost = Setting(
        flag: "allow-host", value: "name", initial: nil, form: .list,
        meaning:
            "A further name for Host if no token is needed: timers.example, .example (all below) or *; may repeat")
    static let auditLog = Setting(
        flag: "audit-log", value: "file|-", initial: nil,
        meaning: "A file or FIFO, - for stdout: it gets a line of JSON for each change, export and refused request")
    static let logLevel = Setting(
        flag: "log-level", value: "level", initial: "info", reloads: true,
        meaning: "trace, debug, info, notice, warning, error or critical; debug has a line for each request")
    static let logFormat = Setting(
        flag: "log-format", value: "text|json", initial: "text", meaning: "How a line of the log on stderr looks")
    static let webhookPerHost = Setting(
        flag: "webhook-per-host", value: "n", initial: "64", form: .number,
        meaning: "Most webhook deliveries to one host at once")
    static let webhookConcurrency = Setting(
        flag: "webhook-concurrency", value: "n", initial: "1024", form: .number,
        meaning: "Most webhook deliveries at once")
    static let webhookBacklog = Setting(
        flag: "webhook-backlog", value: "n", initial: "10000000", form: .number,
        meaning: "Most webhook deliveries pending; above, the oldest goes dead")
    static let webhookDeadLetters = Setting(
        flag: "webhook-dead-letters", value: "n", initial: "1000000", form: .number,
        meaning: "Most dead letters kept; above, the oldest is dropped")
    static let webhookSecretFile = Setting(
        flag: "webhook-secret-file", value: "file", initial: nil,
        meaning: "Secrets, one whsec_… a line, that sign for webhooks without any of their own; several to rotate")
    static let webhookAllow = Setting(
        flag: "webhook-allow", value: "rule", initial: nil, form: .list, reloads: true,
        meaning: "The targets that webhooks may have, no others: 10.0.0.0/8, example.com or .example.com; may repeat")
    static let webhookDeny = Setting(
        flag: "webhook-deny", value: "rule", initial: nil, form: .list, reloads: true,
        meaning: "The targets that no webhook may have, allowed or not: written as for --webhook-allow; may repeat")
    static let webhookProxy = Setting(
        flag: "webhook-proxy", value: "url", initial: nil, hidesPassword: true,
        meaning: "A proxy for all deliveries: http://host:port or socks5://host:port; the proxy then judges targets")
    static let server = Setting(
        flag: "server", value: "url", initial: "http://127.0.0.1:8080",
        meaning: "The server to ask: http://host:port, https://… or unix:/path")
    static let token = Setting(
        flag: "token", value: "token", initial: nil,
        meaning: "A token or the secret of a key, if the server wants one; the variable keeps it out of ps")

    static let ca = Setting(
        flag: "ca", value: "file", initial: nil, derived: "the system's",
        meaning: "The authorities that an https:// server's certificate may lead to, in PEM")

    static let config = Setting(
        flag: "config", value: "file", initial: nil,
        meaning: "A TOML file whose keys are these flags: max-timers = 5; flags and variables win")

    /// The server's settings, which its file may hold.
    static let serve = [
        listen, tlsCertificate, tlsKey, data, store, storePasswordFile, migrate, clusterURL, clusterListen,
        clusterTokenFile, standby, acceptLoss, durability, ioThreads, maxTimers, maxStreams, maxConnections,
        maxConnectionsPerAddress, idleTimeout,
        maxIdempotencyKeys, maxIdempotencyBytes, retainEvents, heartbeat, drain, alarm,
        tokenFile, allowHost, auditLog, logLevel, logFormat, webhookPerHost, webhookConcurrency, webhookBacklog,
        webhookDeadLetters, webhookSecretFile, webhookAllow, webhookDeny, webhookProxy,
    ]

    /// All settings.
    static let all = serve + [config, server, token, ca]
}
