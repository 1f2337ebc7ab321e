import Platform
import TimerLog

/// The logs that this process reads as others are about to give it their partitions. Any thread.
final class FollowedLogs: Sendable {
    private struct Entry {
        /// Nil while a thread has it.
        var log: FollowedLog?
        /// Whether the thread that reads is to end: the partition is here by now, or is not to come.
        var isOver = false
        /// Whether what it has read is of no use.
        var isForgotten = false
    }

    private let entries = Guarded<[Int: Entry]>([:])

    /// Reads on in the log of the partition numbered `number`, or begins to; until its end, or until `forget` or `take`. One
    /// call for one partition at a time.
    ///
    /// - Returns: how many rows were new.
    func readOn(_ number: Int, make: () -> FollowedLog) throws(StoreError) -> Int {
        let known = entries.withLock { entries in
            let known = entries[number]?.log
            entries[number] = Entry()
            return known
        }
        let log = known ?? make()
        do throws(StoreError) {
            let rows = try log.readOn { entries.withLock { $0[number]?.isOver == false } }
            put(log, number)
            return rows
        } catch {
            put(nil, number)
            throw error
        }
    }

    /// Puts back what a thread has read, unless it is not wanted any more.
    private func put(_ log: FollowedLog?, _ number: Int) {
        entries.update { entries in
            let isForgotten = entries[number]?.isForgotten ?? true
            entries[number] = isForgotten ? nil : log.map { Entry(log: $0) }
        }
    }

    /// Takes out what was read of a log; waits for the thread that reads, which ends at its next row. Nil where nothing was.
    func take(_ number: Int) -> FollowedLog? {
        entries.update { $0[number]?.isOver = true }
        return entries.wait { entries -> FollowedLog?? in
            guard let entry = entries[number] else { return .some(nil) }
            guard let log = entry.log else { return nil }
            entries[number] = nil
            return log
        }
    }

    /// Throws away what was read of a log. A thread that reads it ends at its next row, and is not waited for.
    func forget(_ number: Int) {
        // Freed without the lock.
        let log = entries.update { entries -> FollowedLog? in
            guard let log = entries[number]?.log else {
                entries[number]?.isOver = true
                entries[number]?.isForgotten = true
                return nil
            }
            entries[number] = nil
            return log
        }
        withExtendedLifetime(log) {}
    }
}
