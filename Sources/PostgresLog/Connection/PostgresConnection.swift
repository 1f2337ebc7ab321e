internal import CPQ
public import Platform
internal import TimerLog

/// One connection to the server. Confined to one thread at a time.
///
/// Nothing waits without a deadline: libpq is used without blocking. A statement is done when the server is ready
/// for the next one, as its answers can precede the commit. A statement that is not answered in time is never
/// cancelled, since a cancelled wait for a standby counts as a success: its connection is closed.
@safe public final class PostgresConnection {
    /// The purpose of a connection: its name on the server, and how long its statements may take there.
    public struct Purpose: Sendable {
        /// The session of the process; the server knows its connections as `timerd:SESSION`.
        public var session: Int64
        /// Nanoseconds after which the server itself ends a statement; 0 for never.
        public var statementTimeout: Int64 = PostgresTimeouts().statement
        /// The event that aborts the statement under way once it is signalled.
        public var interrupt: EventFD?

        /// The name of the connection on the server.
        public var applicationName: String { "timerd:\(session)" }
    }

    private let handle: OpaquePointer
    private let notices: UnsafeMutablePointer<cpq_notices>
    private let address: PostgresAddress
    private let interrupt: EventFD?
    private var prepared: Set<String> = []
    private var isBroken = false
    private var statementTimeout: Int64
    /// The backend's process id on the server.
    public private(set) var backend: Int32 = 0
    /// The server's version: 150018 for 15.18.
    public var version: Int { unsafe Int(PQserverVersion(handle)) }

    /// Connects to the first host of the address that answers and takes writes, and sets up the session.
    public static func open(
        _ address: PostgresAddress, for purpose: Purpose, _ timeouts: PostgresTimeouts = PostgresTimeouts()
    ) throws(PostgresFailure) -> PostgresConnection {
        let attempts = address.attempts(
            overriding: [
                "application_name": purpose.applicationName, "client_encoding": "UTF8",
            ],
            defaults: ["target_session_attrs": "read-write", "tcp_user_timeout": "5000", "keepalives_idle": "10"])
        var failures: [PostgresFailure] = []
        for parameters in attempts {
            do throws(PostgresFailure) {
                let connection = try PostgresConnection(parameters, address, purpose, timeouts)
                try connection.setUp(purpose, timeouts)
                return connection
            } catch {
                failures.append(error)
            }
        }
        // A failure that an operator can mend is reported in preference to one that may pass.
        guard var failure = failures.first(where: { $0.kind == .unusable }) ?? failures.last else {
            preconditionFailure("an address has at least one attempt")
        }
        failure.description = failures.map(\.description).joined(separator: "; ")
        throw failure
    }

    private init(
        _ parameters: [String: String], _ address: PostgresAddress, _ purpose: Purpose, _ timeouts: PostgresTimeouts
    ) throws(PostgresFailure) {
        let sorted = parameters.sorted { $0.key < $1.key }
        let made = unsafe CStrings.withPointers(sorted.map(\.key)) { keywords in
            unsafe CStrings.withPointers(sorted.map(\.value)) { values in
                unsafe PQconnectStartParams(keywords, values, 0)
            }
        }
        guard let made = unsafe made else { throw PostgresFailure("out of memory", isCertain: true, kind: .io) }
        unsafe handle = made
        unsafe notices = .allocate(capacity: 1)
        unsafe notices.initialize(to: cpq_notices())
        self.address = address
        interrupt = purpose.interrupt
        statementTimeout = purpose.statementTimeout
        unsafe cpq_watch_notices(handle, notices)
        // The SQLSTATE of a refused connection is in verbose messages alone.
        unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let seconds = parameters["connect_timeout"].flatMap(Int64.init) ?? 0
        let limit = seconds > 0 ? seconds * 1_000_000_000 : timeouts.connect
        try connect(until: Clocks.monotonic() + limit)
        unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        unsafe PQsetnonblocking(handle, 1)
    }

    deinit {
        unsafe PQfinish(handle)
        unsafe notices.deallocate()
    }

    /// Whether statements can be sent: the connection was not lost, as far as is known without asking the server.
    public func isAlive() -> Bool {
        guard !isBroken, unsafe PQstatus(handle) == CONNECTION_OK else { return false }
        unsafe notices.pointee.failures = 0
        while unsafe cpq_wait(PQsocket(handle), 0, -1, 0) & 1 != 0 {
            guard unsafe PQconsumeInput(handle) == 1 else {
                isBroken = true
                return false
            }
            // Makes libpq take in what has come.
            _ = unsafe PQisBusy(handle)
            if unsafe notices.pointee.failures > 0 || PQstatus(handle) != CONNECTION_OK {
                isBroken = true
                return false
            }
        }
        return true
    }

