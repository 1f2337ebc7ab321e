import Testing

@testable import TimerService

struct StorageOutageTests {
    @Test func `an outage begins once and ends once, with the number of its partitions`() {
        var outage = StorageOutage()
        let isNews = (outage.begin([0, 1]), outage.begin([2]))
        #expect(isNews == (true, false))
        let ends = [1, 0, 2].map { outage.end($0) }
        #expect(ends == [nil, nil, 3])
        let again = outage.begin([1])
        #expect(again)
        let end = outage.end(1)
        #expect(end == 1)
    }

    @Test func `a partition that fails anew begins another outage`() {
        var outage = StorageOutage()
        let isNews = (outage.begin([0, 1]), outage.begin([1]))
        #expect(isNews == (true, true))
        let end = outage.end(1)
        #expect(end == 1)
    }

    @Test func `an outage ends without the partitions that are another's, or wait for an operator`() {
        var outage = StorageOutage()
        _ = outage.begin([0, 1, 2])
        let ends = [outage.end(0), outage.drop(1), outage.drop(2)]
        #expect(ends == [nil, nil, 1])
        let (stranger, accepted) = (outage.drop(2), outage.end(2))
        #expect(stranger == nil)
        #expect(accepted == 1)
        _ = outage.begin([3])
        let nobody = outage.drop(3)
        #expect(nobody == nil)
    }
}
