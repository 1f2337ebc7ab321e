/// Puts together the path and query of a request, percent-encoded.
struct RequestTarget {
    /// The path and query so far.
    private(set) var text = ""
    private var hasQuery = false

    /// Begins with a path whose parts are encoded: `RequestTarget("v1", "timers", id)`.
    init(_ parts: String...) {
        for part in parts { text += "/" + Self.encoded(part) }
    }

    /// Adds a parameter where it has a value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (hasQuery ? "&" : "?") + name + "=" + Self.encoded(value)
        hasQuery = true
    }

    /// Encodes all but the unreserved characters of RFC 3986. `.` and `..` are encoded too, as they would be steps
    /// of the path; the server decodes them and refuses them as ids.
    private static func encoded(_ text: String) -> String {
        let isStep = text == "." || text == ".."
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            case UInt8(ascii: ".") where !isStep: encoded.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
