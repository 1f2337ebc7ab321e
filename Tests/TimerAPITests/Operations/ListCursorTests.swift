import Testing

@testable import TimerAPI

struct ListCursorTests {
    @Test(
        arguments: [
            ("00000000000000ff", false), ("00000000000000ff-0000000000000001", true),
        ] as [(String, Bool)])
    func `a cursor is read in the one spelling that a page gives it`(text: String, bySoonest: Bool) {
        #expect(ListCursor(Array(text.utf8), bySoonest: bySoonest)?.text == text)
        #expect(ListCursor(Array(text.utf8), bySoonest: !bySoonest) == nil)
        #expect(ListCursor(Array(text.uppercased().utf8), bySoonest: bySoonest) == nil)
        #expect(ListCursor(Array(("+" + text.dropFirst()).utf8), bySoonest: bySoonest) == nil)
    }
}
