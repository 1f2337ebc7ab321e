import Primitives

/// Text from elsewhere, a server or a file, for a terminal.
enum Printable {
    /// `text` with the characters that could steer a terminal, or turn its text around, as spaces.
    static func text(_ text: String) -> String { VisibleText.replacingControls(in: text) }
}
