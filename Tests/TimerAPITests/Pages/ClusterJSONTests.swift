import Platform
import TestSupport
import Testing
import TimerLog
import TimerService

@testable import TimerAPI

struct ClusterJSONTests {
    private static let nodes = [
        ClusterNode(session: 5, url: "http://a:1", reads: 1, skew: -1_500_000),
        ClusterNode(
            session: 7, url: "http://b:1", reads: 1, isLeaving: true, memory: .through(1_764_000_000_000_001),
            unread: UnreadRows(count: 3, bytes: 900)),
    ]

    private func text(_ place: TestPlace? = nil, owns: Bool = false) throws -> String {
        let service = try TimerService(
            store: MemoryLogStore(), place: place, configuration: EngineConfiguration(), report: { _ in })
        if owns { try service.adopt() }
        return String(decoding: ClusterJSON.text(service), as: UTF8.self)
    }

    @Test func `a server that is alone has no session and lists no servers`() throws {
        let text = try text()
        #expect(text.hasPrefix(#"{"session":null,"url":null,"lease":null,"owner":null,"head":""#), "\(text)")
        #expect(text.hasSuffix(#"","nodes":[]}"#), "\(text)")
    }

    @Test(arguments: [5, 7] as [Int64]) func `one of several servers owns the log`(owner: Int64) throws {
        let map = ClusterMap(
            session: 5, url: "http://a:1", nodes: Self.nodes, owner: LogOwner(epoch: 3, session: owner))
        let text = try text(TestPlace(map), owns: owner == 5)
        let (first, second) = owner == 5 ? ("owner", "standby") : ("standby", "owner")
        let url = owner == 5 ? "http://a:1" : "http://b:1"
        let unlagged = #""lag":null,"lagRows":null,"lagBytes":null"#
        let lagging = #""lag":"0s","lagRows":3,"lagBytes":900"#
        #expect(text.hasPrefix(#"{"session":"5","url":"http://a:1","lease":"#), "\(text)")
        #expect(text.contains(#""owner":{"session":"\#(owner)","url":"\#(url)","epoch":3},"head":"#), "\(text)")
        #expect(text.contains(#""head":null"#) == (owner == 7), "\(text)")
        #expect(
            text.hasSuffix(
                #""nodes":[{"session":"5","url":"http://a:1","role":"\#(first)","leaving":false,"skewUs":-1500,"#
                    + #""memory":\#(owner == 5 ? "null" : #""cold""#),"followed":null,"lag":null,"#
                    + #""lagRows":null,"lagBytes":null},"#
                    + #"{"session":"7","url":"http://b:1","role":"\#(second)","leaving":true,"skewUs":null,"#
                    + #""memory":\#(owner == 7 ? "null" : #""warm""#),"followed":"0001764000000000001",\#(owner == 7 ? unlagged : lagging)}]}"#
            ),
            "\(text)")
    }

    @Test func `a standby lags since it lacks records`() throws {
        let map = ClusterMap(
            session: 5, url: "http://a:1", nodes: Self.nodes, owner: LogOwner(epoch: 3, session: 5),
            behind: [7: Clocks.boottime() - 90_000_000_000])
        let text = try text(TestPlace(map), owns: true)
        #expect(text.contains(#""lag":"1m30"#), "\(text)")
    }

    @Test func `a standby that reads the log from its start is warming`() throws {
        var nodes = Self.nodes
        nodes[1].memory = .warming
        let map = ClusterMap(session: 5, url: "http://a:1", nodes: nodes, owner: LogOwner(epoch: 3, session: 5))
        let text = try text(TestPlace(map), owns: true)
        #expect(text.contains(#""memory":"warming","followed":null,"lag":null,"#), "\(text)")
    }

    @Test func `there is no owner where its session has ended`() throws {
        let map = ClusterMap(session: 5, url: "http://a:1", nodes: Self.nodes, owner: LogOwner(epoch: 3, session: 9))
        let text = try text(TestPlace(map))
        #expect(text.contains(#""owner":null,"head":null,"#) && !text.contains(#""role":"owner""#), "\(text)")
    }
}
