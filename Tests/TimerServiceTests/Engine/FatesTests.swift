import Testing

@testable import TimerService

struct FatesTests {
    private let fates = Fates()

    @Test func `a position is pending until it is on disk`() {
        #expect(fates.fate(of: 5...5) == .pending)
        fates.setDurable(5)
        #expect(fates.fate(of: 5...5) == .durable)
        #expect(fates.fate(of: 5...6) == .pending)
    }

    @Test func `answers leave early as far as they are not bound to the disk, what reads records waits`() {
        fates.unbind(through: 100)
        #expect(fates.fate(of: 100...100) == .durable)
        #expect(fates.fateOfShown(100...100) == .pending)
        fates.bind(from: 50)
        #expect(fates.fate(of: 49...49) == .durable)
        #expect(fates.fate(of: 50...50) == .pending)
        fates.setShown(60)
        #expect(fates.fateOfShown(60...60) == .durable)
        #expect(fates.durableHead == 0)
    }

    @Test func `what was lost stays lost, whatever comes behind it`() {
        fates.setDurable(10)
        fates.lose(after: 10, through: 20)
        fates.lose(after: 10, through: 30)
        fates.setDurable(40)
        #expect(fates.fate(of: 11...11) == .lost)
        #expect(fates.fate(of: 30...35) == .lost)
        #expect(fates.fate(of: 10...10) == .durable)
        #expect(fates.fate(of: 31...31) == .durable)
    }

    @Test func `nothing is lost where the log goes as far`() {
        fates.lose(after: 10, through: 10)
        #expect(!fates.isLost(1...20))
    }
}
