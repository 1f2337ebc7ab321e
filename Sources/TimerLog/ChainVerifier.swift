/// placeholder until the store lands
public struct ChainVerifier {
    public init() {}
    public mutating func verify(_ row: LogRow) throws(StoreError) {}
}
