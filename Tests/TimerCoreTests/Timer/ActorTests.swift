import Testing

@testable import TimerCore

struct ActorTests {
    @Test(arguments: ["token", "a", "tmk_7", "!~", String(repeating: "x", count: 32)])
    func `a name of visible ASCII is an actor's`(name: String) {
        #expect(Actor(Array(name.utf8))?.name == Array(name.utf8))
    }

    @Test(arguments: ["", " ", "a b", "é", "a\n", "\u{7F}", String(repeating: "x", count: 33)])
    func `other text names no actor`(name: String) { #expect(Actor(Array(name.utf8)) == nil) }

    @Test func `all tokens are one actor`() {
        #expect(Actor.token.name == Array("token".utf8))
        #expect(Actor(Array("token".utf8)) == .token)
    }
}
