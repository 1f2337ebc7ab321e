import Testing
import TimerLog

@testable import PostgresLog

/// Addresses, and that no secret of one is shown.
struct PostgresAddressTests {
    @Test(arguments: [
        "postgres://u:hunter2@db.example:6432/timers?sslmode=require", "postgresql://u@h/d?password=hunter2",
        "host=h user=u password=hunter2", "host=h user=u password='hunter2' sslpassword=hunter2",
    ])
    func `an address with a password says so, and does not show it`(_ text: String) throws {
        let address = try PostgresAddress(text)
        #expect(address.namesPassword)
        #expect(!"\(address)".contains("hunter2"))
        #expect(address.withoutSecrets("no hunter2 here") == "no *** here")
        #expect("\(address)".contains("user=u"))
    }

    @Test func `a password may be given apart`() throws {
        let address = try PostgresAddress("postgres://u@h:1/d", password: "hunter2")
        #expect(!address.namesPassword)
        #expect(address.parameters["password"] == "hunter2")
        #expect(address.withoutSecrets("hunter2") == "***")
        #expect("\(address)" == "PostgreSQL at host=h port=1 dbname=d user=u")
    }

    @Test(arguments: [
        "postgres://u:hunt er2@[::1/d", "host=h password=hunter2 hunter2",
        "host=h sslkey=hunter2 =", "postgres://h/d?hunter2secret=1",
    ])
    func `an address that is none is refused without its secret`(_ text: String) throws {
        do {
            _ = try PostgresAddress(text)
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.kind == .unusable)
            #expect(!error.description.contains("hunt"))
            #expect(!error.description.contains("er2"))
        }
    }

    @Test func `what libpq does not understand is named where no secret can be in it`() throws {
        do {
            _ = try PostgresAddress("postgres://h/d?colour=red")
            Issue.record("an unknown parameter was taken")
        } catch {
            #expect(error.description.contains("colour"))
        }
    }

    @Test func `each of several hosts is tried with its own port`() throws {
        let address = try PostgresAddress("postgres://a:1,b:2,c/d")
        let attempts = address.attempts(
            overriding: ["application_name": "x"], defaults: ["target_session_attrs": "read-write"])
        #expect(attempts.map { $0["host"] } == ["a", "b", "c"])
        #expect(attempts.map { $0["port"] } == ["1", "2", ""])
        #expect(attempts.allSatisfy { $0["target_session_attrs"] == "read-write" && $0["application_name"] == "x" })
        let one = try PostgresAddress("host=a,b port=5 target_session_attrs=any").attempts(
            overriding: [:], defaults: ["target_session_attrs": "read-write"])
        #expect(one.map { $0["port"] } == ["5", "5"])
        #expect(one.allSatisfy { $0["target_session_attrs"] == "any" })
    }

    @Test(arguments: [("postgres://h", true), ("postgresql:///d", true), ("sqlite", false), ("Postgres://h", false)])
    func `a URI is told from other texts`(_ text: String, _ isURI: Bool) {
        #expect(PostgresAddress.isURI(text) == isURI)
    }
}
