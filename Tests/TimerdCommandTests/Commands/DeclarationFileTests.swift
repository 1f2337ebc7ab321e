import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// How a file of timers is read.
struct DeclarationFileTests {
    @Test(arguments: [
        "{\"id\":\"a\",\"after\":\"1h\"}\n{\"id\":\"b\",\"after\":\"2h\"}\n",
        "[{\"id\":\"a\",\"after\":\"1h\"},\n{\"id\":\"b\",\"after\":\"2h\"}]",
        "[a]\nafter = \"1h\"\n[b]\nafter = \"2h\"\n",
    ])
    func `a byte order mark before any of the three forms is skipped`(text: String) throws {
        let directory = try TemporaryDirectory()
        for mark in ["", "\u{feff}"] {
            try directory.write("timers", Data((mark + text).utf8))
            let timers = try DeclarationFile(reading: directory.file("timers")).timers
            #expect(timers.map(\.id) == ["a", "b"])
        }
    }
}
