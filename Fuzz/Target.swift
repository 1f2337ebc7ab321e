import Glibc

/// A parser under fuzzing; the environment's `FUZZ_TARGET` picks one.
///
/// A target checks promises of its parser, besides that the parser does not crash.
enum Target: String {
    case answer, body, cron, definition, duration, http, instant, json, record, recurrence, target, webhook, zone

    func run(_ input: [UInt8]) {
        switch self {
        case .answer: fuzzAnswer(input)
        case .body: fuzzBody(input)
        case .cron: fuzzCron(input)
        case .definition: fuzzDefinition(input)
        case .duration: fuzzDuration(input)
        case .http: fuzzHTTP(input)
        case .instant: fuzzInstant(input)
        case .json: fuzzJSON(input)
        case .record: fuzzRecords(input)
        case .recurrence: fuzzRecurrence(input)
        case .target: fuzzTarget(input)
        case .webhook: fuzzWebhook(input)
        case .zone: fuzzZone(input)
        }
    }

    static let chosen: Target = {
        let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
        guard let target = Target(rawValue: name) else { fatalError("FUZZ_TARGET names no target: '\(name)'") }
        return target
    }()
}

/// Ends the run where a promise is broken, so that the fuzzer keeps the input.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
    guard condition else { fatalError("broken: \(promise())") }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.chosen.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
