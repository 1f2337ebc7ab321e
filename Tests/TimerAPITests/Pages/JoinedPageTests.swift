import Testing

@testable import TimerAPI

struct JoinedPageTests {
    private func joined(_ page: String, style: String = "", script: String = "") -> String {
        String(
            decoding: JoinedPage.bytes(page: Array(page.utf8), style: Array(style.utf8), script: Array(script.utf8)),
            as: UTF8.self)
    }

    @Test func `style and script stand in their elements`() {
        #expect(
            joined("<b>\n  <style></style>\n<script></script>\n</b>\n", style: "a {}\n", script: "f()\ng()\n")
                == "<b>\n<style>\na {}\n</style>\n<script>\nf()\ng()\n</script>\n</b>\n")
    }

    @Test func `indentation, empty lines and lines of comment are left out`() {
        #expect(joined("<a>\n\n    <b>\n  <!-- c -->\n   \n</a>\n") == "<a>\n<b>\n</a>\n")
        let style = joined("<style></style>\n", style: "/* a */\nb {\n  c: d;\n}\n")
        #expect(style == "<style>\nb {\nc: d;\n}\n</style>\n")
        let script = joined("<script></script>\n", script: "// a\n  b();  // c\n")
        #expect(script == "<script>\nb();  // c\n</script>\n")
    }

    @Test(arguments: ["<a>", "  <a>", "<!-- a -->", "\n", " ", ""])
    func `a last line may lack its newline`(page: String) {
        #expect(joined(page) == (page.contains("<a>") ? "<a>" : ""))
    }
}
