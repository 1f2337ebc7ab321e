import HTTPServer

/// A request that another server makes for itself, not for a client. There are such requests at the internal listener alone.
final class PeerRequest {
    /// What it asks for.
    enum Kind: Equatable {
        /// To hear what is said about partitions that change hands; the body says it.
        case message
        /// The records of partitions from now on, as frames without an end. The other server draws the number.
        case feed(UInt64)
        /// To hear what the follower asks of a feed.
        case asks(UInt64)
    }

    let kind: Kind

    private static let messages = Array("/cluster/messages".utf8)
    private static let feeds = Array("/cluster/feeds/".utf8)
    /// Bytes of the longest body.
    static let bodyLimit = 64 * 1024

    /// The request of `exchange`; nil where it is one that clients make too.
    init?(_ exchange: Exchange) {
        guard exchange.isFromPeer else { return nil }
        let target = exchange.target
        if target == Self.messages, exchange.method == .post {
            kind = .message
        } else if target.starts(with: Self.feeds),
            let number = UInt64(String(decoding: target.dropFirst(Self.feeds.count), as: UTF8.self))
        {
            switch exchange.method {
            case .get: kind = .feed(number)
            case .post: kind = .asks(number)
            default: return nil
            }
        } else {
            return nil
        }
    }

    /// Has a request of a kind sent by `link`. Nil where it takes none.
    ///
    /// - Parameter receiver: nil where nobody hears of the answer.
    static func send(
        _ kind: Kind, _ content: [UInt8], by link: PeerLink, to receiver: (any PeerCallReceiver)?
    ) -> PeerCall? {
        switch kind {
        case .message: link.send(.post, messages, content: content, to: receiver)
        case .feed(let number): link.send(.get, feeds + Array(String(number).utf8), content: [], to: receiver)
        case .asks(let number): link.send(.post, feeds + Array(String(number).utf8), content: content, to: receiver)
        }
    }
}
