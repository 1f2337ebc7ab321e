import HTTPServer
import TimerCore
import WireJSON

/// Reads and writes entity tags: `If-Match`, `If-None-Match` and `ETag`.
enum Conditions {
    /// Returns the condition that an `If-Match` value sets. Weak tags never match (RFC 9110, 13.1.1).
    static func ifMatch(_ text: ArraySlice<UInt8>) -> VersionCondition {
        if text.elementsEqual("*".utf8) { return .exists }
        return .oneOf(tags(text).compactMap(version))
    }

    /// Returns what a client should know of the conditions of a request that do not hold for a timer or calendar at
    /// `version`; nil if there is nothing to say besides that.
    static func fault(of ticket: Ticket, at version: Int64) -> String? {
        let exchange = ticket.exchange
        if let tags = exchange.list("if-match"), let fault = fault(ofIfMatch: tags, at: version) { return fault }
        let isForNew = exchange.list("if-none-match")?.elementsEqual("*".utf8) ?? false
        let thing = ticket.route == .calendar ? "a calendar with this name" : "a timer with this id"
        return isForNew ? "\(thing) exists; it is at version v\(version)" : nil
    }

    /// Returns the fault of an `If-Match` value for a timer at `version`: the tag that means this version is weak or
    /// has no quotes, or no tag can match any version; nil if the value matches, or merely means other versions.
    static func fault(ofIfMatch text: ArraySlice<UInt8>, at version: Int64) -> String? {
        guard case .oneOf(let versions) = ifMatch(text), !versions.contains(version) else { return nil }
        let tags = tags(text)
        let canMatch = !versions.isEmpty
        for tag in tags {
            let shown = Problem.shown(tag)
            if strong(tag).count < tag.count, Self.version(strong(tag)) == version || !canMatch {
                return "`If-Match` has the weak tag `\(shown)`, and a weak tag never matches: send it without `W/`"
            }
            if tag.first != UInt8(ascii: "\""), plainVersion(tag) == version || !canMatch {
                return "`If-Match` has `\(shown)`, which is not quoted: an entity tag has quotes, as in `\"v3\"`"
            }
        }
        return nil
    }

    /// Returns the versions at which an `If-None-Match` value forbids a change; weak tags count as their strong ones.
    static func ifNoneMatch(_ text: ArraySlice<UInt8>) -> VersionCondition {
        if text.elementsEqual("*".utf8) { return .exists }
        return .oneOf(tags(text).compactMap { version(strong($0)) })
    }

    /// Whether an `If-None-Match` value names `version`; weak tags count as their strong ones (RFC 9110, 13.1.2).
    static func ifNoneMatch(_ text: ArraySlice<UInt8>, names version: Int64) -> Bool {
        ifNoneMatch(text) { Self.version($0) == version }
    }

    /// Whether an `If-None-Match` value names the entity tag `tag`; weak tags count as their strong ones.
    static func ifNoneMatch(_ text: ArraySlice<UInt8>, names tag: String) -> Bool {
        ifNoneMatch(text) { $0.elementsEqual(tag.utf8) }
    }

    private static func ifNoneMatch(_ text: ArraySlice<UInt8>, isNamed: (ArraySlice<UInt8>) -> Bool) -> Bool {
        if text.elementsEqual("*".utf8) { return true }
        return tags(text).contains { isNamed(strong($0)) }
    }

    /// Returns the entity tags of a list. A comma between quotes belongs to its tag (RFC 9110, 8.8.3).
    private static func tags(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var isQuoted = false
        return text.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }.map(trimmed)
    }

    private static func strong(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
    }

    /// Returns the version that the entity tag `"v7"` names; nil for any other tag.
    private static func version(_ tag: ArraySlice<UInt8>) -> Int64? {
        guard tag.count > 3, tag.starts(with: "\"v".utf8), tag.last == UInt8(ascii: "\"") else { return nil }
        return plainVersion(tag.dropFirst().dropLast())
    }

    /// Returns the version that `v7` names; nil for any other text.
    static func plainVersion(_ text: ArraySlice<UInt8>) -> Int64? {
        guard text.first == UInt8(ascii: "v"), text.count == 2 || text.dropFirst().first != UInt8(ascii: "0") else {
            return nil
        }
        return DecimalText.parse(text.dropFirst())
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while text.first == UInt8(ascii: " ") || text.first == UInt8(ascii: "\t") { text.removeFirst() }
        while text.last == UInt8(ascii: " ") || text.last == UInt8(ascii: "\t") { text.removeLast() }
        return text
    }

    /// The most bytes of an entity tag.
    static let longestTag = "\"v\(Int64.max)\"".utf8.count

    /// Appends the entity tag of a version, at most ``longestTag`` bytes.
    static func appendTag(_ version: Int64, to text: inout OutputSpan<UInt8>) {
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: "v"))
        text.appendDecimal(version)
        text.append(UInt8(ascii: "\""))
    }
}
