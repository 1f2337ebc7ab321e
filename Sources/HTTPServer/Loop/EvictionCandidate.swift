/// A socket that may be closed for a newcomer. `since` is when a connection entered its stage: if that has changed, the
/// candidate is out of date.
enum EvictionCandidate {
    case connection(Exchange, since: Int64)
    case socket(DetachedSocket)
}
