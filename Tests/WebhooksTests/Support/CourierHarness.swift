import Platform
import TestSupport
import Webhooks

/// A courier under test with the results of its requests.
final class CourierHarness: Sendable {
    /// The results so far.
    final class Results: Sendable {
        private let all = Guarded<[CourierResult]>([])

        func append(_ more: [CourierResult]) { all.update { $0 += more } }

        /// Waits until there are `count` results. Returns them sorted by serial.
        func wait(_ count: Int) -> [CourierResult] {
            all.wait { all in all.count < count ? nil : all.sorted { $0.serial < $1.serial } }
        }

        var count: Int { all.withLock { $0.count } }
    }

    let results = Results()
    let courier: Courier

    init(
        _ limits: CourierLimits = CourierLimits(), isStarted: Bool = true,
        judge: @escaping @Sendable (String, CourierAddress) -> String? = { _, _ in nil },
        lookUp: @escaping @Sendable (String) -> [[UInt8]] = NameLookup.addresses
    ) {
        let results = results
        courier = Courier(limits: limits, judge: judge, lookUp: lookUp) { results.append($0) }
        if isStarted { courier.start() }
    }

    deinit { courier.stop(deadlineSeconds: 0) }

    /// Sends requests to `urls`, numbered from 1, and waits for their results.
    func exchange(_ urls: [String], timeoutMs: Int = Patience.milliseconds) -> [CourierResult] {
        courier.submit(Self.posts(urls, timeoutMs: timeoutMs))
        return results.wait(urls.count)
    }

    /// Sends requests to `urls` like `exchange`, but each one when the one before has its result.
    func exchangeInTurn(_ urls: [String]) -> [CourierResult] {
        for (index, request) in Self.posts(urls).enumerated() {
            courier.submit([request])
            _ = results.wait(index + 1)
        }
        return results.wait(urls.count)
    }

    /// Sends a single request and waits for its result.
    func exchange(_ request: CourierRequest) -> CourierResult {
        courier.submit([request])
        return results.wait(1)[0]
    }

    /// A POST to each URL, numbered.
    static func posts(_ urls: [String], from serial: UInt64 = 1, timeoutMs: Int = Patience.milliseconds)
        -> [CourierRequest]
    {
        urls.enumerated().map { index, url in
            CourierRequest(
                serial: serial + UInt64(index), method: "POST", url: url,
                headers: [(name: "Content-Type", value: "application/json")], body: Array("{}".utf8),
                timeoutMs: timeoutMs)
        }
    }
}
