import TimerCore
import WireJSON

@testable import TimerAPI

/// Reads the bodies of creates, where UTC and one more zone are known.
enum BodyReading {
    private struct TwoZones: ZoneSource {
        func zone(named name: [UInt8]) -> TimeZoneTable? {
            name == Array("UTC".utf8) || name == Array("Europe/Berlin".utf8) ? .utc : nil
        }
    }

    /// The body in a text.
    ///
    /// - Parameter patch: the patch, if the text is a timer merged with one.
    static func body(_ text: String, patchedWith patch: String? = nil) throws -> TimerBody {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        var change: JSONDocument?
        if let patch {
            var document = JSONDocument()
            try document.parse(Array(patch.utf8))
            change = document
        }
        return try TimerBody(document, zones: TwoZones(), patch: change)
    }

    /// The rules of a timer with that body.
    static func rules(_ text: String, patchedWith patch: String? = nil) throws -> TimerRules {
        try body(text, patchedWith: patch).rules
    }

    /// The problem for which the body is refused; nil if it is not.
    static func refusal(_ text: String, patchedWith patch: String? = nil) -> Problem? {
        do {
            _ = try body(text, patchedWith: patch)
            return nil
        } catch {
            return error as? Problem
        }
    }
}
