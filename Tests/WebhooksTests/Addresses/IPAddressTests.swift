import Glibc
import TestSupport
import Testing

@testable import Webhooks

/// The address that the C library reads in `text`.
private func oracle(_ text: String) -> IPAddress? {
    var v4 = in_addr()
    if unsafe inet_pton(AF_INET, text, &v4) == 1 { return .v4(UInt32(bigEndian: v4.s_addr)) }
    var v6 = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    return unsafe withUnsafeBytes(of: &v6) { unsafe IPAddress(bytes: Array($0)) }
}

struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "255.255.255.255", "192.0.2.1", "::", "::1", "1::", "2001:db8::1", "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7::",
        "::2:3:4:5:6:7:8", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "FE80::A", "1.2.3", "1.2.3.4.5",
        "01.2.3.4", "1.2.3.04", "256.1.1.1", "1.2.3.", ".1.2.3", "1.2.3.4 ", "0x7f.0.0.1", "2130706433", "", ":", ":::",
        "1::2::3", "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1.2.3.4:5", "1.2.3.4::",
        "g::",
        "::1%eth0", "[::1]", "+1::", "1:2:3:4:5:6:7:1.2.3.4", "::00001", "1:::2", "::-0", "-0::", "::+0",
        "::-0:1",
    ])
    func `a text is what the C library takes it for`(text: String) {
        #expect(IPAddress(text) == oracle(text))
    }

    @Test func `any text is what the C library takes it for`() {
        var numbers = SeededGenerator(seed: 9)
        var read = 0
        for _ in 0..<30_000 {
            let base = ["::ffff:10.0.0.1", "2001:db8::8:800:200c:417a", "1:2:3:4:5:6:7:8", "172.16.254.1"]
                .randomElement(
                    using: &numbers)
            let bytes = numbers.mutation(of: Array((base ?? "").utf8), alphabet: Array(":.:.0123456789afAF+-".utf8))
            let text = String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self)
            #expect(IPAddress(text) == oracle(text), "\(text)")
            if IPAddress(text) != nil { read += 1 }
        }
        #expect(read > 1000)
    }

    @Test(arguments: [
        "0.0.0.0", "192.0.2.1", "::", "::1", "1::", "2001:db8::1", "1:2:3:4:5:6:7:8", "1:0:3:4:5:6:7:8", "0:1::",
        "1:0:0:2::3", "1::2:0:0:3:4",
    ])
    func `an address is written in its shortest form`(text: String) {
        #expect(IPAddress(text)?.description == text)
    }

    @Test func `any address comes back from its text`() {
        var numbers = SeededGenerator(seed: 10)
        for _ in 0..<2000 {
            let sparse = numbers.next() & numbers.next() & numbers.next()
            for address in [
                IPAddress.v6(high: sparse, low: numbers.next() & 0xFFFF), .v4(UInt32(truncatingIfNeeded: sparse)),
            ] {
                #expect(IPAddress(address.description) == address)
            }
        }
    }

    @Test func `bytes are in network order`() {
        #expect(IPAddress(bytes: [192, 0, 2, 1]) == IPAddress("192.0.2.1"))
        #expect(
            IPAddress(bytes: [0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [9]) == IPAddress("2001:db8::9"))
        for count in [0, 3, 5, 15, 17] { #expect(IPAddress(bytes: Array(repeating: 1, count: count)) == nil) }
    }

    @Test(
        arguments: [
            ("::ffff:10.0.0.1", ["10.0.0.1"]), ("::10.0.0.1", ["10.0.0.1"]), ("::ffff:0:10.0.0.1", ["10.0.0.1"]),
            ("64:ff9b::10.0.0.1", ["10.0.0.1"]), ("2002:a00:1::5", ["10.0.0.1"]),
            ("2001:0:a00:1:8000:63bf:3fff:fdd2", ["10.0.0.1", "192.0.2.45"]),
            ("64:ff9b:1:a00:0:100::", ["10.0.0.1"]), ("64:ff9b:1::10.0.0.1", ["10.0.0.1"]),
            ("64:ff9b:1::", ["0.0.0.0"]),
            ("::", []), ("::1", []), ("2001:db8::10.0.0.1", []), ("64:ff9b::1:10.0.0.1", []), ("10.0.0.1", []),
            ("64:ff9b:2::10.0.0.1", []), ("2001:1::10.0.0.1", []), ("::fffe:10.0.0.1", []), ("1::ffff:10.0.0.1", []),
        ] as [(String, [String])])
    func `the IPv4 address inside is found`(text: String, inside: [String]) throws {
        let found = try #require(IPAddress(text)).embedded.map { IPAddress.v4($0).description }
        #expect(found == inside)
    }

    // The examples of RFC 6052 section 2.4 under this prefix: /48, /56, /64, /96.
    @Test(arguments: [
        "64:ff9b:1:c000:2:2100::", "64:ff9b:1:3c0:0:221::", "64:ff9b:1:344:c0:2:2100:0", "64:ff9b:1:344::192.0.2.33",
    ])
    func `a local NAT64 address is read under every length of its prefix`(text: String) throws {
        let found = try #require(IPAddress(text)).embedded
        #expect(found.contains(0xC000_0221))
        #expect(found.allSatisfy { $0 >> 24 != 0 })
    }
}
