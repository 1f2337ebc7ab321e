/// A socket that may be closed for a newcomer. `since` is the instant at which a connection entered its stage: a
/// candidate is out of date once its connection has another.
enum EvictionCandidate {
    case connection(Exchange, since: Int64)
    case socket(DetachedSocket)
}
