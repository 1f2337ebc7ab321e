import Foundation
import TestSupport
import Testing

@testable import TLS

struct TLSTicketTests {
    /// Shakes hands, and reads once so that the client gets its ticket.
    private func client(_ context: TLSContext, version: Int32, after earlier: TLSClient? = nil) throws -> TLSClient {
        let pair = try SessionPair(TLSClient(version: version, resuming: earlier), context: context)
        try #require(pair.shakeHands() == .done(1))
        _ = pair.client.read()
        return pair.client
    }

    @Test(arguments: [12, 13] as [Int32])
    func `a client goes on with its session`(version: Int32) throws {
        let context = try TestCertificate.shared.get().context()
        let first = try client(context, version: version)
        #expect(!first.isResumed)
        #expect(try client(context, version: version, after: first).isResumed)
    }

    @Test(arguments: [12, 13] as [Int32])
    func `the key before the newest opens tickets, the one before that does not`(version: Int32) throws {
        let context = try TestCertificate.shared.get().context()
        let first = try client(context, version: version)
        context.tickets.rotate()
        #expect(try client(context, version: version, after: first).isResumed)
        context.tickets.rotate()
        #expect(try !client(context, version: version, after: first).isResumed)
    }

    @Test func `a context that replaces another goes on with its sessions, any other does not`() throws {
        let old = try TestCertificate.shared.get().context()
        let new = try TestCertificate()
        let first = try client(old, version: 13)
        #expect(try client(new.context(replacing: old), version: 13, after: first).isResumed)
        #expect(try !client(new.context(), version: 13, after: first).isResumed)
    }
}
