import HTTPServer
import Logging
import Platform
import TimerAPI
import TimerCore
import TimerLog
import TimerService

/// The configuration of `timerd serve`, read and checked.
struct ServeConfiguration: Sendable {
    /// Most listeners.
    static let maximumListeners = 64
    /// Most names that `--allow-host` may list.
    static let maximumHosts = 1024

    /// Listening sockets that the service manager passed on.
    let passedSockets: [PassedSocket]
    /// The addresses to listen at besides the passed sockets.
    let listeners: [ListenAddress]
    /// The certificate and key of the listeners with TLS; nil where there are none.
    let tls: Published<TLSIdentity?>
    let dataDirectory: String
    let store: StoreKind
    /// Whether the tables of a database are made or migrated to this version at start.
    let migrates: Bool
    /// The URL of this server, reported to clients that ask another one; nil for that of its first listener.
    let clusterURL: String?
    /// The address that the other servers of a database forward requests to; nil where none are forwarded.
    let clusterListener: ListenAddress?
    /// The tokens by which servers authenticate each other; empty where nothing is forwarded.
    let clusterTokens: [[UInt8]]
    /// Whether this server follows the log while another one owns it.
    let standby: StandbyKind
    let engine: EngineConfiguration
    /// The number of I/O threads; nil for the default, which depends on the processors.
    let ioThreads: Int?
    let maximumStreams: Int
    /// The most connections; nil for the default, which depends on the number of streams.
    let maximumConnections: Int?
    /// The most connections of one client address; nil for no bound.
    let maximumConnectionsPerAddress: Int?
    let idleMilliseconds: Int64
    let heartbeatMilliseconds: Int64
    /// The seconds that a stop may take.
    let drainSeconds: Double
    let alarm: AlarmKind
    /// The tokens that are accepted, and whether requests are logged.
    let access = Published(AccessSettings())
    let allowedHosts: [HostRule]
    /// The file of the audit log, `-` for standard output; nil for none.
    let auditLog: String?
    let logLevel: Published<Logger.Level>
    let logFormat: LogFormat

