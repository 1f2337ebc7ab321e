import HTTPServer
import TimerService

/// Tells another server the records of this one's partitions, on one stream of its connection. Confined to the loop.
final class FeedStream {
    private let stream: DetachedStream
    private let server: FeedServer
    /// The frame that is being sent, and how much of it was.
    private var frame: ArraySlice<UInt8> = []

    /// Bytes that are given to the stream at once, and that it may hold.
    private static let pieceBytes = 32 * 1024

    init(_ stream: DetachedStream, _ server: FeedServer) {
        self.stream = stream
        self.server = server
    }

    /// Takes what the follower asks. Ends the stream where that makes no sense.
    func receive(_ bytes: [UInt8]) {
        do throws(FrameError) { try server.receive(bytes) } catch { stream.abort() }
    }

    /// Sends what there is to tell, as far as there is room.
    func step() {
        while !stream.isClosed, stream.bufferedBytes < Self.pieceBytes {
            if frame.isEmpty {
                guard let next = server.next() else { return }
                frame = next[...]
            }
            stream.send(StreamChunk(Array(frame.prefix(Self.pieceBytes))))
            frame = frame.dropFirst(Self.pieceBytes)
        }
    }

    /// Looks again for what could not be told before.
    func lookAgain() { server.lookAgain() }

    /// Ends what the followers' list has of it.
    func close(_ followers: Followers) { followers.close(server) }
}
