import TestSupport
import Testing

@testable import Webhooks

private func rules(_ texts: [String]) throws -> [AddressRule] {
    try texts.map { try AddressRule($0, option: "rule") }
}

private func refusal(
    _ address: String, port: UInt16 = 443, host: String = "example.com", allow: [String] = [], deny: [String] = []
) throws -> AddressRefusal? {
    let policy = AddressPolicy(allow: try rules(allow), deny: try rules(deny))
    return policy.refusal(of: try #require(IPAddress(address)), port: port, host: host)
}

/// Every IPv6 address that carries `v4` somewhere.
private func disguises(of v4: String) throws -> [String] {
    guard case .v4(let bits)? = IPAddress(v4) else { return [] }
    let (high, low) = (String(bits >> 16, radix: 16), String(bits & 0xFFFF, radix: 16))
    let inverted = "\(String(~bits >> 16, radix: 16)):\(String(~bits & 0xFFFF, radix: 16))"
    return [
        "::ffff:\(v4)", "::\(v4)", "::ffff:0:\(v4)", "64:ff9b::\(v4)", "64:ff9b:1::\(v4)", "64:ff9b:1:abcd::\(v4)",
        "64:ff9b:1:\(high):\(String(bits >> 8 & 0xFF, radix: 16)):\(String((bits & 0xFF) << 8, radix: 16))::",
        "2002:\(high):\(low)::1", "2001:0:808:808:0:0:\(inverted)", "2001:0:\(high):\(low):0:0:f7f7:f7f7",
    ]
}

struct AlwaysRefusedTests {
    static let cases: [(address: String, refusal: AddressRefusal)] = [
        ("169.254.0.0", .linkLocal), ("169.254.169.254", .linkLocal), ("169.254.255.255", .linkLocal),
        ("fe80::1", .linkLocal), ("febf:ffff::", .linkLocal), ("224.0.0.1", .multicast),
        ("239.255.255.255", .multicast), ("ff02::1", .multicast), ("ffff::", .multicast), ("0.0.0.0", .unspecified),
        ("0.255.255.255", .unspecified), ("::", .unspecified), ("255.255.255.255", .broadcast),
        ("100.100.100.200", .metadata), ("168.63.129.16", .metadata), ("fd00:ec2::254", .metadata),
        ("192.0.0.192", .metadata), ("fd00:ec2::23", .metadata), ("fd20:ce::254", .metadata),
        ("fd00:42::42", .metadata),
    ]

    @Test(arguments: cases)
    func `some addresses are refused whatever is allowed`(address: String, expected: AddressRefusal) throws {
        #expect(try refusal(address) == expected)
        #expect(try refusal(address, allow: ["0.0.0.0/0", "::/0", "example.com"]) == expected)
    }

    @Test(arguments: [
        "169.253.255.255", "169.255.0.0", "223.255.255.255", "240.0.0.1", "1.0.0.0", "255.255.255.254",
        "100.100.100.199", "100.100.100.201", "168.63.129.15", "168.63.129.17", "fd00:ec2::253", "fd00:ec2::255",
        "192.0.0.191", "192.0.0.193", "fd00:ec2::22", "fd20:ce::253", "fd00:42::41",
        "fe7f:ffff::", "fec0::1", "fdff::1", "feff::", "::1", "127.0.0.1", "10.0.0.1", "192.168.0.1", "8.8.8.8",
        "2606:4700::1111",
    ])
    func `their neighbours and private addresses pass`(address: String) throws {
        #expect(try refusal(address) == nil)
    }

    @Test(arguments: cases.filter { !$0.address.contains(":") && $0.refusal != .unspecified })
    func `a refused address is refused in every disguise`(address: String, expected: AddressRefusal) throws {
        for disguise in try disguises(of: address) {
            #expect(try refusal(disguise, allow: ["::/0", "0.0.0.0/0"]) == expected, "\(disguise)")
        }
    }

    @Test(arguments: ["::ffff:0.0.0.0", "::ffff:0.1.2.3", "::0.0.0.2", "64:ff9b::", "64:ff9b:1::", "2002:0:1::"])
    func `this network is refused inside IPv6`(address: String) throws {
        #expect(try refusal(address) == .unspecified)
    }
}

struct OwnListenerTests {
    private static func policy(_ listeners: [(String, UInt16)]) -> AddressPolicy {
        AddressPolicy(
            listeners: listeners.compactMap { text, port in
                IPAddress(text).map { AddressPolicy.Listener(address: $0, port: port) }
            }, isLocal: { $0 == IPAddress("192.0.2.7") || $0 == IPAddress("2001:db8::7") })
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "::1", false),
        ("127.0.0.1", "192.0.2.7", false), ("127.0.0.1", "::ffff:127.0.0.1", true), ("::1", "::1", true),
        ("192.0.2.7", "2002:c000:207::", true), ("0.0.0.0", "127.0.0.1", true), ("0.0.0.0", "127.9.9.9", true),
        ("0.0.0.0", "::1", true), ("0.0.0.0", "192.0.2.7", true), ("0.0.0.0", "::ffff:192.0.2.7", true),
        ("::", "192.0.2.7", true), ("::", "2001:db8::7", true), ("::", "127.0.0.1", true),
        ("0.0.0.0", "192.0.2.8", false), ("::", "2001:db8::8", false),
    ])
    func `the server does not call itself`(listener: String, address: String, isRefused: Bool) throws {
        let address = try #require(IPAddress(address))
        let policy = Self.policy([("198.51.100.1", 1), (listener, 8080)])
        #expect(policy.refusal(of: address, port: 8080, host: "a") == (isRefused ? .ownListener : nil))
        #expect(policy.refusal(of: address, port: 8081, host: "a") == nil)
        #expect(Self.policy([]).refusal(of: address, port: 8080, host: "a") == nil)
    }
}

