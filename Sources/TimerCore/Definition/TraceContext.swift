import Primitives

/// The trace that a request belongs to, and the span of the trace that caused the request: `traceparent` and
/// `tracestate` of W3C Trace Context.
///
/// The kept form is one run of bytes: the flags, the trace's id (16 bytes), the span's id (8 bytes), both with the
/// highest byte first, and the text of `tracestate` as it came.
public struct TraceContext: Sendable, Hashable {
    /// The first half of the trace's id; the halves are not both 0.
    let traceHigh: UInt64
    /// The second half of the trace's id.
    let traceLow: UInt64
    /// The id of the span that caused the request; not 0.
    var span: UInt64
    /// The known bits of the last field of `traceparent`: that the trace is sampled, and that its id is random.
    let flags: UInt8
    /// The text of `tracestate`; empty for none.
    public let state: [UInt8]

    private static let knownFlags: UInt8 = 3
    /// The bytes of a `traceparent` of version 00.
    static let parentCount = 55
    /// The most bytes of a `tracestate`; a longer one is dropped.
    public static let mostStateBytes = 512
    /// The most members of a `tracestate`, by the standard; one with more is dropped.
    private static let mostStateMembers = 32
    private static let idsCount = 25

    /// Reads the headers of a request; nil where `parent` is malformed. A `state` that is malformed or too long is
    /// dropped.
    ///
    /// A version above 00 is read as far as 00 goes, as the standard demands; there is no version `ff`.
    public init?(parent: ArraySlice<UInt8>, state: [UInt8] = []) {
        let dash = UInt8(ascii: "-")
        let text = Array(parent)
        guard text.count >= Self.parentCount, [2, 35, 52].allSatisfy({ text[$0] == dash }),
            let version = Self.number(text[0..<2]), version != 0xFF,
            text.count == Self.parentCount || version != 0 && text[Self.parentCount] == dash,
            let high = Self.number(text[3..<19]), let low = Self.number(text[19..<35]), high | low != 0,
            let span = Self.number(text[36..<52]), span != 0, let flags = Self.number(text[53..<55])
        else { return nil }
        (traceHigh, traceLow, self.span) = (high, low, span)
        self.flags = UInt8(truncatingIfNeeded: flags) & Self.knownFlags
        self.state = Self.isState(state) ? state : []
    }

    /// Decodes the kept form; nil where `bytes` are none.
    init?(kept bytes: Span<UInt8>) {
        guard (Self.idsCount...Self.idsCount + Self.mostStateBytes).contains(bytes.count) else { return nil }
        func word(at start: Int) -> UInt64 { (start..<start + 8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
        (flags, traceHigh, traceLow, span) = (bytes[0], word(at: 1), word(at: 9), word(at: 17))
        state = (Self.idsCount..<bytes.count).map { bytes[$0] }
        guard flags <= Self.knownFlags, traceHigh | traceLow != 0, span != 0 else { return nil }
    }

    /// The kept form.
    public var kept: [UInt8] {
        var bytes = [flags]
        bytes.reserveCapacity(Self.idsCount + state.count)
        for word in [traceHigh, traceLow, span] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes + state
    }

    /// The text of `traceparent`, of version 00.
    public var parent: String {
        "00-\(Self.text(traceHigh))\(Self.text(traceLow))-\(Self.text(span))-\(Self.text(UInt64(flags), digits: 2))"
    }

    /// Returns the same trace with another span, not 0, as the cause of what follows.
    public func caused(by span: UInt64) -> TraceContext {
        var context = self
        context.span = span
        return context
    }

    private static func text(_ number: UInt64, digits: Int = 16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// Returns the number of at most sixteen hexadecimal digits in lower case; nil for other text.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// Whether `text` is a list of members `key=value` in printable ASCII. The members are passed on as they are, so
    /// their keys and values are left to the systems that know them.
    private static func isState(_ text: [UInt8]) -> Bool {
        guard text.count <= mostStateBytes, text.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            return false
        }
        let members = text.split(separator: UInt8(ascii: ","))
            .map { $0.drop { $0 == 0x20 || $0 == 0x09 } }.filter { !$0.isEmpty }
        return members.count <= mostStateMembers
            && members.allSatisfy { $0.first != UInt8(ascii: "=") && $0.contains(UInt8(ascii: "=")) }
    }
}

/// The trace context that a definition keeps: that of the last request which brought one and made, replaced or
/// patched the timer.
///
/// The context begins the labels, as an entry whose key has the length 0, as no label's has: the byte 0, a varint
/// length, and `TraceContext.kept`. So every event shows the context, and a definition without one is no longer for
/// it.
extension Definition {
    /// The byte that begins the entry, in place of a key's length.
    static let traceMark: UInt8 = 0

    /// Returns where the first label begins in the labels at `run`: after the trace context, if there is one.
    static func labelsStart(_ bytes: Span<UInt8>, _ run: Range<Int>) -> Int {
        guard !run.isEmpty, bytes[run.lowerBound] == traceMark else { return run.lowerBound }
        return keptTrace(bytes, run)?.upperBound ?? run.upperBound
    }

    /// Returns the range of the kept context in the labels at `run`; nil where there is none, or a damaged one.
    private static func keptTrace(_ bytes: Span<UInt8>, _ run: Range<Int>) -> Range<Int>? {
        guard !run.isEmpty, bytes[run.lowerBound] == traceMark else { return nil }
        var offset = run.lowerBound + 1
        guard let count = ByteCoding.read(bytes, &offset), offset <= run.upperBound,
            count <= UInt64(run.upperBound - offset)
        else { return nil }
        return offset..<offset + Int(count)
    }

    /// Whether the definition (or prefix of one) `bytes` keeps a trace context.
    public static func keepsTrace(_ bytes: Span<UInt8>) -> Bool {
        var offset = nameCount(bytes)
        guard let count = ByteCoding.read(bytes, &offset), count > 0, offset < bytes.count else { return false }
        return bytes[offset] == traceMark
    }

    /// Returns the trace context of the definition (or prefix of one) `bytes`; nil for none.
    public static func trace(_ bytes: Span<UInt8>) -> TraceContext? {
        guard keepsTrace(bytes), let run = labelRun(bytes), let kept = keptTrace(bytes, run) else { return nil }
        return TraceContext(kept: bytes.extracting(kept))
    }

    /// Replaces the trace context of the definition `bytes` by the one whose kept form is `trace`; empty for none.
    public static func setTrace(_ trace: [UInt8], in bytes: inout [UInt8]) {
        guard let run = labelRun(bytes.span) else { return }
        let start = labelsStart(bytes.span, run)
        var entry: [UInt8] = []
        if !trace.isEmpty {
            entry.append(traceMark)
            ByteCoding.append(UInt64(trace.count), to: &entry)
            entry += trace
        }
        var head: [UInt8] = []
        ByteCoding.append(UInt64(entry.count + run.upperBound - start), to: &head)
        bytes.replaceSubrange(nameCount(bytes.span)..<start, with: head + entry)
    }

    /// Copies the trace context of `old` into the definition `bytes`, unless `bytes` has one of its own.
    static func keepTrace(of old: Span<UInt8>, in bytes: inout [UInt8]) {
        guard keepsTrace(old), !keepsTrace(bytes.span), let trace = trace(old) else { return }
        setTrace(trace.kept, in: &bytes)
    }
}
