// Swift's Mutex against the service's Lock, with twice as many threads as cores:
//
//   swiftc -O -parse-as-library Benchmarks/locks.swift Sources/Platform/Lock.swift -o /tmp/locks && /tmp/locks
//
// Each thread takes the lock, works for about a quarter of a microsecond, and gives it back, for two seconds.

import Glibc
import Synchronization

private struct Work {
    var value: UInt64 = 1
    var count = 0

    mutating func step() {
        for _ in 0..<100 {
            value ^= value << 13
            value ^= value >> 7
            value ^= value << 17
        }
        count += 1
    }
}

private final class Shared: @unchecked Sendable {  // unchecked: `plain` is guarded by `lock`
    let mutex = Mutex(Work())
    let lock = Lock()
    var plain = Work()
    let isOver = Atomic<Bool>(false)
    let step: @Sendable (Shared) -> Void

    init(step: @escaping @Sendable (Shared) -> Void) { self.step = step }

    var count: Int { mutex.withLock { $0.count } + lock.withLock { plain.count } }
}

@main struct Locks {
    static func main() {
        let threads = 2 * Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        for round in 1...3 {
            let mutex = measure(threads) { shared in shared.mutex.withLock { $0.step() } }
            let lock = measure(threads) { shared in shared.lock.withLock { shared.plain.step() } }
            print("round \(round), \(threads) threads: Mutex \(mutex) locks/s, Lock \(lock) locks/s")
        }
    }

    private static func measure(_ threads: Int, _ step: @escaping @Sendable (Shared) -> Void) -> Int {
        let seconds = 2
        let shared = Shared(step: step)
        var handles: [pthread_t] = []
        for _ in 0..<threads {
            var handle = pthread_t()
            pthread_create(
                &handle, nil,
                { context in
                    let shared = Unmanaged<Shared>.fromOpaque(context!).takeUnretainedValue()
                    while !shared.isOver.load(ordering: .relaxed) { shared.step(shared) }
                    return nil
                }, Unmanaged.passUnretained(shared).toOpaque())
            handles.append(handle)
        }
        sleep(UInt32(seconds))
        shared.isOver.store(true, ordering: .relaxed)
        for handle in handles { pthread_join(handle, nil) }
        return shared.count / seconds
    }
}
