import Foundation
import TestSupport
import Testing

@testable import Webhooks

struct Base64Tests {
    // RFC 4648 section 10.
    @Test(arguments: [
        "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy",
    ])
    func `the standard's vectors go both ways`(plain: String, text: String) {
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text.utf8) == Array(plain.utf8))
        #expect(Base64.decode(text.utf8.filter { $0 != UInt8(ascii: "=") }) == Array(plain.utf8))
    }

    @Test func `any bytes are written as Foundation writes them and come back`() {
        var numbers = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let bytes = numbers.bytes(0...70)
            #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
        }
    }

    @Test(arguments: [
        "Z", "Zg=", "Zg===", "Zm8==", "Zm9v=", "=", "Zh==", "Zm9=", "Zg==Zg==", "Z g=", "Zm9v\n", "Zm-_", "Zgé=",
    ])
    func `what no encoder writes is refused`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test func `two texts never stand for the same bytes`() {
        var numbers = SeededGenerator(seed: 2)
        for _ in 0..<5000 {
            let text = numbers.mutation(
                of: Array(Base64.encode(numbers.bytes(1...8)).utf8), alphabet: Array("Aa0+/=".utf8))
            guard let bytes = Base64.decode(text) else { continue }
            let again = Array(Base64.encode(bytes).utf8)
            #expect(again == text || again.filter { $0 != UInt8(ascii: "=") } == text)
        }
    }
}
