import HTTPServer
import TimerLog
import WireJSON

/// Gives each part the lines of its partitions, and puts the results back into the order of the lines.
final class BatchGathering: Gathering {
    let scope: PartitionScope
    let contentType: StaticString? = PartLine.type
    private let body: [UInt8]
    private let lines: [Range<Int>]
    private let partitions: [UInt16]
    private var results: [(part: Int, line: Range<Int>)?]
    private var bodies: [[UInt8]] = []
    /// Whether every part so far was told before.
    private var isReplay = true

    /// - Parameters:
    ///   - run: whose lines all have their partitions.
    ///   - home: the partition of the request's idempotency key: it is asked whether it has lines or not.
    init(_ run: BatchRun, _ layout: PartitionLayout, home: Int?) {
        (body, lines, partitions) = (run.body, run.ranges, run.partitions)
        results = lines.map { _ in nil }
        let own = Set(partitions.map { Int($0) })
        scope = PartitionScope(own.union(own.isEmpty && home == nil ? [0] : home.map { [$0] } ?? []), of: layout)
    }

    func content(for scope: PartitionScope) -> [UInt8]? {
        var content: [UInt8] = []
        for (line, partition) in partitions.enumerated() where scope.contains(Int(partition)) {
            PartLine.append(body[lines[line]], of: partition, to: &content)
        }
        return content
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        var start = 0
        for (line, partition) in partitions.enumerated() where scope.contains(Int(partition)) {
            guard let end = answer.body.span.firstIndex(of: UInt8(ascii: "\n"), from: start) else { return false }
            results[line] = (bodies.count, start..<end + 1)
            start = end + 1
        }
        if !answer.isReplay { isReplay = false }
        bodies.append(answer.body)
        return start == answer.body.count
    }

    func fill(_ ticket: Ticket) {
        if isReplay { ticket.exchange.response.add("Idempotency-Replayed", "true") }
        ticket.exchange.response.add("Content-Type", "application/x-ndjson")
        var output: [UInt8] = []
        output.reserveCapacity(bodies.reduce(0) { $0 + $1.count })
        for case let result? in results { output += bodies[result.part][result.line] }
        ticket.exchange.response.body = output
    }
}
