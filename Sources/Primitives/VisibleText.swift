/// Text that a person reads on one line of a terminal.
public enum VisibleText {
    /// Whether `text` has a control character (C0, DEL, C1), such as a newline.
    public static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Whether `scalar` controls a terminal instead of being shown: a control character (C0, DEL, C1), or one that
    /// turns the direction of what follows (Unicode's Bidi_Control), by which a name could be made to look like
    /// another.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f: true
        case 0x061c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// `text` with a space for each control character.
    public static func replacingControls(in text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// `text` without the white space at both ends: blanks, tabs and line ends.
    public static func trimmed(_ text: String) -> String {
        String(decoding: trimmed(Array(text.utf8)), as: UTF8.self)
    }

    /// `bytes` without the white space at both ends: blanks, tabs and line ends.
    public static func trimmed(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let text = Array(bytes.drop(while: isSpace))
        return Array(text[..<((text.lastIndex { !isSpace($0) }.map { $0 + 1 }) ?? 0)])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
