import Curl
import TimerCore

extension DeliveryFailure {
    /// What a code of libcurl other than `.ok` means, where nothing more is known.
    ///
    /// A failure on this side (no memory, say) counts as an interruption: another attempt may succeed.
    init(_ code: CurlCode) {
        switch code {
        case .hostNotResolved, .proxyNotResolved: self = .unresolved
        case .notConnected, .proxyFailed, .interfaceFailed: self = .unreachable
        case _ where code.isTLSFailure: self = .untrusted
        case .timedOut: self = .timedOut
        // A head that is refused ends as a failed write; a URL that is refused was never sent.
        case .weirdAnswer, .badContentEncoding, .writeError, .unsupportedProtocol, .malformedURL, .loginDenied:
            self = .malformed
        // Among them `sendError`, `receiveError`, `gotNothing`, `partialAnswer`, `http2Stream`, and `http2`, which is
        // also what a server's end of a busy connection looks like.
        default: self = .interrupted
        }
    }
}
