import Foundation
import TestSupport

extension RawClient.Answer {
    /// The members of the body, which is a JSON object; none if it is anything else.
    var members: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    /// The slug of the problem that the body describes; nil where it is no whole problem of an answer to `target`.
    func problem(at target: String) -> String? {
        let members = members
        guard header("content-type") == "application/problem+json", members["status"] as? Int == status,
            let type = members["type"] as? String, type.hasPrefix("/problems/"), members["title"] is String,
            let instance = members["instance"] as? String, Self.path(of: instance) == Self.path(of: target),
            let requestID = members["requestId"] as? String, requestID == header("request-id")
        else { return nil }
        return String(type.dropFirst("/problems/".count))
    }

    private static func path(of target: String) -> Substring { target.prefix { $0 != "?" } }
}
