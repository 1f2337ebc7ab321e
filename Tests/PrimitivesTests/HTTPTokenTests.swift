import Primitives
import Testing

struct HTTPTokenTests {
    @Test func `a token is letters, digits and fifteen marks`() {
        let allowed = "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~"
        #expect((0...255).filter { HTTPToken.allows($0) } == Array(allowed.utf8))
    }
}
