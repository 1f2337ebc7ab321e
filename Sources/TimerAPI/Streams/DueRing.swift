/// A ring of buckets that holds streams by the instant at which something is due for them, so that inserting and
/// removing one take constant time. Instants are nanoseconds of the monotonic clock.
struct DueRing {
    /// A stream's place in the ring.
    struct Place {
        fileprivate var bucket: Int
        fileprivate var index: Int
    }

    /// The width of a bucket: a stream within the ring's span is taken at most that much later than
    /// asked for, never earlier.
    private let width: Int64
    private var buckets: [[EventStream]]
    /// The number of the bucket that is over next; bucket `n` holds what is due after `(n - 1) * width`, up to
    /// `n * width`.
    private var current: Int64
    /// The end of the first bucket that may hold a stream; nil if none does.
    private(set) var next: Int64?

    /// Makes an empty ring. A stream that is due later than `count` times `width` from now is taken early, for the
    /// caller to insert it again.
    init(width: Int64, count: Int, now: Int64) {
        self.width = width
        buckets = [[EventStream]](repeating: [], count: count)
        current = now / width
    }

    /// Inserts a stream that is in no ring.
    mutating func insert(_ stream: EventStream, at due: Int64) {
        let number = min(max((due + width - 1) / width, current), current + Int64(buckets.count) - 1)
        let bucket = Int(number % Int64(buckets.count))
        stream.due = Place(bucket: bucket, index: buckets[bucket].count)
        buckets[bucket].append(stream)
        next = min(next ?? .max, number * width)
    }

    /// Removes a stream, if it is in the ring.
    mutating func remove(_ stream: EventStream) {
        guard let place = stream.due else { return }
        stream.due = nil
        let last = buckets[place.bucket].removeLast()
        guard last !== stream else { return }
        buckets[place.bucket][place.index] = last
        last.due = place
    }

    /// Removes and returns the streams of every bucket that is over at `now`. The caller inserts those again that are
    /// not due yet.
    mutating func take(now: Int64) -> [EventStream] {
        var taken: [EventStream] = []
        // Every bucket has been examined after one lap.
        var number = max(current, now / width - Int64(buckets.count) + 1)
        while number * width <= now {
            let bucket = Int(number % Int64(buckets.count))
            for stream in buckets[bucket] { stream.due = nil }
            taken += buckets[bucket]
            buckets[bucket] = []
            number += 1
        }
        current = number
        next = (current..<current + Int64(buckets.count)).first {
            !buckets[Int($0 % Int64(buckets.count))].isEmpty
        }.map { $0 * width }
        return taken
    }
}
