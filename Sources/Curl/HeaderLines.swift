import CCurl

/// A list of header lines as libcurl takes it, in memory that serves one request after another.
@safe final class HeaderLines {
    /// Capacity above this is freed after a request.
    static let keptBytes = 4096

    private var text: UnsafeMutableBufferPointer<CChar>
    private var nodes: UnsafeMutableBufferPointer<curl_slist>
    private var used = 0
    private var count = 0

    init() {
        unsafe text = .allocate(capacity: Self.keptBytes)
        unsafe nodes = .allocate(capacity: 32)
    }

    deinit {
        unsafe text.deallocate()
        unsafe nodes.deallocate()
    }

    /// The first line's node; valid until the next `fill` or `shrink`.
    var first: UnsafeMutablePointer<curl_slist>? { unsafe nodes.baseAddress }

    /// Fills the list with these headers, and keeps libcurl from adding a content type or, unless
    /// `expectsContinue`, `Expect`.
    func fill(_ headers: [(name: String, value: String)], expectsContinue: Bool) {
        var needed = 64
        var hasType = false
        for header in headers {
            needed += header.name.utf8.count + header.value.utf8.count + 4
            if header.name.utf8.count == 12, header.name.lowercased() == "content-type" { hasType = true }
        }
        reserve(bytes: needed, lines: headers.count + 2)
        used = 0
        count = 0
        // A name without a value leaves the line out: no waiting for "100 Continue", and no POST that is called a
        // submitted form.
        if !expectsContinue { add("Expect:", "") }
        if !hasType { add("Content-Type:", "") }
        for header in headers {
            let isBlank = header.value.utf8.allSatisfy { $0 <= 0x20 }
            // libcurl takes a header without a value in this form.
            isBlank ? add(header.name, ";") : add(header.name, ": ", header.value)
        }
        for index in 0..<count - 1 {
            unsafe nodes[index].next = nodes.baseAddress.map { unsafe $0 + index + 1 }
        }
    }

    /// Frees the memory that an unusually large request took.
    func shrink() {
        guard unsafe text.count > Self.keptBytes else { return }
        unsafe text.deallocate()
        unsafe text = .allocate(capacity: Self.keptBytes)
        count = 0
    }

    private func reserve(bytes: Int, lines: Int) {
        if unsafe text.count < bytes {
            unsafe text.deallocate()
            unsafe text = .allocate(capacity: bytes)
        }
        if unsafe nodes.count < lines {
            unsafe nodes.deallocate()
            unsafe nodes = .allocate(capacity: lines)
        }
    }

    private func add(_ parts: String...) {
        let start = used
        for part in parts {
            for byte in part.utf8 {
                unsafe text[used] = CChar(bitPattern: byte)
                used += 1
            }
        }
        unsafe text[used] = 0
        used += 1
        let node = unsafe curl_slist(data: text.baseAddress.map { unsafe $0 + start }, next: nil)
        unsafe nodes.baseAddress.map { unsafe ($0 + count).initialize(to: node) }
        count += 1
    }
}
