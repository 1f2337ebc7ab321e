package import Foundation

/// The tree of files that the tests belong to.
package enum Repository {
    /// The folder that holds `Package.swift`.
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The text of the file at `path`, such as `docs/POLICIES.md`.
    package static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
