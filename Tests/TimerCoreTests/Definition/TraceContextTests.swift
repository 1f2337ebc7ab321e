import TestSupport
import Testing

@testable import TimerCore

// The testing macros take no spans.
extension Definition {
    fileprivate static func keepsTrace(_ bytes: [UInt8]) -> Bool { keepsTrace(bytes.span) }
    fileprivate static func trace(_ bytes: [UInt8]) -> TraceContext? { trace(bytes.span) }
    fileprivate static func isWhole(_ bytes: [UInt8]) -> Bool { isWhole(bytes.span) }
    fileprivate static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool { isSame(left.span, right.span) }
}

extension TraceContext {
    fileprivate init?(kept bytes: [UInt8]) { self.init(kept: bytes.span) }
}

/// The headers of W3C Trace Context, and the form in which definitions keep them.
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"
    private static let parent = "00-\(trace)-\(span)-01"

    private static func context(_ parent: String = parent, state: String = "") -> TraceContext? {
        TraceContext(parent: Array(parent.utf8)[...], state: Array(state.utf8))
    }

    @Test(arguments: [
        (parent, parent), ("00-\(trace)-\(span)-00", "00-\(trace)-\(span)-00"),
        // Unknown bits are dropped; a newer version is read as far as 00 goes.
        ("00-\(trace)-\(span)-ff", "00-\(trace)-\(span)-03"), ("01-\(trace)-\(span)-01", parent),
        ("cc-\(trace)-\(span)-01-what-comes-later", parent),
        // Half an id may be 0.
        ("00-\(String(repeating: "0", count: 31))1-\(span)-01", "00-\(String(repeating: "0", count: 31))1-\(span)-01"),
    ])
    func `a traceparent is read`(given: String, text: String) throws {
        let context = try #require(Self.context(given))
        #expect(context.parent == text)
        #expect(TraceContext(kept: context.kept) == context)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x",
        "01-\(trace)-\(span)-01x", "ff-\(trace)-\(span)-01", "00-\(trace.uppercased())-\(span)-01",
        "0G-\(trace)-\(span)-01",
        "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
        "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01",
        "00-\(trace.dropLast())é-\(span)-01",
        " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-0G", "00-\(trace)-00f067aa0ba902bG-01",
    ])
    func `a malformed traceparent is none`(given: String) { #expect(Self.context(given) == nil) }

    @Test(arguments: [
        "a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1, b=2 ,,",
        String(repeating: "a", count: 255) + "=" + String(repeating: "b", count: 256),
        (0..<32).map { "k\($0)=v" }.joined(separator: ","),
    ])
    func `a tracestate is kept as it came`(state: String) throws {
        let context = try #require(Self.context(state: state))
        #expect(context.state == Array(state.utf8))
        #expect(TraceContext(kept: context.kept) == context)
    }

    @Test(arguments: [
        "a", "=1", "a=é", "a=\u{7F}", "a=1\n", "a=" + String(repeating: "b", count: 511),
        (0..<33).map { "k\($0)=v" }.joined(separator: ","),
    ])
    func `a malformed or long tracestate is dropped, and the rest stays`(state: String) throws {
        let context = try #require(Self.context(state: state))
        #expect(context.state.isEmpty && context.parent == Self.parent)
    }

    @Test func `the kept form that is cut is none`() throws {
        let kept = try #require(Self.context()).kept
        for count in kept.indices { #expect(TraceContext(kept: Array(kept[..<count])) == nil) }
        #expect(TraceContext(kept: kept + [UInt8](repeating: 0x61, count: TraceContext.mostStateBytes + 1)) == nil)
    }

    @Test func `another span belongs to the same trace`() throws {
        let context = try #require(Self.context(state: "a=1"))
        let next = context.caused(by: 1)
        #expect(next.parent == "00-\(Self.trace)-0000000000000001-01" && next.state == context.state)
    }

    @Test func `a definition keeps a context before its labels, and is no longer without one`() throws {
        var random = SeededGenerator(seed: 44)
        let short = try #require(Self.context())
        let long = try #require(Self.context(state: "a=" + String(repeating: "b", count: 510)))
        for _ in 0..<300 {
            let parts = DefinitionParts.random(&random)
            let plain = parts.encoded
            #expect(!Definition.keepsTrace(plain) && Definition.trace(plain) == nil)
            var bytes = plain
            for context in [short, long, short] {
                Definition.setTrace(context.kept, in: &bytes)
                #expect(Definition.keepsTrace(bytes))
                #expect(Definition.trace(bytes) == context)
                #expect(DefinitionParts(bytes) == parts, "nothing else has changed")
                #expect(Definition.isSame(bytes, plain) && Definition.isSame(plain, bytes))
                let prefix = try #require(Definition.prefixCount(bytes))
                #expect(Definition.trace(Array(bytes[..<prefix])) == context)
            }
            Definition.setTrace([], in: &bytes)
            #expect(bytes == plain)
        }
    }

    @Test func `definitions that differ are not the same, whatever they keep`() throws {
        let plain = Bench.definition("t", rules(.after(100)), labels: [("a", "b")])
        let others = [
            Bench.definition("u", rules(.after(100)), labels: [("a", "b")]),
            Bench.definition("t", rules(.after(101)), labels: [("a", "b")]),
            Bench.definition("t", rules(.after(100)), labels: [("a", "c")]),
            Bench.definition("t", rules(.after(100)), labels: [("a", "b"), ("c", "d")]),
            Bench.definition("t", rules(.after(100)), labels: [("a", "b")], payload: "1"), Array(plain.dropLast(8)), [],
        ]
        for other in others { #expect(!Definition.isSame(plain, other) && !Definition.isSame(other, plain)) }
    }

    @Test func `a damaged entry is no context and no label`() throws {
        var random = SeededGenerator(seed: 45)
        let parts = DefinitionParts.random(&random)
        var bytes = parts.encoded
        Definition.setTrace(try #require(Self.context()).kept, in: &bytes)
        let start = Definition.nameCount(bytes.span)
        let mark = try #require((start..<start + 4).first { bytes[$0] == 0 })
        // The length of the entry is more than the labels have.
        for (place, byte) in [0xFF, 0xFF, 0x7F].enumerated() { bytes[mark + 1 + place] = UInt8(byte) }
        let labels = Definition.labels(bytes.span)
        #expect(labels.isEmpty)
        #expect(Definition.trace(bytes) == nil)
    }

    @Test func `a second entry in place of the first label makes it no definition`() throws {
        let context = try #require(Self.context()).kept
        for labels in [[], [("a", "b")]] {
            var bytes = Bench.definition("t", rules(.after(100)), labels: labels)
            Definition.setTrace(context, in: &bytes)
            #expect(Definition.isWhole(bytes))
            // A label whose key is empty would begin with the mark of a trace context.
            let run = Definition.labelRun(bytes.span) ?? 0..<0
            let entry = [0, UInt8(context.count)] + context
            var head: [UInt8] = []
            ByteCoding.append(UInt64(entry.count + run.count), to: &head)
            bytes.replaceSubrange(Definition.nameCount(bytes.span)..<run.lowerBound, with: head + entry)
            #expect(!Definition.isWhole(bytes))
        }
    }
}

/// The trace context of a timer that is changed.
struct KeptTraceTests {
    private static func kept(_ span: Int) throws -> TraceContext {
        let parent = Array("00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000\(span)-01".utf8)
        return try #require(TraceContext(parent: parent[...]))
    }

    private func trace(_ bench: Bench) throws -> TraceContext? {
        bench.scheduler.withDefinition(try bench.slot()) { Definition.trace($0) }
    }

    /// Changes the timer `t` by a request that may bring a trace. Returns whether anything changed.
    private func amend(_ bench: Bench, _ changed: TimerRules, trace: TraceContext? = nil) throws -> Bool {
        var definition = Bench.definition("t", changed)
        Definition.setTrace(trace?.kept ?? [], in: &definition)
        var effects: [Effect] = []
        let slot = try bench.slot()
        defer { bench.scheduler.finishStep() }
        return try bench.scheduler.amend(slot, definition: &definition, bench.now, if: .none, &effects)
    }

    @Test func `the latest that a change brought is kept`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)))
        #expect(try trace(bench) == nil)
        #expect(try amend(bench, rules(.after(200)), trace: try Self.kept(1)))
        #expect(try trace(bench) == Self.kept(1))
        #expect(try amend(bench, rules(.after(300))))
        #expect(try trace(bench) == Self.kept(1), "a change without one leaves it")
        #expect(try amend(bench, rules(.after(400)), trace: try Self.kept(2)))
        #expect(try trace(bench) == Self.kept(2))
        try bench.replace(rules(.after(500)))
        #expect(try trace(bench) == Self.kept(2), "a PUT without one leaves it")
    }

    @Test func `a change that changes nothing else is none`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)))
        let version = try bench.progress().version
        #expect(try !amend(bench, rules(.after(100)), trace: try Self.kept(1)))
        #expect(try trace(bench) == nil && bench.progress().version == version)
        #expect(try amend(bench, rules(.after(200)), trace: try Self.kept(1)))
        #expect(try !amend(bench, rules(.after(200)), trace: try Self.kept(2)))
        #expect(try !amend(bench, rules(.after(200))))
        #expect(try bench.declare(rules(.after(200))) == [])
        #expect(try trace(bench) == Self.kept(1))
    }
}
