import TimerLog

@testable import TimerService

/// A partition as streams see it. Before each look at it other threads may take steps.
final class SteppedSource: EventSource, @unchecked Sendable {  // unchecked: a simulation has one thread
    let source: any EventSource
    private let others: () -> Void

    init(_ source: any EventSource, others: @escaping () -> Void) {
        self.source = source
        self.others = others
    }

    var number: Int { source.number }
    var clockPosition: Int64 { source.clockPosition }

    var hub: EventHub {
        others()
        return source.hub
    }

    func makeReader() throws(StoreError) -> any LogReader { try source.makeReader() }

    func promise(through position: Int64) -> Int64 {
        others()
        return source.promise(through: position)
    }
}
