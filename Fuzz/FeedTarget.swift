import TimerLog
@testable import TimerService

/// Input: a byte that says who reads, then what another server sends: an owner the asks of followers, a follower frames.
func fuzzFeed(_ input: [UInt8]) {
    guard let mode = input.first, let layout = PartitionLayout(strided: 8) else { return }
    if mode % 2 == 0 {
        guard let asks = try? FeedAsk.decode(input[1...], layout) else { return }
        // The length stands before a message.
        let message = FeedAsk.encode(asks).dropFirst(4)
        require((try? FeedAsk.decode(message, layout)) == asks, "asks are not read as they were written")
    } else {
        guard let frame = try? FeedFrame(input[1...], layout) else { return }
        let message = frame.encoded().dropFirst(4)
        require((try? FeedFrame(message, layout)) == frame, "a frame is not read as it was written")
    }
}
