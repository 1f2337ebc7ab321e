import HTTPServer
import Platform
import Primitives
import TimerLog
import TimerService

/// What this server says to one other and hears of it on its own account: messages about partitions that change hands, and the
/// records of the other's partitions. It has a connection of its own, which nothing that clients ask for holds up. Confined to the
/// loop.
final class PeerChannel: PeerCallReceiver {
    private var link: PeerLink?
    private var feed: FeedLink?
    private var number: UInt64 = 0
    private var feedCall: PeerCall?
    private var askCall: PeerCall?
    /// What the other server owns, as far as is known.
    private var partitions: [Int] = []
    /// Before this instant of the monotonic clock no connection and no feed is tried again.
    private var nextTry: Int64 = 0
    private let address: PeerAddress
    private let remotes: RemotePartitions
    private let inbox: LoopInbox
    private let connect: (PeerAddress) -> PeerLink?

    /// Nanoseconds between two tries.
    private static let pause: Int64 = 250_000_000

    /// - Parameter connect: makes a connection.
    init(
        _ address: PeerAddress, _ remotes: RemotePartitions, _ inbox: LoopInbox,
        connect: @escaping (PeerAddress) -> PeerLink?
    ) {
        self.address = address
        self.remotes = remotes
        self.inbox = inbox
        self.connect = connect
    }

    /// Follows these partitions from now on, and no others.
    func follow(_ numbers: [Int]) {
        guard numbers != partitions else { return }
        partitions = numbers
        feed?.follow(numbers)
    }

    /// Follows the same partitions once more: this server may have given up one of them since.
    func followAnew() { feed?.follow(partitions) }

    /// Sends a message, or loses it.
    func send(_ message: [UInt8], now: Int64) {
        guard let link = usableLink(now) else { return }
        _ = PeerRequest.send(.message, message, by: link, to: nil)
    }

    /// Opens the feed where there is none, and sends what it asks.
    func step(now: Int64) {
        // The other server is about to stop, and waits until nobody needs it.
        if let link, !link.isUsable { close() }
        if feed == nil && !partitions.isEmpty { open(now) }
        guard let feed, askCall == nil, let link, link.isUsable, let asks = feed.next() else { return }
        askCall = PeerRequest.send(.asks(number), asks, by: link, to: self)
        if askCall == nil { end() }
    }

    /// Closes it: the other server is gone.
    func close() {
        let link = link
        self.link = nil
        end()
        link?.close()
    }

    private func usableLink(_ now: Int64) -> PeerLink? {
        if let link, link.isUsable { return link }
        guard now >= nextTry else { return nil }
        nextTry = now + Self.pause
        // Another feed may go on by the old one, which takes nothing further.
        end()
        link = connect(address)
        return link
    }

    private func open(_ now: Int64) {
        guard now >= nextTry, let link = usableLink(now) else { return }
        nextTry = now + Self.pause
        number = KernelRandom.words(1)[0]
        guard let call = PeerRequest.send(.feed(number), [], by: link, to: self) else { return }
        feedCall = call
        let feed = FeedLink(remotes) { [inbox] in inbox.wake() }
        self.feed = feed
        feed.follow(partitions)
    }

    /// Ends the feed; another one goes on where it was.
    private func end() {
        feed?.end()
        let (feedCall, askCall) = (feedCall, askCall)
        (feed, self.feedCall, self.askCall) = (nil, nil, nil)
        feedCall?.cancel()
        askCall?.cancel()
    }

    // MARK: Answers

    func headCame(_ call: PeerCall) {
        if !(200..<300).contains(call.status) { end() }
    }

    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>) {
        call.consume(bytes.count)
        guard call === feedCall, let feed else { return }
        do throws(FrameError) { try feed.receive([UInt8](copying: bytes)) } catch { end() }
    }

    func ended(_ call: PeerCall) {
        if call === feedCall { return end() }
        guard call === askCall else { return }
        askCall = nil
        inbox.wake()
    }

    func failed(_ call: PeerCall, isUnseen: Bool) {
        if call === feedCall || call === askCall { end() }
    }
}
