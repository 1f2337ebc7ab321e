/// Lists of texts in the form that C takes.
@safe enum CStrings {
    /// Runs `body` with pointers to copies of `texts`, and a null pointer after the last.
    static func withPointers<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        var offsets: [Int] = []
        for text in texts {
            offsets.append(bytes.count)
            bytes.append(contentsOf: text.utf8CString)
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for offset in offsets { unsafe pointers.append(buffer.baseAddress.map { start in unsafe start + offset }) }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let start = list.baseAddress else {
                    preconditionFailure("the list has a null pointer at least")
                }
                return unsafe body(start)
            }
        }
    }
}
