import Primitives
import Testing

struct VisibleTextTests {
    @Test(arguments: [
        "\u{0}", "\u{7}", "\u{1b}", "\u{1f}", "\u{7f}", "\u{9b}", "\u{9f}", "\u{61c}", "\u{200e}", "\u{200f}",
        "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}",
    ])
    func `what steers a terminal or turns its text becomes a space`(control: String) {
        #expect(VisibleText.replacingControls(in: "tea\(control)pot") == "tea pot")
    }

    @Test(arguments: [
        ("a\nb", true), ("a\u{0}", true), ("\t", true), ("a\u{85}", true), ("a b", false), ("é", false),
        ("a\u{200d}b", false),
    ])
    func `a control character in a value is found`(text: String, hasControls: Bool) {
        #expect(VisibleText.hasControls(text) == hasControls)
    }

    @Test(arguments: [
        "tea", "~", "é", "e\u{301}", "茶", "שלום", "👩‍🚀", "a\u{200d}b", "\u{a0}", "\u{2065}", "\u{202f}", "",
    ])
    func `what is shown stays`(text: String) {
        #expect(Array(VisibleText.replacingControls(in: text).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(arguments: [
        ("", ""), (" \n\t\r ", ""), ("a", "a"), ("token\n", "token"), ("token\r\n\r\n", "token"),
        ("\t a b \u{b}\u{c}", "a b"), ("\u{a0}a", "\u{a0}a"), ("a\u{0}", "a\u{0}"),
    ])
    func `white space goes from both ends, and nothing else`(text: String, trimmed: String) {
        #expect(VisibleText.trimmed(text) == trimmed)
        #expect(VisibleText.trimmed(Array(text.utf8)) == Array(trimmed.utf8))
    }
}
