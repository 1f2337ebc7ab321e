import Curl
import Testing

struct MultiHandleTests {
    @Test func `each wake ends a wait, also one that comes before transfers move`() {
        let multi = MultiHandle(connections: 1)
        #expect(!multi.wait(milliseconds: 0))
        multi.wake()
        #expect(multi.wait(milliseconds: 0))
        multi.wake()
        multi.perform()
        #expect(multi.wait(milliseconds: 0))
        #expect(!multi.wait(milliseconds: 0))
    }
}
