import HTTPClient

extension HTTPRequest {
    /// Makes a POST with a body of JSON.
    static func post(_ target: String, json: [UInt8]) -> HTTPRequest {
        HTTPRequest(.post, target, headers: [("Content-Type", "application/json")], body: json)
    }
}
