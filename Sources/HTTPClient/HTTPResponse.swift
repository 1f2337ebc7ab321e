/// An answer.
public struct HTTPResponse: Sendable, Equatable {
    /// A header line.
    public struct Header: Sendable, Equatable {
        /// The name as the server spelled it.
        public var name: String
        /// The value, without the white space around it.
        public var value: String
    }

    /// The status code, 200 to 599.
    public var status: Int
    /// The header lines in their order.
    public var headers: [Header]
    /// The body; empty where `HTTPStreamReader.onBytes` took it.
    public var body: [UInt8]

    /// The value of the first header called `name`, in whatever case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
