import Curl
import TimerCore

extension DeliveryFailure {
    /// Makes the failure that a code of libcurl other than `.ok` means, where nothing more is known.
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
        // All other codes: `sendError`, `receiveError`, `gotNothing`, `partialAnswer` and `http2Stream` among them,
        // and `http2`, which libcurl also reports where a server ends a busy connection.
        default: self = .interrupted
        }
    }
}