struct AddressRulesTests {
    @Test(
        arguments: [
            ("10.1.2.3", nil), ("11.0.0.0", .notAllowed), ("fd12::1", nil), ("fe00::1", .notAllowed),
            ("10.9.0.1", .denied),
            ("::ffff:10.1.2.3", nil), ("::ffff:11.0.0.0", .notAllowed), ("64:ff9b::10.9.0.1", .denied),
            ("2002:a01:203::", nil), ("fd12:bad::", .denied),
        ] as [(String, AddressRefusal?)])
    func `networks are judged by the address, and deny wins`(address: String, expected: AddressRefusal?) throws {
        let found = try refusal(address, allow: ["10.0.0.0/8", "fd00::/8"], deny: ["10.9.0.0/16", "fd12:bad::/32"])
        #expect(found == expected)
    }

    @Test(
        arguments: [
            ("example.com", nil), ("EXAMPLE.com.", nil), ("a.example.com", nil), ("badexample.com", .notAllowed),
            ("example.com.evil.net", .notAllowed), ("x.example.com", .denied), ("y.x.example.com", .denied),
            ("internal.example", .notAllowed), ("a.internal.example", nil), ("10.0.0.1", .notAllowed),
        ] as [(String, AddressRefusal?)])
    func `names are judged by the URL's host`(host: String, expected: AddressRefusal?) throws {
        let found = try refusal(
            "8.8.8.8", host: host, allow: ["example.com", ".Internal.Example"], deny: ["X.example.com"])
        #expect(found == expected)
    }

    @Test func `either kind of rule allows, either denies`() throws {
        let allow = ["10.0.0.0/8", "example.com"]
        #expect(try refusal("10.0.0.1", host: "other.net", allow: allow) == nil)
        #expect(try refusal("8.8.8.8", host: "example.com", allow: allow) == nil)
        #expect(try refusal("8.8.8.8", host: "other.net", allow: allow) == .notAllowed)
        #expect(try refusal("10.0.0.1", host: "example.com", allow: allow, deny: ["10.0.0.1"]) == .denied)
        #expect(try refusal("10.0.0.1", host: "example.com", allow: allow, deny: ["example.com"]) == .denied)
        #expect(try refusal("8.8.8.8", host: "other.net", deny: ["10.0.0.0/8"]) == nil)
    }

