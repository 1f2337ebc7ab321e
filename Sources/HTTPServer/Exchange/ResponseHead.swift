import CMicroHTTPD
import Primitives

/// An answer's head as bytes, always with `Connection: close`, for sockets that the library no longer writes to.
package struct ResponseHead {
    /// The way in which the client finds the end of the content.
    enum Framing {
        case length(Int)
        case chunked
        case untilClose
    }

    let bytes: [UInt8]

    /// The first bytes of every head, whatever the answer.
    static let opening = Array("HTTP/1.1 ".utf8)

    /// `date` is the value of `Date`.
    init(_ response: borrowing Response, framing: Framing, date: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(192 + response.head.count)
        bytes.append(contentsOf: Self.opening)
        bytes.append(contentsOf: "\(response.status) \(Self.reason(response.status))\r\nDate: ".utf8)
        bytes.append(contentsOf: date)
        bytes.append(contentsOf: "\r\nConnection: close\r\n".utf8)
        for field in response.fields {
            bytes.append(contentsOf: response.head[field.nameStart..<field.valueStart - 1])
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: response.head[field.valueStart..<field.end])
            bytes.append(contentsOf: "\r\n".utf8)
        }
        switch framing {
        case .length where response.status == 204 || response.status == 304: break
        case .length(let length): bytes.append(contentsOf: "Content-Length: \(length)\r\n".utf8)
        case .chunked: bytes.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
        case .untilClose: break
        }
        bytes.append(contentsOf: "\r\n".utf8)
        self.bytes = bytes
    }

    /// Whether answers of that status have no content.
    package static func isBodyless(_ status: Int) -> Bool {
        status == 204 || status == 304
    }

    private static func reason(_ status: Int) -> String {
        unsafe MHD_get_reason_phrase_for(UInt32(clamping: status)).map { text in unsafe String(cString: text) } ?? ""
    }
}

/// The value of `Date` (RFC 9110, 5.6.7), made once a second.
struct HTTPDate {
    private var second: Int64 = -1
    private var text: [UInt8] = []

    /// The value for `second`, which counts from 1970.
    mutating func bytes(second: Int64) -> [UInt8] {
        if second != self.second {
            self.second = second
            text = Self.format(second)
        }
        return text
    }

    private static func format(_ second: Int64) -> [UInt8] {
        let days = second / 86_400
        let date = CivilDate(daysSince1970: days)
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970 began on a Thursday
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = second % 86_400
        let dayText = "\(weekdays[Int(days % 7)]), \(two(date.day)) \(months[Int(date.month - 1)]) \(date.year)"
        return Array("\(dayText) \(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT".utf8)
    }

    private static func two(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
