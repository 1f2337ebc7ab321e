/// A stream that a server asks itself for. What is written is told to the request's receiver in a later step of the loop, and
/// counts as buffered until the receiver has consumed it.
final class OwnSink: StreamSink, OwnAnswer {
    let loop: LoopCore
    let peer: SocketAddress?
    var owner = SinkOwner.none
    private(set) var isOpen = true
    private let call: PeerCall
    /// Written, and not told.
    private var untold: [UInt8] = []
    /// Told, and not consumed.
    private var unconsumed = 0
    private var isHeadTold = false
    /// Whether it was closed before its owner has finished.
    private var isCut = false
    /// Whether the owner has written since it was told of room.
    private var isFull = false
    private var isNoted = false
    private var isClosed = false

    /// A sink that buffers so many times the limit is closed.
    private static let overrun = 8

    init(_ call: PeerCall, _ loop: LoopCore, _ peer: SocketAddress?) {
        self.call = call
        self.loop = loop
        self.peer = peer
    }

    var bufferedBytes: Int { untold.count + unconsumed }

    func begin(_ response: Response, isChunked: Bool) {
        call.status = response.status
        for index in response.fields.indices { call.headers.append(response, field: index) }
        note()
    }

    func write(_ bytes: [UInt8], _ range: Range<Int>) {
        guard isOpen, !range.isEmpty else { return }
        untold += bytes[range]
        isFull = true
        note()
        if bufferedBytes > loop.limits.streamBufferBytes * Self.overrun { close() }
    }

    func send(_ response: Response, isHead: Bool) {
        begin(response, isChunked: false)
        if !isHead { write(response.body) }
        finish()
    }

    func finish() {
        guard isOpen else { return }
        isOpen = false
        note()
    }

    func close() {
        guard !isClosed else { return }
        isOpen = false
        isCut = true
        untold = []
        note()
    }

    /// The receiver is this server: it does not vanish.
    func isUnacknowledged(milliseconds: Int64) -> Bool { false }

    private func note() {
        guard !isNoted, !isClosed else { return }
        isNoted = true
        loop.links.noteAnswer(self)
    }

    func tell() {
        isNoted = false
        guard !isClosed else { return }
        if !isHeadTold {
            isHeadTold = true
            call.receiver?.headCame(call)
        }
        if !untold.isEmpty, !isClosed {
            let bytes = untold
            untold = []
            unconsumed += bytes.count
            call.receiver?.contentCame(call, bytes.span)
        }
        // The receiver may have cancelled the request.
        guard !isOpen, !isClosed else { return }
        let receiver = call.receiver
        call.receiver = nil
        call.isComplete = !isCut
        ended()
        isCut ? receiver?.failed(call, isUnseen: false) : receiver?.ended(call)
    }

    // MARK: From the receiver

    /// The receiver is done with `count` bytes more.
    func consumed(_ count: Int) {
        unconsumed -= count
        guard isFull, isOpen, bufferedBytes == 0, case .stream(let stream) = owner else { return }
        isFull = false
        loop.handler.streamWritable(stream)
    }

    /// The receiver wants nothing more.
    func cancelled() { ended() }

    private func ended() {
        guard !isClosed else { return }
        isClosed = true
        isOpen = false
        untold = []
        loop.sinkClosed(self, isCounted: true)
    }
}