    @Test func `all of IPv6 is not all of IPv4`() throws {
        #expect(try refusal("::ffff:10.0.0.1", allow: ["::/0"]) == .notAllowed)
        #expect(try refusal("10.0.0.1", allow: ["::/0"]) == .notAllowed)
        #expect(try refusal("2606:4700::1", allow: ["0.0.0.0/0"]) == .notAllowed)
        #expect(try refusal("::ffff:10.0.0.1", deny: ["::/0"]) == .denied)
        #expect(try refusal("64:ff9b::8.8.8.8", deny: ["64:ff9b::/96"]) == .denied)
    }

    // A resolver turns these spellings into 127.0.0.1, and the policy judges that address.
    @Test(arguments: ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1"])
    func `an unusual spelling of an address gets by no rule`(host: String) throws {
        #expect(try WebhookURL("http://\(host)/").host == host)
        #expect(try refusal("127.0.0.1", host: host, deny: ["127.0.0.0/8"]) == .denied)
        #expect(try refusal("127.0.0.1", host: host, allow: ["10.0.0.0/8"]) == .notAllowed)
    }

    @Test(arguments: [
        ("", "is no rule"), (".", "is no rule"), ("*.example.com", "is no rule"), ("example..com", "is no rule"),
        ("exa mple.com", "is no rule"), ("http://example.com", "is no network"), ("example.com:80", "is no rule"),
        ("[::1]", "is no rule"), ("10.0.0.0/33", "0 to 32"), ("10.0.0.0/", "0 to 32"), ("10.0.0.0/-1", "0 to 32"),
        ("10.0.0.0/8/8", "0 to 32"), ("10.0.0.0/+8", "0 to 32"), ("::/129", "0 to 128"),
        ("10.0.0/8", "is no network"), ("example.com/8", "is no network"), ("10.0.0.1/8", "write 10.0.0.0/8"),
        ("2001:db8::1/32", "write 2001:db8::/32"), ("::ffff:10.0.0.0/104", "write 10.0.0.0/8"),
        ("::ffff:10.0.0.1", "write 10.0.0.1/32"), ("127.1", "no host name"), ("2130706433", "no host name"),
        ("a.0x7f", "no host name"), (String(repeating: "a.", count: 127) + "com", "is no rule"),
    ])
    func `a rule that can't be meant is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: WebhookError.self) { try AddressRule(text, option: "--webhook-deny") }
        #expect(error?.member == "--webhook-deny")
        #expect(error?.message.contains(reason) == true)
    }

    @Test(arguments: [
        ("0.0.0.0/0", "1.2.3.4", true), ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1/32", "192.0.2.2", false), ("192.0.2.2/31", "192.0.2.3", true),
        ("::/0", "2001::", true), ("2001:db8::/63", "2001:db8:0:1::1", true),
        ("2001:db8::/64", "2001:db8:0:1::", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ("::1", "::1", true), ("::1/128", "::2", false), ("::/0", "1.2.3.4", false), ("0.0.0.0/0", "::1", false),
        ("example.com", "1.2.3.4", false),
    ])
    func `a network is told by the bits of its prefix`(rule: String, address: String, matches: Bool) throws {
        #expect(try AddressRule(rule, option: "").matches(address: #require(IPAddress(address))) == matches)
    }

    @Test func `any text is a rule or refused`() {
        var numbers = SeededGenerator(seed: 11)
        let bases = ["10.0.0.0/8", "2001:db8::/32", ".internal.example", "example.com"]
        for round in 0..<20_000 {
            let bytes = numbers.mutation(of: Array(bases[round % 4].utf8), alphabet: Array("/:.0129af".utf8))
            guard let rule = try? AddressRule(String(decoding: bytes, as: UTF8.self), option: "") else { continue }
            #expect(!rule.matches(host: ""))
        }
    }
}
