import PostgresLog
import Testing
import TimerLog

struct LossAcceptanceTests {
    @Test func `a failure names what was under way`() throws {
        let address = try PostgresAddress("host=/nonexistent user=nobody dbname=none")
        let reading = #expect(throws: StoreError.self) { _ = try LossAcceptance.latest(address) }
        #expect(reading?.description.hasSuffix("while reading what is accepted to be lost") == true)
        let accepting = #expect(throws: StoreError.self) { try LossAcceptance.accept(address) }
        #expect(accepting?.description.hasSuffix("while accepting the loss") == true)
    }
}
