@testable import TimerAPI

extension AuditRecord {
    /// A record that is known by the id of its request.
    static func sample(_ requestID: String, isRefusal: Bool = false) -> AuditRecord {
        AuditRecord(
            at: 0, requestID: Array(requestID.utf8), key: nil, method: "POST", target: Array("/v1/timers".utf8),
            status: isRefusal ? 401 : 201, peer: "127.0.0.1:1", counts: nil, isRefusal: isRefusal)
    }
}

extension [UInt8] {
    /// The id of the request in a line of the audit log.
    var requestID: String { Self.requestIDs(in: self).first ?? "" }

    /// The ids of the requests in lines of the audit log.
    static func requestIDs(in lines: [UInt8]) -> [String] {
        String(decoding: lines, as: UTF8.self).split(separator: "\n").map { line in
            let after = line.split(separator: "\"requestId\":\"").dropFirst().first ?? ""
            return String(after.prefix { $0 != "\"" })
        }
    }
}
