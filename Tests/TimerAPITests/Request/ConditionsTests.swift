import Testing
import TimerCore

@testable import TimerAPI

struct ConditionsTests {
    @Test(
        arguments: [
            ("\"v3\"", 3, true), ("W/\"v3\"", 3, true), ("\"v4\"", 3, false), ("\"v1\", \"v3\"", 3, true),
            ("*", 9, true),
            ("v3", 3, false), ("\"3\"", 3, false), ("\"a,b\", \"v3\"", 3, true), ("\"a,\"v3\"", 3, false),
        ] as [(String, Int64, Bool)])
    func `If-None-Match compares weakly`(header: String, version: Int64, names: Bool) {
        #expect(Conditions.ifNoneMatch(Array(header.utf8)[...], names: version) == names)
    }

    @Test(
        arguments: [
            ("W/\"v3\"", 3, "`W/\"v3\"`"), ("\"v1\", W/\"v3\"", 3, "weak"), ("W/\"x\"", 3, "weak"),
            ("v3", 3, "not quoted"),
            ("\"v1\", v3", 3, "not quoted"), ("3", 3, "not quoted"), ("w/\"v3\"", 3, "not quoted"),
            ("\"v1\"", 3, nil), ("\"v1\", W/\"v2\"", 3, nil), ("\"v1\", v2", 3, nil), ("\"3\"", 3, nil), ("", 3, nil),
            ("*", 3, nil), ("\"v3\", W/\"v3\"", 3, nil), ("\"a,b\"", 3, nil), ("\"a, v3\"", 3, nil),
            ("W/\"a,b\"", 3, "`W/\"a,b\"`"), ("\"a,b\", v3", 3, "`v3`, which is not quoted"),
        ] as [(String, Int64, String?)])
    func `a tag that can't match is told from one of another version`(header: String, version: Int64, fault: String?) {
        let found = Conditions.fault(ofIfMatch: Array(header.utf8)[...], at: version)
        #expect((found == nil) == (fault == nil))
        if let fault { #expect(found?.contains(fault) ?? false) }
    }

    @Test func `If-Match never matches a weak tag`() {
        #expect(Conditions.ifMatch(Array("W/\"v3\"".utf8)[...]) == .oneOf([]))
        #expect(Conditions.ifMatch(Array("\"v3\", W/\"v4\", \"v5\"".utf8)[...]) == .oneOf([3, 5]))
        #expect(Conditions.ifMatch(Array("\"a,b\",\"v3\", ,\"v4,\"".utf8)[...]) == .oneOf([3]))
        #expect(Conditions.ifMatch(Array("*".utf8)[...]) == .exists)
    }
}
