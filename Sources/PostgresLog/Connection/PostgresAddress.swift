internal import CPQ
public import TimerLog

/// The address of a PostgreSQL database and the user to connect as: every parameter that libpq knows.
///
/// The description, and all other text for people that is made of an address, holds no secret.
public struct PostgresAddress: Sendable, CustomStringConvertible {
    /// The values of the address, by libpq's keywords.
    let parameters: [String: String]
    /// Whether the address itself holds a password, which `ps` and logs would show.
    public let namesPassword: Bool

    /// The keywords whose values are secrets.
    private static let secretKeywords = [
        "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
    ]
    /// The schemes of an address that is a URI.
    private static let schemes = ["postgres://", "postgresql://"]

    /// Whether `text` looks like the URI of a PostgreSQL database.
    public static func isURI(_ text: String) -> Bool { schemes.contains(where: text.hasPrefix) }

    /// Whether `text` holds a password, or can't be read.
    public static func mayNamePassword(_ text: String) -> Bool {
        do throws(StoreError) { return try PostgresAddress(text).namesPassword } catch { return true }
    }

    /// Reads a URI (`postgres://…` or `postgresql://…`) or a connection string (`host=… dbname=…`).
    ///
    /// - Parameter password: a password that was given elsewhere, which replaces that of the address.
    /// - Throws: `unusable` where libpq does not understand it.
    public init(_ text: String, password: String? = nil) throws(StoreError) {
        var found = try Self.parse(text)
        namesPassword = !Set(Self.secretKeywords).isDisjoint(with: found.keys)
        if let password { found["password"] = password }
        parameters = found
    }

    /// Host, port, database and user, as far as they are given.
    public var description: String {
        let shown = ["host", "hostaddr", "port", "dbname", "user", "service"].compactMap { keyword in
            parameters[keyword].map { "\(keyword)=\($0)" }
        }
        return shown.isEmpty ? "PostgreSQL at libpq's default address" : "PostgreSQL at \(shown.joined(separator: " "))"
    }

    /// Replaces the secrets of the address wherever they occur in `text`.
    func withoutSecrets(_ text: String) -> String {
        var text = text
        for keyword in Self.secretKeywords {
            guard let secret = parameters[keyword], !secret.isEmpty else { continue }
            text = Self.replace(secret, by: "***", in: text)
        }
        return text
    }

    /// Returns the parameters of a connection to each host in turn, as libpq would give the first host all the time
    /// there is.
    func attempts(overriding settings: [String: String], defaults: [String: String]) -> [[String: String]] {
        let base = defaults.merging(parameters) { $1 }.merging(settings) { $1 }
        func list(_ keyword: String) -> [String]? {
            base[keyword].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }
        let count = max(list("host")?.count ?? 1, list("hostaddr")?.count ?? 1)
        guard count > 1 else { return [base] }
        return (0..<count).map { index in
            var one = base
            for keyword in ["host", "hostaddr", "port"] {
                guard let values = list(keyword) else { continue }
                if values.count == count { one[keyword] = values[index] }
            }
            return one
        }
    }

    private static func parse(_ text: String) throws(StoreError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(text, &message) else {
            let said = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            unsafe PQfreemem(message)
            throw StoreError(.unusable, "this is no address of a PostgreSQL database\(reason(said, for: text))")
        }
        defer { unsafe PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe parameters[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return parameters
    }

    /// Returns libpq's message about an address that it did not understand. Its messages quote the address, so the
    /// text is empty where that may hold a secret.
    private static func reason(_ said: String, for text: String) -> String {
        let rest = schemes.first(where: text.hasPrefix).map { text.dropFirst($0.count) } ?? text[...]
        let isHiding = text.contains("pass") || text.contains("secret") || text.contains("key") || rest.contains("@")
        return isHiding ? "" : ": " + said.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private static func replace(_ secret: String, by other: String, in text: String) -> String {
        let (secret, all) = (Array(secret.utf8), Array(text.utf8))
        var out: [UInt8] = []
        var index = 0
        while index < all.count {
            if all[index...].starts(with: secret) {
                out += other.utf8
                index += secret.count
            } else {
                out.append(all[index])
                index += 1
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
