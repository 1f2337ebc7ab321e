import Testing
import TimerCore

@testable import TimerAPI

struct ConditionsTests {
    @Test(
        arguments: [
            ("\"v3\"", 3, true), ("W/\"v3\"", 3, true), ("\"v4\"", 3, false), ("\"v1\", \"v3\"", 3, true),
            ("*", 9, true),
            ("v3", 3, false), ("\"3\"", 3, false),
        ] as [(String, Int64, Bool)])
    func `If-None-Match compares weakly`(header: String, version: Int64, names: Bool) {
        #expect(Conditions.ifNoneMatch(Array(header.utf8)[...], names: version) == names)
    }

    @Test func `If-Match never matches a weak tag`() {
        #expect(Conditions.ifMatch(Array("W/\"v3\"".utf8)[...]) == .oneOf([]))
        #expect(Conditions.ifMatch(Array("\"v3\", W/\"v4\", \"v5\"".utf8)[...]) == .oneOf([3, 5]))
        #expect(Conditions.ifMatch(Array("*".utf8)[...]) == .exists)
    }
}
