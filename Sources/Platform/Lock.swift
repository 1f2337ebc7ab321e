import Glibc
import Synchronization

/// A mutual-exclusion lock around a `pthread_mutex_t`, with one condition to wait on.
///
/// Swift's `Mutex` inherits priority through the kernel and collapses when more threads than cores compete
/// (32 k to 1.6 M locks/s against 4 M in one run, see `docs/PERFORMANCE.md`), so the service's locks are of this type.
/// The mutex lives at a fixed heap address, as POSIX demands.
@safe public final class Lock: @unchecked Sendable {  // unchecked: the mutex guards what changes
    // Two pointers that never change, to objects made for sharing; both `var` are guarded by the mutex.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// Threads that want the lock and don't have it: those in `lock`, and those a signal has woken.
    private let waiting = Atomic<Int>(0)
    /// Threads in `wait` that no signal has woken yet.
    private var sleeping = 0
    /// The number of broadcasts that have woken threads from `wait`.
    private var signals = 0
    /// The most naps of one `yield` by default: about 5 ms in all.
    public static let mostNaps = 100
    /// The length of a nap in nanoseconds.
    private static let napNs = 50_000

    /// Makes an open lock.
    public init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let made = unsafe pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, &attributes) == 0
        precondition(made, "a mutex with default attributes can always be made")
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe pthread_cond_destroy(condition)
        unsafe mutex.deallocate()
        unsafe condition.deallocate()
    }

    /// Takes the lock; waits while another thread holds it. Not recursive.
    public func lock() {
        if tryLock() { return }
        waiting.add(1, ordering: .relaxed)
        let result = unsafe pthread_mutex_lock(mutex)
        waiting.subtract(1, ordering: .relaxed)
        precondition(result == 0, "a lock is taken once by one thread")
    }

    /// Takes the lock unless another thread holds it. Returns whether it was taken.
    public func tryLock() -> Bool { unsafe pthread_mutex_trylock(mutex) == 0 }

    /// Releases the lock. Only the holder may call.
    public func unlock() {
        let result = unsafe pthread_mutex_unlock(mutex)
        precondition(result == 0, "a lock is released by its holder")
    }

    /// Sleeps until no thread waits for the lock, in naps of some 50 µs, at most `naps` of them. A thread that
    /// takes the lock again and again calls this in between, or it would have the lock back before a waiting
    /// thread is awake (starvation). The caller sleeps, as the waiting thread may need its core. The holder may
    /// not call.
    public func yield(naps: Int = Lock.mostNaps) {
        var nap = timespec(tv_sec: 0, tv_nsec: Self.napNs)
        for _ in 0..<naps where waiters > 0 { unsafe nanosleep(&nap, nil) }
    }

    /// The number of threads that want the lock and don't have it.
    var waiters: Int { waiting.load(ordering: .relaxed) }

    /// The number of threads in `wait` that are not woken yet.
    var sleepers: Int { withLock { sleeping } }

    /// Runs `body` holding the lock.
    public func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Releases the lock, sleeps until `broadcast`, and takes the lock again. May wake spuriously.
    public func wait() {
        let isWoken = sleep { unsafe pthread_cond_wait(condition, mutex) == 0 }
        precondition(isWoken, "only the holder waits")
    }

    /// Waits like `wait()`, for at most `nanoseconds`. Returns false when the time ran out.
    public func wait(nanoseconds: Int64) -> Bool {
        var until = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &until)
        let total = Int64(until.tv_nsec) + max(0, nanoseconds)
        until.tv_sec += Int(total / 1_000_000_000)
        until.tv_nsec = Int(total % 1_000_000_000)
        return sleep { unsafe pthread_cond_timedwait(condition, mutex, &until) == 0 }
    }

    private func sleep(_ body: () -> Bool) -> Bool {
        let before = signals
        sleeping += 1
        let isWoken = body()
        if signals == before { sleeping -= 1 } else { waiting.subtract(1, ordering: .relaxed) }
        return isWoken
    }

    /// Wakes every thread in `wait`. Only the holder may call.
    public func broadcast() {
        guard sleeping > 0 else { return }
        signals += 1
        waiting.add(sleeping, ordering: .relaxed)
        sleeping = 0
        unsafe pthread_cond_broadcast(condition)
    }
}
