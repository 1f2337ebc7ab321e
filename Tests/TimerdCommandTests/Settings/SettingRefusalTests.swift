import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The parts of a setting that a refusal repeats.
struct SettingRefusalTests {
    @Test(arguments: ["12\u{1b}[2J", "1\u{202e}2", "1\u{9b}2", "1\r2", "\u{2067}12", "1\u{7f}2"])
    func `a value can't steer the terminal`(text: String) throws {
        let origins: [SettingOrigin] = [
            .flag(.maxTimers), .variable(.maxTimers), .file(.maxTimers, path: "a\u{1b}\u{202e}b.toml", line: 3),
        ]
        for origin in origins {
            let failure = #expect(throws: Failure.self) {
                try SettingValue(origin: origin, text: text).integer(1...9)
            }
            let line = try #require(failure?.line)
            #expect(!line.unicodeScalars.contains { steering.contains($0) })
            #expect(line.contains("expected a whole number from 1 to 9"))
        }
    }

    @Test(arguments: [#""max\u001b[2J" = 1"#, #""\u202Emax" = 1"#, "max-timers = \"\u{202e}9\"\nmax-timers = \u{202e}"])
    func `a key of a file can't either`(text: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("timerd.toml", Data(text.utf8))
        let failure = #expect(throws: Failure.self) { try ConfigFile(reading: directory.file("timerd.toml")) }
        let line = try #require(failure?.line)
        #expect(!line.unicodeScalars.contains { steering.contains($0) })
    }

    /// Characters that control a terminal, or turn the direction of its text.
    private let steering = CharacterSet.controlCharacters
}
