import Glibc

/// Copies a request's head out of the library's buffer and checks that the library read it as it was sent.
///
/// The library cuts the head into C strings inside its receive buffer, which hides zero bytes, joins folded lines
/// wrongly and accepts surplus spaces and a missing CR. So each piece must begin exactly where the one before it ended.
@safe struct HeadReader {
    var headers: RequestHeaders
    private(set) var isWellFormed = true
    private var end: UInt
    private let headEnd: UInt

    /// `target` is the address of the target in the buffer, and its length.
    init(
        _ headers: consuming RequestHeaders, method: UnsafePointer<CChar>, target: (start: UInt, length: Int),
        version: UnsafePointer<CChar>, headSize: Int
    ) {
        self.headers = headers
        let start = UInt(bitPattern: method)
        let versionStart = UInt(bitPattern: version)
        headEnd = start + UInt(headSize)
        end = versionStart + UInt(unsafe strlen(version))
        isWellFormed =
            target.start == start + UInt(unsafe strlen(method)) + 1
            && versionStart == target.start + UInt(target.length) + 1
    }

    mutating func take(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        check(lineStart: UInt(bitPattern: name.baseAddress))
        headers.append(name: unsafe name.span, value: unsafe value.span)
        end = UInt(bitPattern: value.baseAddress) + UInt(value.count)
    }

    /// Checks that only the blank line follows the last header.
    mutating func finish() {
        if headEnd &- end != 4 { isWellFormed = false }
    }

    /// A line ends in CR LF: two servers may read an LF alone differently.
    private mutating func check(lineStart: UInt) {
        if lineStart &- end != 2 { isWellFormed = false }
    }
}
