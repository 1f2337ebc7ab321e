import WireJSON

/// The document of `text`, which the test knows to be good.
func document(_ text: String) throws -> JSONDocument {
    var document = JSONDocument()
    try document.parse(Array(text.utf8))
    return document
}

/// The error that `bytes` are refused with, or nil if they are not.
func refusal(_ bytes: [UInt8]) -> JSONError? {
    var document = JSONDocument()
    do throws(JSONError) {
        try document.parse(bytes)
        return nil
    } catch {
        return error
    }
}

/// The error that `text` is refused with, or nil if it is not.
func refusal(_ text: String) -> JSONError? { refusal(Array(text.utf8)) }

/// The bytes as text, for messages and comparisons.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
