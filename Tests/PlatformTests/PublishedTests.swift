import Platform
import Testing

struct PublishedTests {
    @Test func `a copy is refreshed when there is a newer value`() {
        let published = Published(1)
        var copy = Published.Copy(published)
        var isNewer = copy.refresh()
        #expect(!isNewer)
        published.publish(2)
        #expect(copy.value == 1)
        isNewer = copy.refresh()
        #expect(isNewer && copy.value == 2)
        isNewer = copy.refresh()
        #expect(!isNewer)
        #expect(published.value == 2)
    }

    @Test func `a value is seen whole, however often it is replaced`() {
        let published = Published([0, 0])
        let writer = Thread(name: "writer") {
            for number in 1...20_000 { published.publish([number, number]) }
        }
        var copy = Published.Copy(published)
        var last = 0
        while last < 20_000 {
            _ = copy.refresh()
            #expect(copy.value[0] == copy.value[1])
            #expect(copy.value[0] >= last)
            last = copy.value[0]
        }
        writer.join()
    }
}
