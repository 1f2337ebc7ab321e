import Platform
import TestSupport
import TimerCore
import TimerLog

@testable import TimerService

extension ActiveLog {
    /// A log whose rows are read and not folded, of which nothing is in memory.
    convenience init(unfolded store: any LogStore) throws {
        let time = ManualTime()
        let head = try store.open()
        let recovered = RecoveredLog(
            store: store, head: head, deletedThrough: 0, oldest: nil, bytes: RowBytes(), records: 0,
            fold: LogFold(secret: head.secret), answered: IdempotencyTable(EngineConfiguration()),
            recent: RecentRows(after: head.last), lost: HighWaterMark(), loss: nil)
        self.init(
            recovered, configuration: EngineConfiguration(),
            shared: SharedParts(alarm: ManualAlarm(time), timeSource: time), report: { _ in })
    }

    /// Makes changes in one turn. Returns the position of the newest record.
    @discardableResult
    func change(_ body: (borrowing Turn) throws(ServiceError) -> Void) throws(ServiceError) -> Int64 {
        try engine.turn { (turn: borrowing Turn) -> Result<Int64, ServiceError> in
            do throws(ServiceError) {
                try body(turn)
                return .success(turn.head)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The key of the timer `id`.
    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: secret)) }

    /// Makes a timer. Returns the position of the newest record.
    @discardableResult
    func create(
        _ id: String, _ rules: TimerRules = TimerRules(.after(3_600_000)), webhook: [UInt8] = []
    ) throws(ServiceError) -> Int64 {
        try change { turn throws(ServiceError) in
            var bytes = definition(id, rules, webhook: webhook)
            _ = try turn.create(key(id), definition: &bytes)
        }
    }

    /// Whether there is a timer `id`.
    func has(_ id: String) -> Bool { engine.turn { $0.find(key(id)) != nil } }
}