    /// Runs a statement that is a transaction of its own, and waits until it is committed.
    ///
    /// - Parameter within: nanoseconds until it is aborted.
    public func run(
        _ statement: PostgresStatement, _ values: [PostgresValue] = [],
        within limit: Int64 = PostgresTimeouts().statement
    ) throws(PostgresFailure) -> PostgresResult {
        guard isAlive() else { throw PostgresFailure("the connection was lost", isCertain: true) }
        let deadline = Clocks.monotonic() + limit
        if !prepared.contains(statement.name) {
            do throws(PostgresFailure) {
                _ = try exchange(until: deadline) {
                    unsafe PQsendPrepare(handle, statement.name, statement.text, 0, nil)
                }
            } catch {
                var failure = error
                failure.isCertain = true
                throw failure
            }
            prepared.insert(statement.name)
        }
        let parameters = PostgresParameters(values)
        return try exchange(until: deadline) {
            unsafe parameters.bytes.withUnsafeBufferPointer { bytes in
                let start = unsafe bytes.baseAddress.map {
                    unsafe UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
                }
                // An empty value is not NULL: it has an address.
                let empty: StaticString = ""
                let fallback = unsafe UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
                let pointers = unsafe parameters.offsets.map { offset in
                    unsafe offset.map { offset in unsafe (start ?? fallback) + offset }
                }
                let formats = [Int32](repeating: 1, count: parameters.offsets.count)
                return unsafe PQsendQueryPrepared(
                    handle, statement.name, Int32(formats.count), pointers, parameters.lengths, formats, 1)
            }
        }
    }

    /// Runs any number of statements without parameters, in one transaction unless they say otherwise; rows are
    /// dropped.
    @discardableResult
    public func execute(
        _ text: String, within limit: Int64 = PostgresTimeouts().statement
    ) throws(PostgresFailure) -> PostgresResult {
        guard isAlive() else { throw PostgresFailure("the connection was lost", isCertain: true) }
        return try exchange(until: Clocks.monotonic() + limit) { unsafe PQsendQuery(handle, text) }
    }

    /// Whether the session is outside of any transaction, so that what was answered last is committed.
    public var isIdle: Bool { unsafe PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Makes the server end each statement of this session after `nanoseconds`.
    func limitStatements(to nanoseconds: Int64) throws(PostgresFailure) {
        guard nanoseconds != statementTimeout else { return }
        try execute("SET statement_timeout = \((nanoseconds + 999_999) / 1_000_000)")
        statementTimeout = nanoseconds
    }

    // MARK: The exchange with the server

    private func connect(until deadline: Int64) throws(PostgresFailure) {
        var isWriting = true
        while true {
            switch unsafe PQconnectPoll(handle) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: isWriting = false
            case PGRES_POLLING_WRITING: isWriting = true
            default: throw refusal()
            }
            guard wait(isWriting: isWriting, until: deadline) else {
                throw PostgresFailure("\(address) does not answer", isCertain: true)
            }
        }
    }

    /// Sends a statement, and takes all answers of the server until that is ready for the next one.
    private func exchange(until deadline: Int64, _ send: () -> Int32) throws(PostgresFailure) -> PostgresResult {
        unsafe notices.pointee = cpq_notices()
        guard send() == 1 else { throw broken(nil) }
        var last: OpaquePointer?
        var refused: PostgresFailure?
        while true {
            let unsent = unsafe PQflush(handle)
            if unsent < 0 {
                unsafe PQclear(last)
                throw broken(refused)
            }
            if unsafe PQisBusy(handle) == 0 {
                guard let result = unsafe PQgetResult(handle) else { break }
                switch unsafe PQresultStatus(result) {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                    unsafe PQclear(last)
                    unsafe last = result
                default:
                    // The first error is the cause; those after it follow from it.
                    if refused == nil { refused = unsafe failure(result) }
                    unsafe PQclear(result)
                }
                continue
            }
            guard wait(isWriting: unsent > 0, until: deadline) else {
                unsafe PQclear(last)
                isBroken = true
                throw PostgresFailure("the server did not answer in time", isCertain: false)
            }
            guard unsafe PQconsumeInput(handle) == 1 else {
                unsafe PQclear(last)
                throw broken(refused)
            }
        }
        guard unsafe PQstatus(handle) == CONNECTION_OK, let made = unsafe last, refused == nil else {
            unsafe PQclear(last)
            if let refused, unsafe PQstatus(handle) == CONNECTION_OK { throw refused }
            throw broken(refused)
        }
        let warning = unsafe notices.pointee.warnings > 0 ? notice() : nil
        return unsafe PostgresResult(made, warning: warning)
    }

