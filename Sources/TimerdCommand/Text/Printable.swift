import Primitives

/// Text from a server or a file, made safe for a terminal.
enum Printable {
    /// Returns `text` with spaces in place of the characters that could steer a terminal or turn its text around.
    static func text(_ text: String) -> String { VisibleText.replacingControls(in: text) }
}
