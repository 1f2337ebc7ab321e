import TimerCore

/// The bytes of a webhook within a timer's definition, in memory and in the log.
///
/// ```
/// shape      a byte: method (3 bits), format (2), a bit each for timeout, retry and secret headers
/// counts     a byte: headers (5 bits), secrets (3)
/// url        length and bytes
/// headers    each: length and bytes of the name, of the value
/// secrets    each: length and bytes of the key
/// timeout    a varint of milliseconds, where its bit is set
/// retry      where its bit is set: varints of maxAttempts (7 bits, then a bit each for maxAge and giveUpOn),
///            initial and max; multiplier and jitter as IEEE 754 doubles, little-endian; where its bit is set a
///            varint of maxAge in milliseconds; where its bit is set varints of how many members giveUpOn has,
///            and of each: the status, or 4 for `4xx`
/// names      where the last bit is set: how many secret headers are named, and each: length and bytes
/// ```
/// Lengths are varints (see `ByteCoding`). A member with its default takes no byte; every configuration has one
/// encoding.
extension WebhookConfiguration {
    private static let hasTimeout: UInt8 = 1 << 5
    private static let hasRetry: UInt8 = 1 << 6
    private static let hasSecretHeaders: UInt8 = 1 << 7
    fileprivate static let attemptsMask: UInt64 = 127
    fileprivate static let hasMaxAge: UInt64 = 1 << 7
    fileprivate static let hasGiveUpOn: UInt64 = 1 << 8
    /// The number that stands for `4xx` among statuses.
    fileprivate static let clientErrors = 4

    /// Encodes the configuration, which must be valid.
    public func encode() -> [UInt8] {
        precondition(
            headers.count <= Self.maximumHeaders && secrets.count <= Self.maximumSecrets && timeoutMs >= 0
                && secretHeaders.count <= Self.maximumHeaders && (0...127).contains(retry.maxAttempts)
                && retry.initialMs >= 0 && retry.maxMs >= 0 && retry.maxAgeMs ?? 0 >= 0,
            "only a configuration that `validate` accepts is encoded")
        var shape = method.rawValue | format.rawValue << 3
        if timeoutMs != Self.defaultTimeoutMs { shape |= Self.hasTimeout }
        if retry != .standard { shape |= Self.hasRetry }
        if !secretHeaders.isEmpty { shape |= Self.hasSecretHeaders }
        var output = ByteWriter()
        output.bytes.append(shape)
        output.bytes.append(UInt8(headers.count) | UInt8(secrets.count) << 5)
        output.run(url.utf8)
        for header in headers {
            output.run(header.name.utf8)
            output.run(header.value.utf8)
        }
        for secret in secrets { output.run(secret.key) }
        if timeoutMs != Self.defaultTimeoutMs { output.number(UInt64(timeoutMs)) }
        if retry != .standard {
            output.retryPolicy(retry)
        }
        if !secretHeaders.isEmpty {
            output.number(UInt64(secretHeaders.count))
            for name in secretHeaders { output.run(name.utf8) }
        }
        return output.bytes
    }

    /// Reads what ``encode()`` wrote; nil for any other bytes.
    ///
    /// The result is valid, and `encode` gives the same bytes again. The rules of ``validate()`` may therefore be
    /// loosened one day but not tightened: logs hold configurations that were accepted under earlier rules.
    public init?(_ bytes: Span<UInt8>) {
        var input = ByteReader(bytes)
        guard let shape = input.byte(), let counts = input.byte(),
            let method = WebhookMethod(rawValue: shape & 7), let format = WebhookFormat(rawValue: shape >> 3 & 3),
            let url = input.text()
        else { return nil }
        self.init(url: url, method: method, format: format)
        for _ in 0..<counts & 31 {
            guard let name = input.text(), let value = input.text() else { return nil }
            headers.append(WebhookHeader(name, value))
        }
        for _ in 0..<counts >> 5 {
            guard let key = input.run(), let secret = WebhookSecret(key: key) else { return nil }
            secrets.append(secret)
        }
        if shape & Self.hasTimeout != 0 {
            guard let number = input.signed(), number != Self.defaultTimeoutMs else { return nil }
            timeoutMs = number
        }
        if shape & Self.hasRetry != 0 {
            guard let policy = input.retryPolicy(), policy != .standard else { return nil }
            retry = policy
        }
        if shape & Self.hasSecretHeaders != 0 {
            guard let count = input.number(), (1...UInt64(Self.maximumHeaders)).contains(count) else { return nil }
            for _ in 0..<count {
                guard let name = input.text() else { return nil }
                secretHeaders.append(name)
            }
        }
        guard input.isAtEnd, (try? validate(isGiven: false)) != nil else { return nil }
    }

    /// Returns the origin of an encoded configuration's URL, as `WebhookURL.origin(of:)` has it, without reading
    /// the rest; nil where no URL is found. In bytes that ``encode()`` wrote the URL is always found.
    public static func origin(encoded bytes: Span<UInt8>) -> String? {
        urlRange(bytes).map { WebhookURL.origin(of: bytes.extracting($0)) }
    }