    /// Waits until there is something to read or, where `isWriting`, room to write. Returns false when the time ran
    /// out or the interrupt was signalled.
    private func wait(isWriting: Bool, until deadline: Int64) -> Bool {
        while true {
            let left = (deadline - Clocks.monotonic() + 999_999) / 1_000_000
            guard left > 0 else { return false }
            let ready = unsafe cpq_wait(
                PQsocket(handle), isWriting ? 1 : 0, interrupt?.descriptor ?? -1, Int32(min(left, 1_000_000)))
            if ready & 4 != 0 { return false }
            if ready & 3 != 0 { return true }
        }
    }

    /// Marks the connection as lost. Returns a failure that leaves the outcome of the statement open.
    private func broken(_ refused: PostgresFailure?) -> PostgresFailure {
        isBroken = true
        if var refused {
            refused.isCertain = false
            return refused
        }
        let said =
            unsafe notices.pointee.failures > 0 ? notice() : firstLine(unsafe String(cString: PQerrorMessage(handle)))
        return PostgresFailure(address.withoutSecrets(said), isCertain: false)
    }

    private func failure(_ result: OpaquePointer) -> PostgresFailure {
        let state = unsafe cpq_state(result).map { unsafe String(cString: $0) }
        let text =
            unsafe cpq_message(result).map { unsafe String(cString: $0) }
            ?? firstLine(unsafe String(cString: PQresultErrorMessage(result)))
        // Each session prepares a statement once, under a name of its own, so these two states mean that backends
        // were exchanged.
        if state == "42P05" || state == "26000" { return PoolerCheck.failure }
        return PostgresFailure(address.withoutSecrets(text), state: state, isCertain: true)
    }

    /// Returns why the server, or the way to it, refused the connection.
    private func refusal() -> PostgresFailure {
        let text = unsafe String(cString: PQerrorMessage(handle))
        let line = address.withoutSecrets(firstLine(text))
        // "… FATAL:  28P01: password authentication failed …"
        let state = line.split(separator: ": ").map { $0.drop { $0 == " " } }.first { part in
            part.utf8.count == 5 && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
                && part.utf8.contains { (0x30...0x39).contains($0) }
        }
        return PostgresFailure(line, state: state.map(String.init), isCertain: true)
    }

    private func notice() -> String {
        let text = unsafe withUnsafeBytes(of: notices.pointee.text) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return address.withoutSecrets(text)
    }

    private func firstLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "the connection was lost"
    }

    // MARK: The session

    /// Sets the parameters that every statement relies on, whatever the role, the database and the server set.
    private static let settings = PostgresStatement(
        "timerd_settings",
        """
        SELECT pg_backend_pid(), set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
          set_config('client_min_messages', 'warning', false), set_config('plan_cache_mode', 'force_generic_plan', false),
          set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
          set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
          set_config('jit', 'off', false), set_config('default_transaction_isolation', 'read committed', false),
          set_config('lock_timeout', '0', false), set_config('statement_timeout', $1::text, false),
          set_config('application_name', $2::text, false)
        """)

    private func setUp(_ purpose: Purpose, _ timeouts: PostgresTimeouts) throws(PostgresFailure) {
        guard version >= 130_000 else {
            throw PostgresFailure(
                "the server is PostgreSQL \(version / 10_000); timerd needs 13 or later", isCertain: true,
                kind: .unusable)
        }
        let milliseconds = (purpose.statementTimeout + 999_999) / 1_000_000
        let result = try run(
            Self.settings, [.text("\(milliseconds)"), .text(purpose.applicationName)], within: timeouts.statement)
        backend = Int32(truncatingIfNeeded: result.integer(0, 0))
    }
}

/// Lists of texts in the form that C takes.
@safe enum CStrings {
    /// Runs `body` with pointers to copies of `texts`, and a null pointer after the last.
    static func withPointers<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        var offsets: [Int] = []
        for text in texts {
            offsets.append(bytes.count)
            bytes.append(contentsOf: text.utf8CString)
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for offset in offsets { unsafe pointers.append(buffer.baseAddress.map { start in unsafe start + offset }) }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let start = list.baseAddress else {
                    preconditionFailure("the list has a null pointer at least")
                }
                return unsafe body(start)
            }
        }
    }
}
