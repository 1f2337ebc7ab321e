import Testing
import TimerLog

@testable import TimerService

struct StorageRecoveryTests {
    private static let error = StoreError(.io, "a failure that was asked for")
    private static let absent = AppendOutcome.absent(error)
    private static let unknown = AppendOutcome.unknown(error)
    private static let rows = [LogRow(first: 5, last: 7, previous: 4, data: [1])]

    private static func fold(
        reopening: Bool, showing: Bool, _ rows: [LogRow] = Self.rows
    ) -> StorageRecovery.Task {
        .fold(StorageRecovery.FoldRequest(isReopening: reopening, showsDurablePart: showing, rows: rows))
    }

    private func failed(_ outcome: AppendOutcome, wereShown: Bool) -> StorageRecovery {
        var recovery = StorageRecovery()
        recovery.appendFailed(outcome, Self.rows, wereShown: wereShown)
        return recovery
    }

    @Test func `storage works at first`() {
        #expect(StorageRecovery().isWorking)
        #expect(StorageRecovery().task == .none)
    }

    @Test(arguments: [
        (absent, false, fold(reopening: false, showing: false)), (unknown, false, fold(reopening: true, showing: true)),
        (.fenced, false, fold(reopening: true, showing: true)), (absent, true, .append(reopening: false)),
        (unknown, true, .append(reopening: true)),
    ])
    func `what was shown is kept, what was not is given up`(
        outcome: AppendOutcome, wereShown: Bool, task: StorageRecovery.Task
    ) {
        let recovery = failed(outcome, wereShown: wereShown)
        #expect(recovery.task == task)
        #expect(!recovery.isPausing)
    }

    @Test func `of a log that others may write, an unknown append is settled, then made again`() {
        let head = StoreHead(epoch: 2, last: 5, secret: [])
        var recovery = StorageRecovery()
        recovery.sharedAppendFailed(Self.unknown, Self.rows)
        #expect(recovery.task == .settle && !recovery.isPausing)
        recovery.settled(.unknown(Self.error), Self.rows)
        #expect(recovery.task == .settle && recovery.isPausing)
        recovery.goOn()
        recovery.settled(.absent(head), Self.rows)
        #expect(recovery.task == .appendAgain && !recovery.isPausing)
        recovery.appendedToShared(Self.absent, Self.rows)
        #expect(recovery.task == .appendAgain && recovery.isPausing)
        recovery.goOn()
        recovery.appendedToShared(Self.unknown, Self.rows)
        #expect(recovery.task == .settle && !recovery.isPausing)
        recovery.settled(.landed(head), Self.rows)
        #expect(recovery.isWorking)
    }

    @Test(arguments: [
        AppendOutcome.diverged(error), .absent(StoreError(.damaged, "rows that form no chain")),
    ])
    func `a log that others may write is folded only where it is another one, or takes no such rows`(
        outcome: AppendOutcome
    ) {
        var recovery = StorageRecovery()
        recovery.sharedAppendFailed(outcome, Self.rows)
        #expect(recovery.task == Self.fold(reopening: true, showing: false))
    }

    @Test func `rows that were shown are tried until they land`() {
        var recovery = failed(Self.unknown, wereShown: true)
        recovery.appendedAgain(.failed(isOpen: false), Self.rows)
        #expect(recovery.task == .append(reopening: true) && recovery.isPausing)
        recovery.goOn()
        recovery.appendedAgain(.failed(isOpen: true), Self.rows)
        #expect(recovery.task == .append(reopening: false) && recovery.isPausing)
        recovery.goOn()
        recovery.appendedAgain(.landed, Self.rows)
        #expect(recovery.isWorking && !recovery.isPausing)
    }

    @Test func `rows of another writer make an end of the trying`() {
        var recovery = failed(Self.unknown, wereShown: true)
        recovery.appendedAgain(.foreign, Self.rows)
        #expect(recovery.task == Self.fold(reopening: true, showing: true))
    }

    @Test func `a fold is followed by a probe, and what was surely on disk is shown once`() {
        var recovery = failed(Self.unknown, wereShown: false)
        recovery.folded(false)
        #expect(recovery.task == Self.fold(reopening: true, showing: false) && recovery.isPausing)
        recovery.goOn()
        recovery.folded(true)
        #expect(recovery.task == .probe && !recovery.isPausing)
    }

    @Test func `a probe that is refused is tried again, one of unknown outcome leads to another fold`() {
        var recovery = failed(Self.absent, wereShown: false)
        recovery.folded(true)
        recovery.probed(Self.absent, [])
        #expect(recovery.task == .probe && recovery.isPausing)
        recovery.goOn()
        recovery.probed(Self.unknown, Self.rows)
        #expect(recovery.task == Self.fold(reopening: true, showing: false) && !recovery.isPausing)
        recovery.folded(true)
        recovery.probed(.durable, Self.rows)
        #expect(recovery.isWorking)
    }

    @Test func `a log that was found to lack rows is held once it says which versions were given`() {
        var recovery = StorageRecovery()
        recovery.foundLoss()
        #expect(recovery.task == .probe)
        recovery.probed(.durable, Self.rows)
        #expect(recovery.task == .hold)
        recovery.acceptLoss()
        #expect(recovery.isWorking)
    }

    @Test func `a loss is on disk before an operator is waited for, whatever fails meanwhile`() {
        var recovery = StorageRecovery()
        recovery.sharedAppendFailed(.diverged(StoreError(.lost, "rows are gone")), Self.rows)
        let request = StorageRecovery.FoldRequest(
            isReopening: true, showsDurablePart: false, rows: Self.rows, followsLoss: true)
        #expect(recovery.task == .fold(request))
        recovery.folded(true)
        #expect(recovery.task == .probe)
        recovery.acceptLoss()
        #expect(recovery.task == .probe)
        recovery.probed(Self.unknown, Self.rows)
        // This fold finds no further loss.
        #expect(recovery.task == Self.fold(reopening: true, showing: false))
        recovery.folded(true)
        recovery.probed(.durable, Self.rows)
        #expect(recovery.task == .hold && !recovery.isWorking)
        recovery.acceptLoss()
        #expect(recovery.isWorking)
        // The accepted loss does not hold up the recovery from a later failure.
        recovery.sharedAppendFailed(.diverged(Self.error), Self.rows)
        recovery.folded(true)
        recovery.probed(.durable, Self.rows)
        #expect(recovery.isWorking)
    }
}