    /// Reads and checks the settings.
    ///
    /// - Parameter running: the certificate and key in force, if a server runs already.
    /// - Throws: `usage` at the first invalid value of a flag or variable, `unusable` for one in a file, such as
    ///   those of tokens and secrets.
    init(_ settings: SettingReader, running: TLSIdentity? = nil) throws(Failure) {
        passedSockets = try PassedSockets.all(settings.environment)
        let listen = try settings.all(.listen)
        // Passed sockets replace the default listener; a `--listen` that is set is added to them.
        let isSaid = listen.contains { !$0.origin.isDefault }
        listeners = passedSockets.isEmpty || isSaid ? try Self.listeners(listen) : []
        guard passedSockets.count + listeners.count <= Self.maximumListeners else {
            throw Failure(.unusable, "more than \(Self.maximumListeners) listeners, passed sockets among them")
        }
        tls = Published(
            try TLSIdentity.read(
                settings, missing: Self.missingCertificate(passedSockets, zip(listen, listeners)), running: running))
        dataDirectory = try settings.one(.data).nonEmpty()
        store = try StoreKind(settings)
        migrates = try settings.one(.migrate).yesNo()
        clusterURL = try settings.all(.clusterURL).first.map { value throws(Failure) in try Self.url(value) }
        (clusterListener, clusterTokens) = try Self.forwarding(settings)
        standby = try settings.one(.standby).word(StandbyKind.self)
        var engine = EngineConfiguration()
        engine.durability = try Self.durability(settings.one(.durability))
        if store.isShared { try Self.checkShared(settings, engine.durability) }
        // A slot's index has 32 bits.
        engine.maximumTimers = try settings.one(.maxTimers).integer(1...2_000_000_000)
        engine.maximumIdempotencyKeys = try settings.one(.maxIdempotencyKeys).integer(1...1_000_000_000)
        engine.maximumIdempotencyBytes = try settings.one(.maxIdempotencyBytes).bytes(1 << 20)
        (engine.retainMilliseconds, engine.retainBytes) = try Self.retention(settings.one(.retainEvents))
        engine.deliveries = try DeliveryConfiguration(settings)
        engine.acceptsLosses = try settings.one(.acceptLoss).yesNo()
        engine.zones = HostZones.source()
        engine.measuresEveryHold = settings.environment[Environment.measureHolds] != nil
        self.engine = engine
        ioThreads = try settings.all(.ioThreads).first?.integer(1...256)
        maximumStreams = try settings.one(.maxStreams).integer(1...10_000_000)
        maximumConnections = try settings.all(.maxConnections).first?.integer(1...10_000_000)
        maximumConnectionsPerAddress = try settings.all(.maxConnectionsPerAddress).first?.integer(1...10_000_000)
        idleMilliseconds = try settings.one(.idleTimeout).duration(1000...3_600_000)
        heartbeatMilliseconds = try settings.one(.heartbeat).duration(10...3_600_000)
        drainSeconds = Double(try settings.one(.drain).duration(0...3_600_000)) / 1000
        alarm = try settings.one(.alarm).word(AlarmKind.self)
        allowedHosts = try Self.hosts(settings.all(.allowHost))
        auditLog = try settings.all(.auditLog).first?.nonEmpty()
        let level = try settings.one(.logLevel)
        guard let logLevel = Logger.Level(rawValue: level.text) else {
            throw level.refusal("expected \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.logLevel = Published(logLevel)
        logFormat = try settings.one(.logFormat).word(LogFormat.self)
        var access = AccessSettings()
        access.logsRequests = logLevel <= .debug
        if let file = try settings.all(.tokenFile).first {
            access.tokens = try TokenFile.read(file.nonEmpty(), refusesKeys: true)
        }
        self.access.publish(access)
    }

    /// Refuses a log with access keys where there is no token file.
    ///
    /// Nobody is asked for a credential then, so that the keys would keep nobody out.
    ///
    /// - Parameter keys: the keys of the log.
    func check(keys: KeyRing) throws(StoreError) {
        guard keys.count > 0, access.value.tokens.isEmpty else { return }
        throw StoreError(
            .unusable,
            "the log holds access keys, and without a token file nobody would be asked for one: "
                + "--\(Setting.tokenFile.flag) or \(Setting.tokenFile.variable) names a file of tokens, which have every "
                + "right, one of at least \(TokenFile.shortest) bytes a line")
    }

    /// Refuses settings that make no sense with a database.
    private static func checkShared(_ settings: SettingReader, _ durability: Durability) throws(Failure) {
        if durability != .commit {
            throw Failure(
                .unusable,
                "\(try settings.one(.durability).origin): PostgreSQL commits at once: leave it out, or use "
                    + "synchronous_commit of the database")
        }
        let data = try settings.one(.data)
        switch data.origin {
        // The container image sets the variable for every store.
        case .initial, .variable: return
        case .flag, .file:
            throw Failure(.unusable, "\(data.origin): --store postgres://… keeps nothing in a directory: leave it out")
        }
    }

    private static func forwarding(_ settings: SettingReader) throws(Failure) -> (ListenAddress?, [[UInt8]]) {
        let listen = try settings.all(.clusterListen).first
        let file = try settings.all(.clusterTokenFile).first
        guard let listen, let file else {
            if let given = listen ?? file {
                throw given.refusal("--cluster-listen and --cluster-token-file go together")
            }
            return (nil, [])
        }
        let address = try Self.address(listen)
        guard case .tcp(_, _, isSecure: false) = address else {
            throw listen.refusal("expected an address with a port, and without https")
        }
        return (address, try TokenFile.read(file.nonEmpty()))
    }

    private static func url(_ value: SettingValue) throws(Failure) -> String {
        let isURL = ["http://", "https://"].contains { value.text.hasPrefix($0) && value.text.count > $0.count }
        guard isURL, value.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw value.refusal("expected a URL such as http://10.0.0.2:8080")
        }
        return value.text
    }

    /// Returns the failure for the first listener with TLS where there is no certificate; nil where no listener has TLS.
    private static func missingCertificate(
        _ passed: [PassedSocket], _ listeners: some Sequence<(SettingValue, ListenAddress)>
    ) -> Failure? {
        let needs = "a listener with TLS needs --tls-certificate and --tls-key"
        if let socket = passed.first(where: \.isSecure) {
            return Failure(.unusable, "the passed socket \(socket.descriptor), called https: \(needs)")
        }
        return listeners.first { $0.1.isSecure }.map { value, _ in value.refusal(needs) }
    }

    /// Returns the addresses that `--listen` gives, at least one.
    static func listeners(_ values: [SettingValue]) throws(Failure) -> [ListenAddress] {
        var listeners: [ListenAddress] = []
        for value in values {
            listeners.append(try address(value))
            guard listeners.count <= maximumListeners else {
                throw value.refusal("more than \(maximumListeners) listeners")
            }
        }
        guard !listeners.isEmpty else { throw Failure(.unusable, "there is no address to listen at") }
        return listeners
    }

    /// Returns an address that a socket can be bound to.
    private static func address(_ value: SettingValue) throws(Failure) -> ListenAddress {
        do throws(ListenError) {
            let address = try ListenAddress(parsing: value.text)
            try address.check()
            return address
        } catch {
            throw value.hiddenRefusal("\(error)")
        }
    }

    private static func durability(_ value: SettingValue) throws(Failure) -> Durability {
        let prefix = "interval="
        if value.text == "commit" { return .commit }
        guard value.text.hasPrefix(prefix) else {
            throw value.refusal("expected commit or an interval such as interval=100ms")
        }
        return .interval(try value.duration(value.text.dropFirst(prefix.count), 1...60_000) * 1_000_000)
    }

    /// Returns the retention in milliseconds and bytes; a part that is left out has the largest value there is.
    private static func retention(_ value: SettingValue) throws(Failure) -> (Int64, Int) {
        var age: Int64?
        var size: Int?
        for part in value.text.split(separator: ",", omittingEmptySubsequences: false) {
            if let bytes = ByteSize.parse(part), size == nil {
                size = bytes
            } else if age == nil, let first = part.utf8.last, !"Bb".utf8.contains(first) {
                age = try value.duration(part, 0...longestAge)
            } else {
                throw value.refusal("expected an age, a size or both, such as 24h,1GiB")
            }
        }
        return (age ?? longestAge, size ?? ByteSize.maximum)
    }

    /// The longest duration there is, 36,525 days, in milliseconds.
    private static let longestAge: Int64 = 36_525 * 86_400_000

    private static func hosts(_ values: [SettingValue]) throws(Failure) -> [HostRule] {
        guard values.count <= maximumHosts else {
            throw values[maximumHosts].refusal("more than \(maximumHosts) names")
        }
        var hosts: [HostRule] = []
        for value in values {
            guard let host = HostRule(value.text) else {
                throw value.refusal("expected a host name without a port, .name for all below it, or *")
            }
            hosts.append(host)
        }
        return hosts
    }
}