    /// Returns the URL of an encoded configuration; nil where none is found.
    public static func url(encoded bytes: Span<UInt8>) -> String? {
        urlRange(bytes).map { range in String(decoding: range.map { bytes[$0] }, as: UTF8.self) }
    }

    private static func urlRange(_ bytes: Span<UInt8>) -> Range<Int>? {
        let start = 2
        guard start + 1 < bytes.count else { return nil }
        // The length of a URL takes at most two bytes.
        let isShort = bytes[start] < 0x80
        let count = isShort ? Int(bytes[start]) : Int(bytes[start] & 0x7F) | Int(bytes[start + 1]) << 7
        let url = start + (isShort ? 1 : 2)
        guard count > 0, url + count <= bytes.count else { return nil }
        return url..<url + count
    }
}

/// Appends numbers of variable length and runs of bytes.
private struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func number(_ value: UInt64) { ByteCoding.append(value, to: &bytes) }

    mutating func fixed(_ value: Double) {
        bytes.append(addingCapacity: 8) { ByteCoding.append(word: value.bitPattern, count: 8, to: &$0) }
    }

    mutating func retryPolicy(_ retry: RetryPolicy) {
        typealias Bits = WebhookConfiguration
        let statuses = retry.giveUpOn.entries
        number(
            UInt64(retry.maxAttempts) | (retry.maxAgeMs == nil ? 0 : Bits.hasMaxAge)
                | (statuses.isEmpty ? 0 : Bits.hasGiveUpOn))
        number(UInt64(retry.initialMs))
        number(UInt64(retry.maxMs))
        fixed(retry.multiplier)
        // A negative zero becomes the positive one, which it equals.
        fixed(retry.jitter + 0)
        if let maxAgeMs = retry.maxAgeMs { number(UInt64(maxAgeMs)) }
        guard !statuses.isEmpty else { return }
        number(UInt64(statuses.count))
        for entry in statuses {
            switch entry {
            case .status(let status): number(UInt64(clamping: status))
            case .clientErrors: number(UInt64(Bits.clientErrors))
            }
        }
    }

    mutating func run(_ run: some Collection<UInt8>) { ByteCoding.append(run: run, to: &bytes) }
}

/// Reads what ``ByteWriter`` wrote; nil for bytes that it would not have written.
private struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: Span<UInt8>) { self.bytes = bytes.indices.map { bytes[$0] } }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        offset += 1
        return bytes[offset - 1]
    }

    mutating func number() -> UInt64? {
        let (bytes, start) = (bytes, offset)
        // A last byte of 0 after others would be a second encoding.
        guard let value = ByteCoding.read(bytes.span, &offset), offset == start + 1 || bytes[offset - 1] != 0 else {
            return nil
        }
        return value
    }

    mutating func signed() -> Int64? { number().flatMap { Int64(exactly: $0) } }

    mutating func fixed() -> UInt64? {
        let bytes = bytes
        return ByteCoding.readFixed(bytes.span, &offset, count: 8)
    }

    mutating func run() -> [UInt8]? {
        guard let count = number(), count <= UInt64(bytes.count - offset) else { return nil }
        let start = offset
        offset += Int(count)
        return Array(bytes[start..<offset])
    }

    mutating func text() -> String? { run().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func retryPolicy() -> RetryPolicy? {
        typealias Bits = WebhookConfiguration
        guard let attempts = number(), attempts < Bits.hasGiveUpOn << 1, let initialMs = signed(), let maxMs = signed(),
            let multiplier = fixed(), let jitter = fixed()
        else { return nil }
        // A negative zero equals zero and would be a second encoding.
        guard jitter != (-0.0).bitPattern else { return nil }
        var policy = RetryPolicy(
            maxAttempts: Int(attempts & Bits.attemptsMask), initialMs: initialMs,
            multiplier: Double(bitPattern: multiplier), maxMs: maxMs, jitter: Double(bitPattern: jitter))
        if attempts & Bits.hasMaxAge != 0 {
            guard let maxAgeMs = signed() else { return nil }
            policy.maxAgeMs = maxAgeMs
        }
        if attempts & Bits.hasGiveUpOn != 0 {
            guard let statuses = finalStatuses() else { return nil }
            policy.giveUpOn = statuses
        }
        return policy
    }

    /// Reads a list that is not empty, each member once.
    private mutating func finalStatuses() -> FinalStatuses? {
        guard let count = number(), (1...UInt64(FinalStatuses.mostEntries)).contains(count) else { return nil }
        var statuses = FinalStatuses()
        for _ in 0..<count {
            guard let status = number().flatMap({ Int(exactly: $0) }) else { return nil }
            statuses.insert(status == WebhookConfiguration.clientErrors ? .clientErrors : .status(status))
        }
        return statuses.entries.count == Int(count) ? statuses : nil
    }
}
